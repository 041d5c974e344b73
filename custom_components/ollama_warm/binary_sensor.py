"""Whether an agent's prefix is warm: confirmed, refuted, or unknown."""

from typing import override

from homeassistant.components.binary_sensor import BinarySensorEntity, BinarySensorEntityDescription
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import OllamaWarmConfigEntry, OllamaWarmCoordinator
from .entity import AgentEntity
from .turns.turn_log import async_turn_log, turn_signal
from .turns.turns import Turn, Verdict

# Nothing is asked of the server here.
PARALLEL_UPDATES = 0

WARM = BinarySensorEntityDescription(key="warm", entity_category=EntityCategory.DIAGNOSTIC)


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001 - the platform's signature
    entry: OllamaWarmConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up a sensor for each agent."""
    for subentry in entry.runtime_data.subentries:
        async_add_entities(
            [WarmSensor(entry.runtime_data, subentry)], config_subentry_id=subentry.subentry_id
        )


class WarmSensor(AgentEntity, BinarySensorEntity):
    """Shows the verdict on the newest turn, until the server may have lost what it proved."""

    def __init__(self, coordinator: OllamaWarmCoordinator, subentry: ConfigSubentry) -> None:
        """Know nothing: other options may have been in force at the last turn."""
        super().__init__(coordinator, subentry, WARM)
        self._log = async_turn_log(coordinator.hass, subentry.subentry_id)
        self._version = coordinator.data.version
        self._outdated = self._newest()

    @override
    async def async_added_to_hass(self) -> None:
        """Show each verdict as it is given."""
        await super().async_added_to_hass()
        signal = turn_signal(self.subentry.subentry_id)
        self.async_on_remove(async_dispatcher_connect(self.hass, signal, self.async_write_ha_state))

    @property
    @override
    def is_on(self) -> bool | None:
        """Return whether the newest turn was warm, None if no one can know."""
        turn = self._newest()
        if turn is None or turn is self._outdated or turn.verdict is Verdict.UNKNOWN:
            return None
        return turn.verdict is Verdict.WARM

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        """No longer know anything when the server may have lost what it was sent."""
        if self._may_be_lost():
            self._outdated = self._newest()
        super()._handle_coordinator_update()

    def _newest(self) -> Turn | None:
        """Return the turn that counts: the newest one, or what confirmed the newest warm-up.

        A warm-up may end with a turn that says nothing: where checkpoints are needed, the
        prefix is read once more after the confirmation. One that failed says so.
        """
        logged = self._log[-1] if self._log else None
        if logged and logged.failed:
            return logged.turn
        last = self.coordinator.warmth.outcomes.last.get(self.subentry.subentry_id)
        if last and (logged is None or last[0] >= logged.ended):
            return last[1]
        return logged.turn if logged else None

    def _may_be_lost(self) -> bool:
        """Return whether the server is or was away, or no longer has the model as we load it."""
        state, options = self.coordinator.data, self.agent.options
        seen, self._version = self._version, state.version
        return (
            not self.coordinator.last_update_success
            or state.version != seen
            or state.context_length(options.model) not in (0, options.num_ctx)
        )
