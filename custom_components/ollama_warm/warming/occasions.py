"""The occasions on which prompts may have changed, as Home Assistant reports them."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_listen_entity_updates
from homeassistant.const import (
    ATTR_DOMAIN,
    EVENT_CORE_CONFIG_UPDATE,
    EVENT_SERVICE_REGISTERED,
    EVENT_SERVICE_REMOVED,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)
from homeassistant.helpers.event import async_track_point_in_utc_time
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util


class Occasions:
    """Reports what changes in the house, and moments at which prompts may read differently."""

    def __init__(
        self,
        hass: HomeAssistant,
        changed: Callable[..., None],
        moment: Callable[..., None],
    ) -> None:
        """Take what is called when something may be named no longer, and what at other times.

        Both are callbacks, and take and leave whatever an event says.
        """
        self._hass = hass
        self._changed = changed
        self._moment = moment
        self._stop: list[CALLBACK_TYPE] = []
        self._stop_midnight: CALLBACK_TYPE = lambda: None

    @callback
    def async_start(self) -> None:
        """Listen for every occasion."""
        bus, changed = self._hass.bus, self._changed
        # While Home Assistant starts, what is missing is only late; later, it may be hidden.
        started = changed if self._hass.is_running else self._moment
        self._stop = [
            async_at_started(self._hass, callback(lambda _: started())),
            async_listen_entity_updates(self._hass, "conversation", changed),
            bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, changed),
            bus.async_listen(dr.EVENT_DEVICE_REGISTRY_UPDATED, changed),
            bus.async_listen(ar.EVENT_AREA_REGISTRY_UPDATED, changed),
            bus.async_listen(fr.EVENT_FLOOR_REGISTRY_UPDATED, changed),
            bus.async_listen(EVENT_SERVICE_REGISTERED, changed, event_filter=_is_script),
            bus.async_listen(EVENT_SERVICE_REMOVED, changed, event_filter=_is_script),
            bus.async_listen(EVENT_STATE_CHANGED, changed, event_filter=_comes_or_goes),
            bus.async_listen(EVENT_CORE_CONFIG_UPDATE, self._home_changed),
        ]
        self._await_midnight()

    @callback
    def async_stop(self) -> None:
        """Stop listening."""
        for stop in self._stop:
            stop()
        self._stop_midnight()

    @callback
    def _home_changed(self, _event: Event) -> None:
        """Wait for the new time zone's midnight: a prompt may name place or language, too."""
        self._stop_midnight()
        self._await_midnight()
        self._changed()

    @callback
    def _at_midnight(self, _now: datetime) -> None:
        """Report it, and wait for the next one."""
        self._moment()
        self._await_midnight()

    @callback
    def _await_midnight(self) -> None:
        """Wait for the next local midnight, also where the clocks skip it."""
        tomorrow = dt_util.now().date() + timedelta(days=1)
        midnight = dt_util.as_utc(dt_util.start_of_local_day(tomorrow))
        self._stop_midnight = async_track_point_in_utc_time(
            self._hass, self._at_midnight, midnight + timedelta(seconds=1)
        )


@callback
def _is_script(data: Mapping[str, Any]) -> bool:
    """Return whether an event is about a script, which is a tool when it is exposed."""
    return bool(data[ATTR_DOMAIN] == "script")


@callback
def _comes_or_goes(data: EventStateChangedData) -> bool:
    """Return whether an entity appeared or disappeared."""
    return data["old_state"] is None or data["new_state"] is None
