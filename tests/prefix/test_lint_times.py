"""The pace of a time is that of the finest part of it that is printed."""

import pytest

from .lint_marks import check

TIMES = [
    "{{ ⟦seconds:now()⟧ }}",
    "{{ ⟦seconds:utcnow().isoformat()⟧ }}",
    "{{ ⟦minutes:now().isoformat(timespec='minutes')⟧ }}",
    "{{ ⟦hours:now().isoformat('T', 'hours')⟧ }}",
    "{{ ⟦day:now().isoformat()[:10]⟧ }}",
    "{{ ⟦minutes:(now() | string)[11:16]⟧ }}",
    "{{ (⟦seconds:now() | string⟧)[:-6] }}",
    "{{ (⟦seconds:now() | string⟧)[x:y] }}",
    "{{ ⟦seconds:now().time().isoformat()⟧[:5] }}",
    "{{ ⟦seconds:now().ctime()⟧ }}",
    "{{ ⟦seconds:now().microsecond⟧ }}",
    "{{ ⟦seconds:now().second⟧ }}",
    "{{ ⟦minutes:now().minute⟧ }}",
    "{{ ⟦hours:now().hour⟧ }}",
    "{{ ⟦hours:now()['hour']⟧ }}",
    "{{ ⟦day:now().day⟧ }}",
    "{{ ⟦day:now().date()⟧ }}",
    "{{ ⟦seconds:now().timetz()⟧ }}",
    "{{ ⟦day:now().weekday()⟧ }}",
    "{{ ⟦day:now().isoweekday()⟧ }}",
    "{{ ⟦day:now().isocalendar()⟧[1] }}",
    "{{ ⟦month_or_longer:now().month⟧ }}",
    "{{ ⟦month_or_longer:now().year⟧ }}",
    "{{ ⟦seconds:now().timestamp()⟧ }}",
    "{{ ⟦seconds:now()⟧.timetuple() }}",
    "{{ ⟦hours:now().astimezone(x).hour⟧ }}",
    "{{ ⟦hours:as_local(utcnow()).hour⟧ }}",
    "{{ ⟦seconds:as_timestamp(now())⟧ }}",
    "{{ ⟦seconds:now() | as_timestamp | int⟧ }}",
    "{{ ⟦hours:now().hour⟧ | int }}",
    "{{ ⟦day:today_at()⟧ }}",
    "{{ ⟦day:today_at('07:30')⟧ }}",
    "{{ ⟦minutes:now().replace(second=0, microsecond=0)⟧ }}",
    "{{ now().replace(2026, 1, 1).date() }}",
    "{{ ⟦minutes:as_timestamp(now()) | timestamp_custom('%H:%M', true)⟧ }}",
    "{{ ⟦seconds:now().timestamp() | timestamp_custom⟧ }}",
    "{{ ⟦seconds:now().timestamp() | timestamp_local()⟧ }}",
    "{{ ⟦day:(as_timestamp(now()) + 86400) | timestamp_custom('%A')⟧ }}",
    "{{ ⟦hours:(3600 + as_timestamp(now())) | timestamp_custom('%H')⟧ }}",
    "{{ ⟦day:(now() + timedelta(days=1)).strftime('%A')⟧ }}",
    "{{ ⟦hours:(timedelta(hours=2) + now()).hour⟧ }}",
    "{{ ⟦day:(as_datetime('2026-12-24') - now()).days⟧ }}",
    "{{ ⟦seconds:now() - today_at('08:00')⟧ }}",
    "{{ (⟦seconds:now() - today_at('08:00')⟧).total_seconds() // 60 }}",
    "{{ (⟦minutes:states('sensor.time')⟧ ~ '!') + 'x' }}",
    "{{ ⟦minutes:states('sensor.time')⟧ }}",
    "{{ ⟦minutes:states.sensor.time.state⟧ }}",
    "{{ ⟦day:states['sensor.date'].state⟧ }}",
    "{{ ⟦minutes:'sensor.date_time' | states⟧ }}",
    "{{ ⟦seconds:states.light.a.last_changed⟧ }}",
    "{{ ⟦day:states.light.a.last_updated.date()⟧ }}",
    "{{ ⟦minutes:'{:%H:%M}'.format(now())⟧ }}",
    "{{ ⟦day:'{0:%d.%m.}'.format(x=now())⟧ }}",
    "{{ '{}'.format(⟦seconds:now()⟧) }}",
    "{{ '%02d' % ⟦hours:now().hour⟧ }}",
    "{{ ['Mon', 'Tue'][⟦day:now().weekday()⟧] }}",
    "{{ ⟦relative_time:relative_time(states.light.a.last_changed)⟧ }}",
    "{{ ⟦relative_time:time_since(as_datetime('2020-01-01'))⟧ }}",
    "{{ ⟦relative_time:x | time_until⟧ }}",
    "{{ ⟦relative_time:x | map('time_since')⟧ | list }}",
]


@pytest.mark.parametrize("template", TIMES)
def test_times(template: str) -> None:
    """A time moves as often as the finest part of it that is printed."""
    check(template)
