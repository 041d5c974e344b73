"""What may be named to the model: Home Assistant's exposed entities, and the tools on offer.

It is remembered as long as Home Assistant runs, over any reload and for all conversations at
once: whoever forgets what was exposed once cannot know what an old answer gives away. Names stay
in memory only.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from homeassistant.components.conversation import DOMAIN as ASSISTANT
from homeassistant.components.homeassistant.exposed_entities import (
    async_listen_entity_updates,
    async_should_expose,
)
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.intent import async_get_entity_aliases
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .names import Unsaid

# A name may be a template. Whoever talks has not heard more of them.
_MOST_NAMES = 64


@dataclass(slots=True)
class _Thing:
    """All names of a thing, the newest last, and when it was found gone if it is."""

    names: dict[str, None] = field(default_factory=dict)
    gone: datetime | None = None
    now: Collection[str] = ()
    """The names that it was called by last."""

    def call(self, names: Collection[str]) -> None:
        """Note the names that it has now."""
        if names is self.now:
            return
        self.now = names
        for name in names:
            self.names.pop(name, None)
            self.names[name] = None
        while len(self.names) > _MOST_NAMES:
            del self.names[next(iter(self.names))]


class Things:
    """Things that may be named, or could be once."""

    def __init__(self) -> None:
        """Know none."""
        self.losses = 0
        """How often a thing was found gone."""
        self._known: dict[str, _Thing] = {}

    def look(self, now: Mapping[str, Collection[str]]) -> None:
        """Take what is there now: the names of each thing by its key, which stays its own."""
        for key, names in now.items():
            thing = self._known.setdefault(key, _Thing())
            thing.gone = None
            thing.call(names)
        for key in self._known.keys() - now.keys():
            if self._known[key].gone is None:
                self._known[key].gone = dt_util.utcnow()
                self.losses += 1

    def call(self, key: str, names: Collection[str]) -> None:
        """Note how a thing that is gone is called now."""
        self._known[key].call(names)

    def gone(self) -> Iterator[tuple[str, datetime]]:
        """Yield each name of each thing that is gone, and when it was found gone."""
        for thing in self._known.values():
            if thing.gone is not None:
                for name in thing.names:
                    yield name, thing.gone

    def here(self) -> Iterator[str]:
        """Yield the names of what may be named now."""
        for thing in self._known.values():
            if thing.gone is None:
                yield from thing.now

    def gone_keys(self) -> list[str]:
        """Return the keys of the things that are gone."""
        return [key for key, thing in self._known.items() if thing.gone is not None]


type _Said = tuple[er.RegistryEntry | None, str, str]
"""An entity's entry in the registry, its id, and the name that its state has."""


class Exposure:
    """Follows which entities are exposed, from the set-up of the first agent on."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Look once all entities are there, and after each change of what is exposed."""
        self.things = Things()
        self._hass = hass
        self._will_look = False
        self._names_by_key: dict[str, tuple[_Said, Collection[str]]] = {}
        async_at_started(hass, self._async_started)
        async_listen_entity_updates(hass, ASSISTANT, self._async_soon)

    @callback
    def async_look(self) -> None:
        """Take what Home Assistant would name now, as it does for its own prompt."""
        entities = er.async_get(self._hass)
        now: dict[str, Collection[str]] = {}
        for state in self._hass.states.async_all():
            if async_should_expose(self._hass, ASSISTANT, state.entity_id):
                entry = entities.async_get(state.entity_id)
                # An entity keeps its id of the registry whatever it is called.
                key = entry.id if entry else state.entity_id
                # Names are looked up once, as long as the registry and the state say the same.
                said = (entry, state.entity_id, state.name)
                if (known := self._names_by_key.get(key)) is None or known[0] != said:
                    known = (said, self._names(state.entity_id, entry, state))
                    self._names_by_key[key] = known
                now[key] = known[1]
        self.things.look(now)
        for key in self.things.gone_keys():
            entry = entities.async_get(key)
            entity_id = entry.entity_id if entry else key
            state_now = self._hass.states.get(entity_id)
            self.things.call(key, self._names(entity_id, entry, state_now))

    def _names(
        self, entity_id: str, entry: er.RegistryEntry | None, state: State | None
    ) -> set[str]:
        """Return the names, the aliases and the id of an entity."""
        names = {entity_id}
        if state:
            names |= {state.name, *async_get_entity_aliases(self._hass, entry, state=state)}
        elif entry:
            names.update(er.async_get_entity_aliases(self._hass, entry))
        return names - {""}

    @callback
    def _async_started(self, _hass: HomeAssistant) -> None:
        """Take what local answers may name before anybody asks an agent of ours."""
        self.async_look()

    @callback
    def _async_soon(self) -> None:
        """Look once after many changes at once."""
        if not self._will_look and self._hass.is_running:
            self._will_look = True
            self._hass.loop.call_soon(self._look_now)

    @callback
    def _look_now(self) -> None:
        """Look."""
        self._will_look = False
        self.async_look()


class Permits:
    """What one agent may name."""

    def __init__(self, hass: HomeAssistant, subentry_id: str) -> None:
        """Take up what is known of this agent's tools, and of all entities."""
        if _EXPOSURE not in hass.data:
            hass.data[_EXPOSURE] = Exposure(hass)
        self._exposure = hass.data[_EXPOSURE]
        self._tools = hass.data.setdefault(_TOOLS, {}).setdefault(subentry_id, Things())

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
        self._tools.look({tool: (tool,) for tool in tools})
        both = (self._exposure.things, self._tools)
        gone = [name for things in both for name in things.gone()]
        return Unsaid(gone, {name for things in both for name in things.here()} if gone else ())


_EXPOSURE: HassKey[Exposure] = HassKey(f"{DOMAIN}_exposure")
_TOOLS: HassKey[dict[str, Things]] = HassKey(f"{DOMAIN}_tools_named")
