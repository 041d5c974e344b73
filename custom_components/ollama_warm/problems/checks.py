"""What is wrong with a server or an agent, for Home Assistant's repairs.

Each check says of its issues that there is one, that it cannot be known now, or, by leaving it
out, that there is none. What cannot be known stays as it was: an issue that a person ignored is
not raised again because Home Assistant was restarted.
"""

from collections.abc import Iterator

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_PROMPT
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.issue_registry import IssueSeverity

from ..agent.failing import prompt_key
from ..agent.moving import are_kept, moving_key, moving_parts, unreadable_at
from ..agent.options import AgentOptions
from ..const import CORE_DOMAIN, SUBENTRY_CONVERSATION
from ..coordinator import OllamaWarmCoordinator
from ..ollama.facts import CACHED_COUNT, Version
from ..turns.turn_log import async_turn_log
from ..turns.turns import Reason, Turn
from .disabled import async_is_disabled
from .problem import Issue, Issues, Problem, issue_id
from .windows import ModelUser, async_clients, fits, next_size

_ALL = 100
_LAST_TURNS = 3
_COLD_WARM_UPS = 3
_MOST_RIDING_TOKENS = 200
# English prose has four to five, a list of entities about three.
_CHARACTERS_PER_TOKEN = 4
_MOST_CHARACTERS_PER_TOKEN = 5


@callback
def async_server_issues(coordinator: OllamaWarmCoordinator, seen: dict[str, int]) -> Issues:
    """Return the issues of a server and its agents.

    `seen` are the context lengths that agents' models were lately found loaded with, 0 where
    that was only their own one.
    """
    issues = _no_counts(coordinator)
    for subentry in coordinator.config_entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
        if subentry.subentry_id in coordinator.agents:
            facts = _Facts(coordinator, subentry)
            issues |= (
                facts.prompt()
                | facts.failing()
                | facts.refused()
                | facts.window()
                | facts.windows(seen.get(subentry.subentry_id))
                | facts.offload()
                | facts.cold()
                | facts.riding()
            )
    return issues


@callback
def async_core_issues(hass: HomeAssistant) -> Issues:
    """Return the issues of the agents of Home Assistant's own Ollama integration."""
    issues: Issues = {}
    for subentry in async_core_agents(hass):
        prompt = subentry.data.get(CONF_PROMPT) or ""
        if parts := moving_parts(prompt):
            lines = sorted({found.line for found in parts})
            issues[issue_id(Problem.CORE_MOVING, subentry.subentry_id, moving_key(prompt))] = Issue(
                key="core_moving_part",
                placeholders={"agent": subentry.title, "lines": ", ".join(map(str, lines))},
            )
    return issues


@callback
def async_core_agents(hass: HomeAssistant) -> Iterator[ConfigSubentry]:
    """Yield the agents of Home Assistant's own Ollama integration."""
    for entry in hass.config_entries.async_entries(CORE_DOMAIN, include_disabled=False):
        for subentry in entry.get_subentries_of_type("conversation"):
            if not async_is_disabled(hass, subentry.subentry_id, CORE_DOMAIN):
                yield subentry


def _no_counts(coordinator: OllamaWarmCoordinator) -> Issues:
    """Return whether a server is too old to say what it has cached."""
    version = Version.read(coordinator.server.state.version)
    # What is no release may have them or not: an update would be the wrong advice.
    if version.numbers is None or version.since(*CACHED_COUNT):
        return {}
    entry = coordinator.config_entry
    turns = [
        turn
        for subentry_id in coordinator.agents
        for turn in _counted(coordinator, subentry_id)[-1:]
    ]
    if any(turn.cached_tokens is not None for turn in turns):
        return {}
    issue = Issue(
        key="no_cached_counts", placeholders={"server": entry.title, "version": version.text}
    )
    return {issue_id(Problem.NO_COUNTS, entry.entry_id): issue if turns else None}


def _counted(coordinator: OllamaWarmCoordinator, subentry_id: str) -> list[Turn]:
    """Return the last turns of an agent with any count."""
    log = async_turn_log(coordinator.hass, subentry_id)
    counted = [logged.turn for logged in log if logged.turn.prompt_tokens]
    return counted[-_LAST_TURNS:]


class _Facts:
    """What is known of one agent, and what is wrong with it."""

    def __init__(self, coordinator: OllamaWarmCoordinator, subentry: ConfigSubentry) -> None:
        """Read the options as they are now, also where the agent is about to be set up again."""
        self._coordinator = coordinator
        self._subentry = subentry
        self._options = AgentOptions.from_data(subentry.data)
        self._turns = _counted(coordinator, subentry.subentry_id)
        self._tokens = [turn.prompt_tokens or 0 for turn in self._turns]

    def _id(self, problem: Problem, *more: str) -> str:
        return issue_id(problem, self._subentry.subentry_id, *more)

    def _data(self, num_ctx: int | None = None) -> dict[str, str | int | float | None]:
        """Return what a fix flow needs."""
        return {
            "entry_id": self._coordinator.config_entry.entry_id,
            "subentry_id": self._subentry.subentry_id,
            "num_ctx": num_ctx,
        }

    def _names(self, **more: object) -> dict[str, str]:
        """Return the values for the sentences of an issue."""
        names = {"agent": self._subentry.title, **more}
        return {name: str(value) for name, value in names.items()}

    def prompt(self) -> Issues:
        """Return what is wrong with the instructions."""
        prompt = self._options.prompt or ""
        if place := unreadable_at(prompt):
            return {
                self._id(Problem.UNREADABLE): Issue(
                    key="unreadable_prompt",
                    placeholders=self._names(line=place.line),
                    severity=IssueSeverity.ERROR,
                )
            }
        if not moving_parts(prompt) or are_kept(self._subentry.data):
            return {}
        return {
            self._id(Problem.MOVING, moving_key(prompt)): Issue(
                key="moving_part", placeholders=self._names(), data=self._data()
            )
        }

    def refused(self) -> Issues:
        """Return whether what the agent may use was refused, whosever rights were tried."""
        agent = self._coordinator.agents[self._subentry.subentry_id]
        if agent.prompts.admission.refused is None:
            return {self._id(Problem.REFUSED): None}
        if not agent.prompts.admission.refused:
            return {}
        names, severity = self._names(), IssueSeverity.ERROR
        return {
            self._id(Problem.REFUSED): Issue(
                key="api_refused", placeholders=names, severity=severity
            )
        }

    def failing(self) -> Issues:
        """Return whether the instructions could not be rendered when that was tried last."""
        prompt = self._options.prompt or ""
        failing = self._coordinator.agents[self._subentry.subentry_id].prompts.failing
        # Everyone may list issues, so only the fix flow shows what stands there.
        key = self._id(Problem.FAILING, prompt_key(prompt))
        if not failing.tried:
            return {key: None}
        if failing.line is None or unreadable_at(prompt):
            return {}
        names = self._names(line=failing.line)
        severity = IssueSeverity.ERROR
        return {
            key: Issue(
                key="failing_prompt", placeholders=names, severity=severity, data=self._data()
            )
        }

    def window(self) -> Issues:
        """Return whether the prompt does not fit, however short the conversation is."""
        num_ctx = self._options.num_ctx
        # A prompt that is much too long is refused, and has no counts.
        too_long = self._characters() > num_ctx * _MOST_CHARACTERS_PER_TOKEN
        if not too_long and not self._tokens:
            return {self._id(Problem.WINDOW): None}
        if not too_long and fits(num_ctx, min(self._tokens)):
            return {}
        return {
            self._id(Problem.WINDOW): Issue(
                key="window_too_small",
                placeholders=self._names(num_ctx=num_ctx),
                severity=IssueSeverity.ERROR,
                data=self._data(next_size(num_ctx, self._needed())),
            )
        }

    def _needed(self) -> int:
        """Return how many tokens the prompt needs; what was cut off has no count."""
        return max((self._characters() // _CHARACTERS_PER_TOKEN, *self._tokens))

    def _characters(self) -> int:
        """Return the length of what is sent in front of every question."""
        prefix = self._coordinator.agents[self._subentry.subentry_id].prompts.prefix
        return sum(map(len, prefix.layout.stable)) + prefix.tools.length(prefix.tools.wire())

    def windows(self, seen: int | None) -> Issues:
        """Return whether something else has the model loaded with another context length."""
        own = self._options.num_ctx
        url = self._coordinator.server.client.url
        others = [
            client
            for client in async_clients(self._coordinator.hass, url, self._options.model)
            if client.subentry_id != self._subentry.subentry_id
        ]
        # Of two agents of ours, only the one with less has something to take over.
        differ = [
            client
            for client in others
            if (client.num_ctx > own if client.ours else client.num_ctx != own)
        ]
        agree = any(client.num_ctx == own for client in others)
        if differ:
            other = max(differ, key=lambda client: client.num_ctx)
            issue = self._two_windows(other.num_ctx, other, agree=agree)
            return {self._id(Problem.OTHER_WINDOW): issue}
        if seen is None:
            return {self._id(Problem.SEEN_WINDOW): None}
        if seen in (0, own):
            return {}
        return {self._id(Problem.SEEN_WINDOW): self._two_windows(seen, None, agree=agree)}

    def _two_windows(self, num_ctx: int, other: ModelUser | None, *, agree: bool) -> Issue:
        """Return the issue of two context lengths, with a way out where this agent can take it."""
        own = self._options.num_ctx
        names = self._names(model=self._options.model, num_ctx=own, other_num_ctx=num_ctx)
        enough = bool(self._tokens) and fits(num_ctx, max(self._tokens))
        if agree or not (num_ctx > own or enough):
            return Issue(key="other_window_must_change", placeholders=names)
        if other is None:
            return Issue(key="other_window_seen", placeholders=names, data=self._data(num_ctx))
        names["other"] = other.name
        return Issue(key="other_window_of_agent", placeholders=names, data=self._data(num_ctx))

    def offload(self) -> Issues:
        """Return whether a part of the model is not on a GPU."""
        percent = self._coordinator.server.state.percent_on_gpu(self._options.model)
        if percent is None:
            return {self._id(Problem.OFFLOAD): None}
        if percent >= _ALL:
            return {}
        names = self._names(model=self._options.model, percent=percent)
        return {self._id(Problem.OFFLOAD): Issue(key="cpu_offload", placeholders=names)}

    def cold(self) -> Issues:
        """Return whether one warm-up after the other leaves the agent cold, and why."""
        outcomes = self._coordinator.warmth.outcomes
        count = outcomes.cold_in_a_row.get(self._subentry.subentry_id)
        if count == 0:
            return {}
        if count is None or count < _COLD_WARM_UPS:
            return {self._id(Problem.COLD): None}
        _, turn = outcomes.last[self._subentry.subentry_id]
        key = _COLD.get(turn.reason, "cold_prompt_changed")
        return {self._id(Problem.COLD): Issue(key=key, placeholders=self._names())}

    def riding(self) -> Issues:
        """Return whether much is sent with each question because it was learned as moving."""
        riding = [turn.riding_tokens for turn in self._turns if turn.riding_tokens is not None]
        if not riding:
            return {self._id(Problem.RIDES): None}
        if riding[-1] <= _MOST_RIDING_TOKENS:
            return {}
        names = self._names(tokens=round(riding[-1], -1))
        return {self._id(Problem.RIDES): Issue(key="rides_along", placeholders=names)}


_COLD = {
    Reason.MODEL_LOADED: "cold_model_loaded",
    Reason.OTHER_OPTIONS: "cold_other_options",
    Reason.OTHER_NODE: "cold_other_node",
    Reason.CHECKPOINT: "cold_checkpoint",
    Reason.EVICTED: "cold_evicted",
}
