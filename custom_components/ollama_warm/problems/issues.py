"""Raises issues in Home Assistant's repairs, and takes them back when their cause is gone."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..agent.options import AgentOptions
from ..const import CORE_DOMAIN, DOMAIN
from ..coordinator import UPDATE_INTERVAL, OllamaWarmCoordinator
from ..turns.turn_log import async_turn_log, turn_signal
from .checks import async_core_agents, async_core_issues, async_server_issues
from .problem import Issues, Problem

# Two clients take turns, so it is seen now and then only.
_SEEN_FOR = timedelta(days=1)
_ALL_PROBLEMS = {problem.value for problem in Problem}


@dataclass(frozen=True, slots=True)
class _Seen:
    """A context length that a model was found loaded with, and when."""

    num_ctx: int
    when: datetime


class IssueWatch:
    """Watches over all servers, and over Home Assistant's own Ollama agents."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Watch for entries that come, change and go."""
        self._hass = hass
        self._servers: dict[str, OllamaWarmCoordinator] = {}
        self._seen: dict[str, _Seen] = {}
        async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_entry_changed)

    @callback
    def async_watch(self, coordinator: OllamaWarmCoordinator) -> CALLBACK_TYPE:
        """Watch a server until what is returned is called."""
        since = dt_util.utcnow()

        @callback
        def server_said() -> None:
            self._look_at_windows(coordinator, since, dt_util.utcnow())
            self.async_check()

        @callback
        def turn_ended() -> None:
            # A server that says the same as before is not heard, so it may have said it again.
            self._look_at_windows(coordinator, since, dt_util.utcnow() - 2 * UPDATE_INTERVAL)
            self.async_check()

        stops = [
            coordinator.async_add_listener(server_said),
            *(
                async_dispatcher_connect(self._hass, turn_signal(subentry_id), turn_ended)
                for subentry_id in coordinator.agents
            ),
        ]
        entry_id = coordinator.config_entry.entry_id
        self._servers[entry_id] = coordinator
        self.async_check()

        @callback
        def stop() -> None:
            for one in stops:
                one()
            del self._servers[entry_id]

        return stop

    @callback
    def async_check(self) -> None:
        """Raise what is wrong, and take back what is no longer."""
        wanted: Issues = {}
        lately = dt_util.utcnow() - _SEEN_FOR
        seen = {
            subentry_id: seen.num_ctx if seen.when > lately else 0
            for subentry_id, seen in self._seen.items()
        }
        for coordinator in self._servers.values():
            wanted |= async_server_issues(coordinator, seen)
        if self._servers:
            wanted |= async_core_issues(self._hass)
        for issue_id, issue in wanted.items():
            if issue is not None:
                ir.async_create_issue(
                    self._hass,
                    DOMAIN,
                    issue_id,
                    data=issue.data,
                    is_fixable=issue.data is not None,
                    severity=issue.severity,
                    translation_key=issue.key,
                    translation_placeholders=issue.placeholders,
                )
        unknown = self._not_looked_at()
        for domain, issue_id in list(ir.async_get(self._hass).issues):
            kind, _, rest = issue_id.partition(".")
            if (
                domain == DOMAIN
                and kind in _ALL_PROBLEMS
                and issue_id not in wanted
                and rest.partition(".")[0] not in unknown
            ):
                ir.async_delete_issue(self._hass, DOMAIN, issue_id)

    @callback
    def _not_looked_at(self) -> set[str]:
        """Return the ids of entries and agents that cannot be looked at now, but are still there.

        No one wants to hear of another integration's agents once ours is gone.
        """
        entries = self._hass.config_entries.async_entries(DOMAIN, include_disabled=False)
        away = [entry for entry in entries if entry.entry_id not in self._servers]
        unknown = {entry.entry_id for entry in away}
        unknown |= {subentry_id for entry in away for subentry_id in entry.subentries}
        if away and not self._servers:
            unknown |= {subentry.subentry_id for subentry in async_core_agents(self._hass)}
        return unknown

    @callback
    def _look_at_windows(
        self, coordinator: OllamaWarmCoordinator, since: datetime, asked: datetime
    ) -> None:
        """Remember whether another program loaded an agent's model with another length.

        `asked` is when the server was asked at the latest. Where the agent itself had no turn
        before that, the length may be its own of before its options changed.
        """
        for subentry_id, agent in coordinator.agents.items():
            log = async_turn_log(self._hass, subentry_id)
            turns = (one for one in reversed(log) if not one.failed)
            last = next((one.ended for one in turns if one.ended <= asked), None)
            subentry = coordinator.config_entry.subentries.get(subentry_id)
            if last is None or last < since or subentry is None:
                continue
            options = AgentOptions.from_data(subentry.data)
            num_ctx = coordinator.server.state.context_length(agent.options.model)
            # Its own one does not wipe out another one that was there a while ago.
            if num_ctx and (num_ctx != options.num_ctx or subentry_id not in self._seen):
                self._seen[subentry_id] = _Seen(num_ctx, dt_util.utcnow())

    @callback
    def _async_entry_changed(self, _change: ConfigEntryChange, entry: ConfigEntry) -> None:
        """Look again when a server or an agent was changed, here or in Home Assistant's own."""
        if entry.domain in (DOMAIN, CORE_DOMAIN):
            self.async_check()


_WATCH: HassKey[IssueWatch] = HassKey(f"{DOMAIN}_issues")


@callback
def async_setup_issues(hass: HomeAssistant) -> None:
    """Prepare for servers to be watched."""
    hass.data[_WATCH] = IssueWatch(hass)


@callback
def async_watch_issues(coordinator: OllamaWarmCoordinator) -> CALLBACK_TYPE:
    """Watch a server until what is returned is called."""
    return coordinator.hass.data[_WATCH].async_watch(coordinator)
