"""What the linter says of times is true of the text that Home Assistant renders."""

from datetime import UTC, datetime, timedelta

from freezegun.api import FrozenDateTimeFactory

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template

from .lint_marks import read
from .test_lint_flows import FLOWS
from .test_lint_resting import RESTING
from .test_lint_times import TIMES

NOON = datetime(2026, 3, 10, 12, 10, 10, 100000, tzinfo=UTC)
# How far apart two moments are that differ in a part of this pace, and in no slower one.
STEPS = {
    "seconds": [timedelta(seconds=0.4), timedelta(seconds=7)],
    "minutes": [timedelta(minutes=1), timedelta(minutes=40)],
    "hours": [timedelta(hours=1), timedelta(hours=9)],
    "day": [timedelta(days=1), timedelta(days=3)],
    "month_or_longer": [timedelta(days=366 + 31)],
}
PACES = list(STEPS)
# Chance keeps no pace, and a span of time changes its own.
TEMPLATES = [
    marked
    for marked in (*TIMES, *FLOWS, *RESTING)
    if "random" not in marked and "relative_time" not in marked
]


def _changes(hass: HomeAssistant, freezer: FrozenDateTimeFactory, template: str) -> set[str] | None:
    """Return the paces at which a text changes, None if Home Assistant cannot render it."""

    def render(moment: datetime) -> str:
        freezer.move_to(moment)
        return str(Template(template, hass).async_render(parse_result=False))

    try:
        first = render(NOON)
    except TemplateError, ValueError, TypeError, IndexError:
        return None
    return {
        pace for pace, steps in STEPS.items() if any(render(NOON + step) != first for step in steps)
    }


async def test_no_text_changes_faster_than_reported(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    """Rendered at moments that differ by less than the pace reported, a text is the same."""
    rendered = 0
    for marked in TEMPLATES:
        template, reported = read(marked)
        changes = _changes(hass, freezer, template)
        if changes is None:
            # It only shows what is followed: it uses things that there are none of.
            continue
        rendered += 1
        paces = [
            PACES.index(kind) for kind in (one.split()[0] for one in reported) if kind in PACES
        ]
        slower = set(PACES[min(paces, default=len(PACES)) :])
        assert changes <= slower, template
    assert rendered > len(TEMPLATES) * 0.8
