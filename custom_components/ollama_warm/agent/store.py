"""The prefixes of all agents of a server, kept on disk so that a restart changes no byte.

What must survive byte for byte is there as text: the stable part and the shared tools, and nothing
that is not in them. Of what was sent, and of what moved, a digest is enough.
"""

from collections.abc import Container, Mapping
import hashlib
import json
from typing import Any, override

import probatio

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.storage import Store

from ..const import DOMAIN, LOGGER
from ..ollama.ways import Chosen, Way
from ..prefix import segments
from ..prefix.agent_prefix import AgentPrefix
from ..prefix.tool_union import WireTool
from ..turns.turns import Wire

_VERSION = 1
# Up to 1.1 the words of what had moved, and the whole of what was last sent, were in the file.
_MINOR_VERSION = 2
_SAVE_DELAY_S = 2

# The prefix itself is read strictly by its own classes.
_AGENT = probatio.Schema(
    {
        probatio.Optional("prefix"): dict,
        probatio.Optional("sent"): str,
        probatio.Optional("planted"): probatio.Any(None, str),
    }
)
_WAY = probatio.Schema(
    {
        probatio.Required("way"): probatio.In([way.value for way in Way]),
        probatio.Required("version"): str,
    }
)
_FILE = probatio.Schema({probatio.Required("agents"): dict, probatio.Required("ways"): dict})
_DAMAGED = (
    ArithmeticError,
    AttributeError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
    probatio.Invalid,
)


def digest(system: str, tools: tuple[WireTool, ...]) -> str:
    """Return a short name for a prefix that says nothing of its words."""
    return hashlib.sha256(json.dumps([system, tools]).encode()).hexdigest()


class _VersionedStore(Store[dict[str, Any]]):
    """The file, with its way up from older versions."""

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what an older version knew but for names; of a later one, nothing is known."""
        if old_major_version == _VERSION and old_minor_version > _MINOR_VERSION:
            return old_data
        ways = old_data.get("ways", {}) if isinstance(old_data, dict) else {}
        return {"agents": {}, "ways": ways if old_major_version == _VERSION else {}}


class PrefixStore:
    """Hands out stored prefixes and writes changed ones."""

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        """Name the file; it is read by `async_load`."""
        self._store = _VersionedStore(
            hass,
            _VERSION,
            f"{DOMAIN}.{entry_id}",
            minor_version=_MINOR_VERSION,
            # What is in it shows what is in the house.
            private=True,
        )
        self._agents: dict[str, dict[str, Any]] = {}
        self._ways: dict[str, dict[str, str]] = {}
        self._sent: dict[str, tuple[Wire, str]] = {}
        """What was last saved as sent, with its digest, which takes a while to make."""
        self._changed = False
        self.closed = False
        """Whether the entry is unloaded: what is still in flight no longer changes anything."""

    async def async_load(self) -> None:
        """Read the file, and check all of it here: what has not its shape is learned again."""
        try:
            data = await self._store.async_load()
            if data is None:
                return
            _FILE(data)
        except (HomeAssistantError, *_DAMAGED) as err:
            self._learn_again(type(err).__name__)
            return
        self._agents = {key: one for key, one in data["agents"].items() if _is_agent(one)}
        self._ways = {model: way for model, way in data["ways"].items() if _is_way(way)}
        if self._agents != data["agents"] or self._ways != data["ways"]:
            self._learn_again("a part is damaged")

    def _learn_again(self, reason: str) -> None:
        """Say that something cannot be read, without a word of it, and keep it no longer."""
        LOGGER.warning("The stored prefixes cannot be read (%s); they are learned again", reason)
        self._save()

    def prefix(self, subentry_id: str, key: str) -> AgentPrefix:
        """Return the stored prefix if it was learned under this key, else an empty one."""
        prefix = self._prefix(subentry_id)
        return prefix if prefix and prefix.key == key else AgentPrefix(key)

    def _prefix(self, subentry_id: str) -> AgentPrefix | None:
        """Return the stored prefix of an agent, None if there is none."""
        stored = self._agents.get(subentry_id, {}).get("prefix")
        return AgentPrefix.from_dict(stored) if stored else None

    def last_sent(self, subentry_id: str) -> Wire | None:
        """Return the prefix that this agent last sent, None if that is not known.

        It is not kept but for its digest: known is what the stored prefix still is.
        """
        if (prefix := self._prefix(subentry_id)) is None:
            return None
        wire = Wire(segments.join(prefix.layout.stable), prefix.tools.wire())
        sent = self._agents[subentry_id].get("sent")
        return wire if digest(wire.system, wire.tools) == sent else None

    @callback
    def async_save(self, subentry_id: str, prefix: AgentPrefix, sent: Wire | None = None) -> None:
        """Write an agent's prefix within a few seconds, if it has changed, and what was sent."""
        stored = self._agents.get(subentry_id, {})
        new = {**stored, "prefix": prefix.as_dict()}
        if sent is not None:
            # What is a person's own rides behind the shared tools, and is not kept.
            shared = sent.tools[: len(prefix.tools.wire())]
            new["sent"] = self._digest(subentry_id, Wire(sent.system, shared))
        if new != stored:
            self._agents[subentry_id] = new
            self._save()

    def _digest(self, subentry_id: str, sent: Wire) -> str:
        """Return the digest of what an agent has sent."""
        last = self._sent.get(subentry_id)
        if last is None or last[0] != sent:
            last = self._sent[subentry_id] = (sent, digest(sent.system, sent.tools))
        return last[1]

    def planted(self, subentry_id: str) -> str | None:
        """Return the digest of the prefix that has its checkpoint on the server, if one has."""
        return self._agents.get(subentry_id, {}).get("planted")

    @callback
    def async_save_planted(self, subentry_id: str, digest: str | None) -> None:
        """Write which prefix has its checkpoint."""
        if digest != self.planted(subentry_id):
            self._agents.setdefault(subentry_id, {})["planted"] = digest
            self._save()

    def way(self, model: str) -> Chosen | None:
        """Return how a model is warmed on this server, None if that was not tried yet."""
        chosen = self._ways.get(model)
        return Chosen(Way(chosen["way"]), chosen["version"]) if chosen else None

    @callback
    def async_save_way(self, model: str, chosen: Chosen) -> None:
        """Write how a model is warmed on this server."""
        self._ways[model] = {"way": chosen.way.value, "version": chosen.version}
        self._save()

    @callback
    def async_forget_way(self, model: str) -> None:
        """Have the way for a model chosen again, as the present one no longer works."""
        self._ways.pop(model, None)
        self._save()

    @callback
    def async_keep_only(self, subentry_ids: Container[str]) -> None:
        """Forget the agents that are gone."""
        gone = [subentry_id for subentry_id in self._agents if subentry_id not in subentry_ids]
        for subentry_id in gone:
            del self._agents[subentry_id]
        if gone:
            self._save()

    def _save(self) -> None:
        """Write soon, and in any case before Home Assistant stops; never once it is closed."""
        if self.closed:
            return
        self._changed = True
        self._store.async_delay_save(self._data, _SAVE_DELAY_S)

    def _data(self) -> dict[str, Any]:
        """Return what is written."""
        return {"agents": self._agents, "ways": self._ways}

    async def async_close(self) -> None:
        """Write for the last time: whoever opens the file next is the only one to write it.

        That nothing is left to write is not enough, as it may be on its way to the disk.
        """
        self.closed = True
        if self._changed:
            await self._store.async_save(self._data())

    async def async_remove(self) -> None:
        """Delete the file with the entry."""
        await self._store.async_remove()


def _is_agent(value: Mapping[str, Any]) -> bool:
    """Return whether what is stored of an agent has its shape."""
    try:
        _AGENT(value)
        if (
            "prefix" in value
            and AgentPrefix.from_dict(value["prefix"]).as_dict() != value["prefix"]
        ):
            return False
    except _DAMAGED:
        return False
    return True


def _is_way(value: object) -> bool:
    """Return whether what is stored of a model has its shape."""
    try:
        _WAY(value)
    except probatio.Invalid:
        return False
    return True
