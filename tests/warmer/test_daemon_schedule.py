"""When a round is planned: every occasion once, whatever happens to the clocks."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, strategies as st
import pytest

from ollama_warmer.config.run import RunConfig
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.schedule import Schedule, TimesOfDay, longest_gap
from ollama_warmer.daemon.times import USUAL

BERLIN = ZoneInfo("Europe/Berlin")
HALF_PAST_TWO = (time(2, 30),)
NIGHT = datetime(2026, 3, 28, 23, 0, tzinfo=UTC)

zones = st.sampled_from(
    [
        BERLIN,
        ZoneInfo("America/New_York"),
        ZoneInfo("America/Santiago"),  # its clocks change at midnight
        ZoneInfo("Australia/Lord_Howe"),  # by half an hour
        ZoneInfo("Asia/Kathmandu"),  # never, and it is 45 minutes off
    ]
)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
times_of_day = st.lists(st.times().map(lambda it: it.replace(second=0, microsecond=0)), max_size=5)
# With the largest jump no more than a day: past that, each time counts once, as `due` says.
steps = st.lists(st.floats(0, 22 * 3600).map(lambda it: timedelta(seconds=it)), max_size=30)
# Someone sets the clock by up to two hours, or it just goes on.
jumps = st.sampled_from([0, 0, 0, 3600, -3600, 7200, -7200]).map(lambda it: timedelta(seconds=it))


def no_chance(_: float) -> float:
    """Return no jitter at all."""
    return 0.0


def passed(
    times: tuple[time, ...], zone: ZoneInfo, walk: list[tuple[datetime, datetime]]
) -> set[tuple[date, time]]:
    """Return the times, each with its day, that the clock has gone over."""
    found: set[tuple[date, time]] = set()
    for before, after in walk:
        day = before.astimezone(zone).date() - timedelta(days=1)
        while day <= after.astimezone(zone).date():
            for at in times:
                moment = datetime.combine(day, at, zone).astimezone(UTC)
                if before < moment <= after:
                    found.add((day, at))
            day += timedelta(days=1)
    return found


@given(zones, moments, times_of_day.map(lambda it: tuple(set(it))), steps, st.data())
def test_every_time_comes_once(
    zone: ZoneInfo,
    start: datetime,
    times: tuple[time, ...],
    steps: list[timedelta],
    data: st.DataObject,
) -> None:
    """However the clock goes on, and whoever sets it: none twice, and none lost."""
    watched = TimesOfDay(times, zone, start)
    now, found, walk = start, 0, []
    for step in steps:
        before, now = now, now + step + data.draw(jumps)
        walk.append((before, now))
        found += watched.due(now)

    assert found == len(passed(times, zone, walk))


@given(zones, moments, times_of_day.filter(bool).map(lambda it: tuple(set(it))))
def test_next_time_is_the_next_that_comes(
    zone: ZoneInfo, start: datetime, times: tuple[time, ...]
) -> None:
    """Nothing comes before the announced moment, and something at it."""
    watched = TimesOfDay(times, zone, start)
    following = watched.following(start)

    assert following is not None
    assert watched.due(following - timedelta(microseconds=1)) == 0
    assert watched.due(following) >= 1


def test_time_that_the_clocks_skip() -> None:
    """On the night in which half past two does not exist, it comes an hour after half past one."""
    watched = TimesOfDay(HALF_PAST_TWO, BERLIN, NIGHT)

    assert watched.following(NIGHT) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert [watched.due(NIGHT + timedelta(minutes=15 * n)) for n in range(24)].count(1) == 1


def test_time_that_the_clocks_repeat() -> None:
    """On the night in which half past two comes twice, only the first one counts."""
    evening = datetime(2026, 10, 24, 22, 0, tzinfo=UTC)
    watched = TimesOfDay(HALF_PAST_TWO, BERLIN, evening)

    due = [n for n in range(24) if watched.due(evening + timedelta(minutes=15 * n))]

    assert due == [10]  # half past midnight in UTC


def test_clock_set_back_an_hour() -> None:
    """What has come does not come again in the hour that is lived twice."""
    watched = TimesOfDay(HALF_PAST_TWO, UTC, datetime(2026, 6, 1, 2, 0, tzinfo=UTC))

    assert watched.due(datetime(2026, 6, 1, 2, 40, tzinfo=UTC)) == 1
    assert watched.due(datetime(2026, 6, 1, 1, 40, tzinfo=UTC)) == 0
    assert watched.due(datetime(2026, 6, 1, 2, 40, tzinfo=UTC)) == 0
    assert watched.due(datetime(2026, 6, 2, 2, 40, tzinfo=UTC)) == 1


def test_clock_that_was_a_year_off() -> None:
    """A machine that starts with a wrong clock keeps its times once the clock is right."""
    wrong = datetime(2027, 6, 1, 12, 0, tzinfo=UTC)
    watched = TimesOfDay(HALF_PAST_TWO, UTC, wrong)
    assert watched.due(wrong + timedelta(days=1)) == 1

    assert watched.due(datetime(2026, 6, 1, 2, 0, tzinfo=UTC)) == 0
    assert watched.due(datetime(2026, 6, 1, 2, 30, tzinfo=UTC)) == 1
    # And forward again: a year of mornings makes one round.
    assert watched.due(wrong + timedelta(days=2)) == 1


@given(st.floats(0.01, 86_400), st.floats(0, 3600), st.lists(jumps, min_size=1, max_size=20))
def test_interval_goes_by_no_wall_clock(
    interval: float, jitter: float, jumps: list[timedelta]
) -> None:
    """Setting the clock makes no round earlier or later."""
    config = RunConfig(interval=interval, jitter=jitter)
    schedule = Schedule(config, monotonic=0.0, chance=lambda longest: longest)
    wall = NIGHT
    for jump in jumps:
        wall += jump
        assert schedule.due(interval + jitter - 0.001, wall) == []
    assert schedule.due(interval + jitter, wall) == [(Occasion.SCHEDULE, 0.0)]


def test_interval_begins_at_the_end_of_a_round() -> None:
    """Whatever a round was made for, the prompts are warm after it."""
    schedule = Schedule(RunConfig(interval=100), monotonic=0.0, chance=no_chance)
    schedule.round_ended(50)

    assert schedule.due(149, NIGHT) == []
    assert len(schedule.due(150, NIGHT)) == 1
    # One occasion, also if its round takes long or cannot begin yet.
    assert schedule.due(1000, NIGHT) == []
    schedule.round_ended(1000)
    assert len(schedule.due(1100, NIGHT)) == 1


def test_interval_stops_during_a_round() -> None:
    """A round that takes longer than the interval is not followed by another at once."""
    schedule = Schedule(RunConfig(interval=10), monotonic=0.0, chance=no_chance)
    schedule.round_begins()

    assert schedule.due(60, NIGHT) == []
    schedule.round_ended(60)
    assert schedule.due(69, NIGHT) == []
    assert len(schedule.due(70, NIGHT)) == 1


def test_midnight_is_home_assistants() -> None:
    """A round follows on midnight in the house's time zone, a little later."""
    schedule = Schedule(
        RunConfig(times=(time(6, 30),), interval=None), monotonic=0, chance=no_chance
    )
    schedule.set_zone(BERLIN, datetime(2026, 6, 1, 21, 59, tzinfo=UTC))

    assert schedule.due(0, datetime(2026, 6, 1, 22, 0, tzinfo=UTC)) == [
        (Occasion.MIDNIGHT, USUAL.after_midnight)
    ]
    assert schedule.following(0, datetime(2026, 6, 1, 22, 0, tzinfo=UTC)) == datetime(
        2026, 6, 2, 4, 30, tzinfo=UTC
    )


def test_times_wait_for_their_zone_and_jitter() -> None:
    """Nothing is planned before the zone is known; a time is put off by chance."""
    config = RunConfig(times=(time(6, 30),), interval=None, jitter=60)
    schedule = Schedule(config, monotonic=0, chance=lambda longest: longest / 2)
    assert schedule.following(0, NIGHT) is None

    schedule.set_zone(UTC, NIGHT)
    schedule.set_zone(UTC, NIGHT + timedelta(hours=7))  # said again: nothing begins again

    assert schedule.due(0, NIGHT + timedelta(hours=8)) == [
        (Occasion.SCHEDULE, 30),
        (Occasion.MIDNIGHT, USUAL.after_midnight),
    ]


def test_new_configuration_plans_anew() -> None:
    """Another interval counts from now on; the same configuration changes nothing."""
    schedule = Schedule(RunConfig(interval=100), monotonic=0, chance=no_chance)
    schedule.set_zone(UTC, NIGHT)

    schedule.configure(RunConfig(interval=100), monotonic=60, now=NIGHT)
    assert len(schedule.due(100, NIGHT)) == 1
    schedule.configure(RunConfig(interval=10), monotonic=200, now=NIGHT)
    assert schedule.due(209, NIGHT) == []
    assert len(schedule.due(210, NIGHT)) == 1
    schedule.configure(RunConfig(times=HALF_PAST_TWO, interval=None), monotonic=220, now=NIGHT)
    assert len(schedule.due(99_999, NIGHT + timedelta(hours=4))) == 2


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        (RunConfig(interval=600, jitter=30), 630),
        # From seven to midnight, on the day that has an hour more.
        (RunConfig(times=(time(7), time(6)), interval=None), 18 * 3600),
        (RunConfig(times=(time(0),), interval=None), 25 * 3600),
    ],
)
def test_longest_gap(config: RunConfig, seconds: float) -> None:
    """The health check knows how old a round may be."""
    assert longest_gap(config) == seconds
