"""What may be named to the model: Home Assistant's exposed entities, and the tools on offer.

It is remembered as long as Home Assistant runs, over any reload and for all conversations at
once: whoever forgets what was exposed once cannot know what an old answer gives away. Names stay
in memory only.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from homeassistant.components.conversation import DOMAIN as ASSISTANT
from homeassistant.components.homeassistant.exposed_entities import (
    async_listen_entity_updates,
    async_should_expose,
)
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)
from homeassistant.helpers.intent import async_get_entity_aliases
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .names import Name, Unsaid

type Names = tuple[Name, ...]

# A name may be a template. Whoever talks has not heard more of them.
_MOST_NAMES = 64
# More than any house hides while Home Assistant runs; an integration may make new ones for ever.
_MOST_GONE = 5_000


@dataclass(slots=True)
class _Thing:
    """All names of a thing, the newest last, and when it was found gone if it is."""

    names: dict[str, Name] = field(default_factory=dict)
    gone: datetime | None = None

    def call(self, names: Iterable[Name]) -> None:
        """Note the names that it has now."""
        for name in names:
            self.names[name.text] = self.names.pop(name.text, name)
        while len(self.names) > _MOST_NAMES:
            del self.names[next(iter(self.names))]


class Things:
    """Things that may be named, or could be once."""

    def __init__(self) -> None:
        self.losses = 0
        """How often a thing was found gone."""
        self.changes = 0
        """How often something was found to be other than before: to be named, gone or renamed."""
        self._known: dict[str, _Thing] = {}
        self._now: Mapping[str, Names] = {}
        self._called: Mapping[str, Names] = {}

    def look(self, now: Mapping[str, Names]) -> None:
        """Take what is there now: the names of each thing by its key, which stays its own."""
        if now == self._now:
            return
        for key, names in now.items():
            if self._now.get(key) != names:
                thing = self._known.setdefault(key, _Thing())
                thing.gone = None
                thing.call(names)
        when = dt_util.utcnow()
        for key in self._now.keys() - now.keys():
            self._known[key].gone = when
            self.losses += 1
        self._now = now
        self.changes += 1
        self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget what has been gone for the longest time, where that is too much."""
        if (more := len(self._known) - len(self._now) - _MOST_GONE) > 0:
            gone = [(thing.gone, key) for key, thing in self._known.items() if thing.gone]
            for _, key in sorted(gone)[:more]:
                del self._known[key]

    def call(self, called: Mapping[str, Names]) -> None:
        """Note the present names of the things that are gone."""
        if called == self._called:
            return
        for key, names in called.items():
            if self._called.get(key) != names:
                self._known[key].call(names)
        self._called = called
        self.changes += 1

    def gone(self) -> Iterator[tuple[Name, datetime]]:
        """Yield each name of each thing that is gone, and when it was found gone."""
        for thing in self._known.values():
            if thing.gone is not None:
                for name in thing.names.values():
                    yield name, thing.gone

    def here(self) -> Iterator[Name]:
        """Yield the names of what may be named now."""
        for names in self._now.values():
            yield from names

    def gone_keys(self) -> Iterable[str]:
        """Return the keys of the things that are gone."""
        return self._known.keys() - self._now.keys()


type _Said = tuple[er.RegistryEntry | None, str, str | None, int]
"""An entity's entry in the registry, its id, the name that its state has, and what it is in."""


class Exposure:
    """Follows which entities are exposed, from the set-up of the first agent on.

    To ask Home Assistant for each entity takes half as long as its own prompt. What it goes by
    is the registries, the settings and which states there are; each says when it changes, at
    once, so a look is taken only after that and misses nothing.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Look once all entities are there, and after each change of what is exposed."""
        self.things = Things()
        self._hass = hass
        self._is_stale = True
        self._will_look = False
        self._places = 0
        """How often devices, areas and floors have changed."""
        self._names_by_key: dict[str, tuple[_Said, Names]] = {}
        async_at_started(hass, self._async_started)
        async_listen_entity_updates(hass, ASSISTANT, self._async_soon)
        listen = hass.bus.async_listen
        listen(EVENT_STATE_CHANGED, self._async_stale, _is_of_names)
        listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_stale)
        # Names may be put together from a device's, which depends on where it is.
        listen(dr.EVENT_DEVICE_REGISTRY_UPDATED, self._async_place_changed)
        listen(ar.EVENT_AREA_REGISTRY_UPDATED, self._async_place_changed)
        listen(fr.EVENT_FLOOR_REGISTRY_UPDATED, self._async_place_changed)

    @callback
    def async_look(self) -> None:
        """Take what Home Assistant would name now, as it does for its own prompt."""
        if not self._is_stale:
            return
        # Home Assistant decides on what is new while it is asked: that calls for another look.
        self._is_stale = False
        entities = er.async_get(self._hass)
        now: dict[str, Names] = {}
        for state in self._hass.states.async_all():
            if async_should_expose(self._hass, ASSISTANT, state.entity_id):
                entry = entities.async_get(state.entity_id)
                # An entity keeps its id of the registry whatever its name.
                key = entry.id if entry else state.entity_id
                now[key] = self._names(key, entry, state.entity_id, state)
        self.things.look(now)
        called: dict[str, Names] = {}
        for key in self.things.gone_keys():
            entry = entities.async_get(key)
            entity_id = entry.entity_id if entry else key
            called[key] = self._names(key, entry, entity_id, self._hass.states.get(entity_id))
        self.things.call(called)
        known = self._names_by_key
        self._names_by_key = {key: known[key] for key in known if key in now or key in called}

    def _names(
        self, key: str, entry: er.RegistryEntry | None, entity_id: str, state: State | None
    ) -> Names:
        """Return the names of an entity, found out once as long as all says the same."""
        said = (entry, entity_id, state.name if state else None, self._places)
        known = self._names_by_key.get(key)
        if known is None or known[0] != said:
            names = _names(self._hass, entity_id, entry, state)
            # Names that are still the same have been folded.
            known = (said, known[1] if known and known[1] == names else names)
            self._names_by_key[key] = known
        return known[1]

    @callback
    def _async_stale(self, _event: Event[Any]) -> None:
        """Look when that is asked for next."""
        self._is_stale = True

    @callback
    def _async_place_changed(self, _event: Event[Any]) -> None:
        """Look when that is asked for next, and put all names together again."""
        self._is_stale = True
        self._places += 1

    @callback
    def _async_started(self, _hass: HomeAssistant) -> None:
        """Take what local answers may name before anyone asks an agent of ours."""
        self.async_look()

    @callback
    def _async_soon(self) -> None:
        """Look once after many changes at once."""
        self._is_stale = True
        if not self._will_look and self._hass.is_running:
            self._will_look = True
            self._hass.loop.call_soon(self._look_now)

    @callback
    def _look_now(self) -> None:
        """Look."""
        self._will_look = False
        self.async_look()


@callback
def _is_of_names(change: EventStateChangedData) -> bool:
    """Return whether an entity has come, gone, or has another name with a change of state."""
    old, new = change["old_state"], change["new_state"]
    return old is None or new is None or old.name != new.name


def _names(
    hass: HomeAssistant, entity_id: str, entry: er.RegistryEntry | None, state: State | None
) -> Names:
    """Return the names, the aliases and the id of an entity."""
    names = [entity_id]
    if state:
        names += [state.name, *async_get_entity_aliases(hass, entry, state=state)]
    elif entry:
        names += er.async_get_entity_aliases(hass, entry)
    return tuple(map(Name, dict.fromkeys(filter(None, names))))


class Permits:
    """What one agent may name."""

    def __init__(self, hass: HomeAssistant, subentry_id: str) -> None:
        """Take up what is known of this agent's tools, and of all entities."""
        if _EXPOSURE not in hass.data:
            hass.data[_EXPOSURE] = Exposure(hass)
        self._exposure = hass.data[_EXPOSURE]
        self._tools = hass.data.setdefault(_TOOLS, {}).setdefault(subentry_id, Things())
        self._changes = (-1, -1)
        self._unsaid = Unsaid()

    @callback
    def async_losses(self) -> int:
        """Look, and return how often an entity was found gone until now."""
        self._exposure.async_look()
        return self._exposure.things.losses

    @callback
    def async_unsaid(self, tools: Iterable[str]) -> Unsaid:
        """Return what may not be named now that these tools are on offer.

        Entities are as they were at the last look.
        """
        self._tools.look({tool: (Name(tool),) for tool in tools})
        both = (self._exposure.things, self._tools)
        changes = (both[0].changes, both[1].changes)
        if changes != self._changes:
            gone = [name for things in both for name in things.gone()]
            here = (name for things in both for name in things.here())
            self._unsaid = Unsaid(gone, here if gone else ())
            self._changes = changes
        return self._unsaid


@callback
def async_forget_tools(hass: HomeAssistant, subentry_ids: set[str]) -> None:
    """Drop the tools of agents that are gone."""
    for subentry_id in subentry_ids:
        hass.data.get(_TOOLS, {}).pop(subentry_id, None)


_EXPOSURE: HassKey[Exposure] = HassKey(f"{DOMAIN}_exposure")
_TOOLS: HassKey[dict[str, Things]] = HassKey(f"{DOMAIN}_tools_named")
