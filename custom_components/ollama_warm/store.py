"""The prefixes of all agents of a server, kept on disk so that a restart changes no byte."""

from collections.abc import Container
from typing import Any, override

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import UnsupportedStorageVersionError
from homeassistant.helpers.storage import Store

from .const import DOMAIN, LOGGER
from .ping import Chosen, Way
from .prefix.agent_prefix import AgentPrefix
from .turns import Wire

_VERSION = 1
_MINOR_VERSION = 1
_SAVE_DELAY_S = 2


class _VersionedStore(Store[dict[str, Any]]):
    """The file, with its way up from older versions."""

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        """Return data of another version in today's shape; of a later one, nothing is known."""
        return old_data if old_major_version <= _VERSION else {}


class PrefixStore:
    """Hands out stored prefixes and writes changed ones."""

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        """Name the file; it is read by `async_load`."""
        self._store = _VersionedStore(
            hass,
            _VERSION,
            f"{DOMAIN}.{entry_id}",
            minor_version=_MINOR_VERSION,
            # What is in it tells what is in the house.
            private=True,
        )
        self._agents: dict[str, dict[str, Any]] = {}
        self._ways: dict[str, dict[str, str]] = {}
        self._changed = False
        self.closed = False
        """Whether the entry is unloaded: what is still in flight changes nothing any more."""

    async def async_load(self) -> None:
        """Read the file. What cannot be understood is left and learned anew."""
        try:
            data = await self._store.async_load()
        except UnsupportedStorageVersionError as err:
            LOGGER.warning("The prefixes are learned anew: %s", err)
            return
        if data is None:
            return
        agents = data.get("agents") if isinstance(data, dict) else None
        ways = data.get("ways", {}) if isinstance(data, dict) else None
        if isinstance(agents, dict) and isinstance(ways, dict):
            self._agents = {key: agent for key, agent in agents.items() if isinstance(agent, dict)}
            self._ways = ways
        if self._agents != agents:
            LOGGER.warning("The stored prefixes cannot be read; they are learned anew")

    def prefix(self, subentry_id: str, key: str) -> AgentPrefix:
        """Return the stored prefix if it was learned under this key, else an empty one."""
        stored = self._agents.get(subentry_id)
        if not stored or "prefix" not in stored:
            return AgentPrefix(key)
        try:
            prefix = AgentPrefix.from_dict(stored["prefix"])
        except (AttributeError, KeyError, TypeError, ValueError) as err:
            LOGGER.warning("A stored prefix cannot be read (%r); it is learned anew", err)
            return AgentPrefix(key)
        return prefix if prefix.key == key else AgentPrefix(key)

    def last_sent(self, subentry_id: str) -> Wire | None:
        """Return the prefix that this agent last sent, None if that is not known."""
        try:
            sent = self._agents[subentry_id]["sent"]
            return Wire(str(sent["system"]), tuple(sent["tools"]))
        except KeyError, TypeError:
            return None

    @callback
    def async_save(self, subentry_id: str, prefix: AgentPrefix, sent: Wire) -> None:
        """Write an agent's prefix within a few seconds, if it has changed."""
        stored = self._agents.get(subentry_id, {})
        new = {
            **stored,
            "prefix": prefix.as_dict(),
            "sent": {"system": sent.system, "tools": list(sent.tools)},
        }
        if new != stored:
            self._agents[subentry_id] = new
            self._save()

    def planted(self, subentry_id: str) -> str | None:
        """Return the digest of the prefix that has its checkpoint on the server, if one has."""
        value = self._agents.get(subentry_id, {}).get("planted")
        return value if isinstance(value, str) else None

    @callback
    def async_save_planted(self, subentry_id: str, digest: str | None) -> None:
        """Write which prefix has its checkpoint."""
        if digest != self.planted(subentry_id):
            self._agents.setdefault(subentry_id, {})["planted"] = digest
            self._save()

    def way(self, model: str) -> Chosen | None:
        """Return how a model is warmed on this server, None if that was not tried yet."""
        try:
            chosen = self._ways[model]
            return Chosen(Way(chosen["way"]), str(chosen["version"]))
        except KeyError, TypeError, ValueError:
            return None

    @callback
    def async_save_way(self, model: str, chosen: Chosen) -> None:
        """Write how a model is warmed on this server."""
        self._ways[model] = {"way": chosen.way.value, "version": chosen.version}
        self._save()

    @callback
    def async_forget_way(self, model: str) -> None:
        """Have the way for a model chosen anew, as the present one does not work any more."""
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
