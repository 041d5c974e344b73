"""The family's calendar."""

from datetime import datetime, time, timedelta
from typing import override

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Hang the calendar up."""
    async_add_entities(HouseCalendar(thing) for thing in entry.runtime_data.of("calendar"))


class HouseCalendar(HouseEntity, CalendarEntity):
    """A family that meets for dinner every evening at seven."""

    @property
    @override
    def event(self) -> CalendarEvent:
        """Return the next dinner."""
        now = dt_util.now()
        dinner = _dinner(now)
        return dinner if dinner.end > now else _dinner(now + timedelta(days=1))

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the dinners in a span of time."""
        days = range((end_date - start_date).days + 2)
        dinners = (_dinner(dt_util.as_local(start_date) + timedelta(days=day)) for day in days)
        return [dinner for dinner in dinners if dinner.start < end_date and dinner.end > start_date]


def _dinner(day: datetime) -> CalendarEvent:
    start = datetime.combine(day.date(), time(19), tzinfo=day.tzinfo)
    return CalendarEvent(start=start, end=start + timedelta(hours=1), summary="Family dinner")
