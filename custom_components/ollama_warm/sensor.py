"""Sensors: what the last question to an agent cost, and what its server has loaded.

Each value was measured since Home Assistant started. None is restored, as an old count would
look like a new one, and a count that the server did not report is unknown.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import override

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import (
    MAX_LENGTH_STATE_STATE,
    PERCENTAGE,
    EntityCategory,
    UnitOfTime,
)
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.event import async_track_point_in_utc_time
from homeassistant.helpers.typing import StateType
from homeassistant.util import dt as dt_util

from .coordinator import OllamaWarmConfigEntry, OllamaWarmCoordinator
from .entity import AgentEntity, ServerEntity
from .ollama.server import ServerState
from .turns.turn_log import Cause, LoggedTurn, TurnLog, async_turn_log, turn_signal
from .turns.turns import Reason, Turn, Verdict

# Nothing is asked of the server here.
PARALLEL_UPDATES = 0

_SHARE_OF = timedelta(hours=24)
_NONE_LOADED = "none"


@dataclass(frozen=True, kw_only=True)
class AgentSensorDescription(SensorEntityDescription):
    """A sensor whose value follows from the turns of an agent."""

    entity_category: EntityCategory | None = EntityCategory.DIAGNOSTIC
    value_fn: Callable[[TurnLog], StateType | datetime]
    attribute: str | None = None
    """The name of a value beside it, and how that is got."""
    attribute_fn: Callable[[TurnLog], StateType] = lambda _: None


@dataclass(frozen=True, kw_only=True)
class ServerSensorDescription(SensorEntityDescription):
    """A sensor whose value follows from what a server says of itself, and its agents' models."""

    entity_category: EntityCategory | None = EntityCategory.DIAGNOSTIC
    value_fn: Callable[[ServerState, Collection[str]], StateType]


def _newest(log: TurnLog, cause: Cause) -> LoggedTurn | None:
    """Return the newest turn of an cause."""
    return next((logged for logged in reversed(log) if logged.cause is cause), None)


def _asked(value: Callable[[Turn], StateType]) -> Callable[[TurnLog], StateType]:
    """Return what gets a value from the newest turn of a person."""

    def value_of(log: TurnLog) -> StateType:
        newest = _newest(log, Cause.QUESTION)
        return value(newest.turn) if newest else None

    return value_of


def _last_warm_up(log: TurnLog) -> datetime | None:
    """Return when the prefix was last read without a person's doing."""
    warm_ups = (logged for logged in reversed(log) if logged.cause is Cause.WARM_UP)
    return next((warm_up.ended for warm_up in warm_ups if not warm_up.failed), None)


def _cached_share(turn: Turn) -> float | None:
    """Return how many percent of a prompt were in the cache."""
    if turn.cached_tokens is None or not turn.prompt_tokens:
        return None
    return 100 * turn.cached_tokens / turn.prompt_tokens


def _lately(log: TurnLog, *causes: Cause) -> list[LoggedTurn]:
    """Return the turns of these causes in the last 24 hours, as far as the log goes back."""
    since = dt_util.utcnow() - _SHARE_OF
    return [logged for logged in log if logged.cause in causes and logged.ended > since]


def _warm_share(log: TurnLog) -> float | None:
    """Return how many percent of these were warm, among those that failed or have counts.

    A question has failed as well if a later call of the model for it did, as after a tool.
    """
    results: list[LoggedTurn] = []
    for one in _lately(log, Cause.QUESTION, Cause.FOLLOW_UP):
        if one.cause is Cause.QUESTION:
            results.append(one)
        elif one.failed:
            results[-1:] = [one]
    known = [one for one in results if one.failed or one.turn.verdict is not Verdict.UNKNOWN]
    warm = sum(one.turn.verdict is Verdict.WARM for one in known)
    return 100 * warm / len(known) if known else None


def _loaded_models(state: ServerState, models: Collection[str]) -> str:
    """Return the names of the agents' models that are loaded."""
    loaded = [model for model in sorted(models) if state.context_length(model) is not None]
    return ", ".join(loaded)[:MAX_LENGTH_STATE_STATE] or _NONE_LOADED


def _context_length(state: ServerState, models: Collection[str]) -> int | None:
    """Return the context length of the agents' models, the smallest where they differ."""
    return min(filter(None, map(state.context_length, models)), default=None)


# The name of each unit of its own is translated, as the names are, under the sensor's key.
AGENT_SENSORS = (
    AgentSensorDescription(
        key="re_read_tokens",
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=0,
        value_fn=_asked(lambda turn: turn.re_read_tokens),
        attribute="riding_tokens_estimated",
        attribute_fn=_asked(lambda turn: turn.riding_tokens),
    ),
    AgentSensorDescription(
        key="prompt_tokens",
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=_asked(lambda turn: turn.prompt_tokens),
    ),
    AgentSensorDescription(
        key="cached_share",
        native_unit_of_measurement=PERCENTAGE,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=1,
        entity_registry_enabled_default=False,
        value_fn=_asked(_cached_share),
    ),
    AgentSensorDescription(
        key="prefill_time",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=2,
        entity_registry_enabled_default=False,
        value_fn=_asked(lambda turn: turn.prefill_s),
    ),
    AgentSensorDescription(
        key="time_to_first_token",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=2,
        value_fn=_asked(lambda turn: turn.first_token_s),
    ),
    AgentSensorDescription(
        key="last_reason",
        device_class=SensorDeviceClass.ENUM,
        options=[reason.value for reason in Reason],
        value_fn=_asked(lambda turn: turn.reason.value),
    ),
    AgentSensorDescription(
        key="last_warm_up",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=_last_warm_up,
    ),
)
WARM_SHARE = AgentSensorDescription(
    key="warm_share",
    native_unit_of_measurement=PERCENTAGE,
    state_class=SensorStateClass.MEASUREMENT,
    suggested_display_precision=0,
    value_fn=_warm_share,
)
SERVER_SENSORS = (
    ServerSensorDescription(key="version", value_fn=lambda state, _: state.version),
    ServerSensorDescription(key="loaded_model", value_fn=_loaded_models),
    ServerSensorDescription(
        key="context_length",
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=0,
        value_fn=_context_length,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001 - the platform's signature
    entry: OllamaWarmConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the sensors of a server and of each of its agents."""
    coordinator = entry.runtime_data
    async_add_entities(ServerSensor(coordinator, description) for description in SERVER_SENSORS)
    for subentry in coordinator.subentries:
        async_add_entities(
            [
                *(AgentSensor(coordinator, subentry, description) for description in AGENT_SENSORS),
                WarmShareSensor(coordinator, subentry),
            ],
            config_subentry_id=subentry.subentry_id,
        )


class AgentSensor(AgentEntity, SensorEntity):
    """Shows something of an agent's turns."""

    entity_description: AgentSensorDescription

    def __init__(
        self,
        coordinator: OllamaWarmCoordinator,
        subentry: ConfigSubentry,
        description: AgentSensorDescription,
    ) -> None:
        super().__init__(coordinator, subentry, description)
        self._log = async_turn_log(coordinator.hass, subentry.subentry_id)

    @override
    async def async_added_to_hass(self) -> None:
        """Show each turn as it ends."""
        await super().async_added_to_hass()
        signal = turn_signal(self.subentry.subentry_id)
        self.async_on_remove(async_dispatcher_connect(self.hass, signal, self._async_turn_ended))

    @callback
    def _async_turn_ended(self) -> None:
        """Show the newest turn."""
        self.async_write_ha_state()

    @property
    @override
    def native_value(self) -> StateType | datetime:
        """Return what the log shows."""
        return self.entity_description.value_fn(self._log)

    @property
    @override
    def extra_state_attributes(self) -> dict[str, StateType] | None:
        """Return what is shown beside it."""
        name = self.entity_description.attribute
        return {name: self.entity_description.attribute_fn(self._log)} if name else None


class WarmShareSensor(AgentSensor):
    """Shows the share of warm questions, which changes also by questions that become old."""

    def __init__(self, coordinator: OllamaWarmCoordinator, subentry: ConfigSubentry) -> None:
        super().__init__(coordinator, subentry, WARM_SHARE)
        self._stop_waiting: CALLBACK_TYPE | None = None

    @override
    async def async_added_to_hass(self) -> None:
        """Wait for the questions that were asked before a reload."""
        await super().async_added_to_hass()
        self._wait()

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Stop waiting."""
        if self._stop_waiting:
            self._stop_waiting()

    @callback
    @override
    def _async_turn_ended(self) -> None:
        """Show the newest turn, and wait for it to become old if it is the only one."""
        super()._async_turn_ended()
        if self._stop_waiting is None:
            self._wait()

    def _wait(self) -> None:
        """Wait until the oldest question is too old to count."""
        for oldest in _lately(self._log, Cause.QUESTION)[:1]:
            self._stop_waiting = async_track_point_in_utc_time(
                self.hass, self._async_became_old, oldest.ended + _SHARE_OF
            )

    @callback
    def _async_became_old(self, _now: datetime) -> None:
        """Show the share without the questions that are too old, and wait for the next."""
        self._stop_waiting = None
        self.async_write_ha_state()
        self._wait()


class ServerSensor(ServerEntity, SensorEntity):
    """Shows something that a server says of itself."""

    entity_description: ServerSensorDescription

    @property
    @override
    def native_value(self) -> StateType:
        """Return what the server said last."""
        models = {agent.options.model for agent in self.coordinator.agents.values()}
        return self.entity_description.value_fn(self.coordinator.data, models)
