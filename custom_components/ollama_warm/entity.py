"""What all entities of an agent share: its device."""

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN
from .coordinator import OllamaWarmCoordinator


class AgentEntity(CoordinatorEntity[OllamaWarmCoordinator]):
    """An entity on the service device of one agent."""

    _attr_has_entity_name = True

    def __init__(self, coordinator: OllamaWarmCoordinator, subentry: ConfigSubentry) -> None:
        """Put the entity on its agent's device."""
        super().__init__(coordinator)
        self.subentry = subentry
        self.agent = coordinator.agents[subentry.subentry_id]
        self.warm_up = coordinator.warm_ups[subentry.subentry_id]
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, subentry.subentry_id)},
            name=subentry.title,
            manufacturer="Ollama",
            model=subentry.data[CONF_MODEL],
            entry_type=DeviceEntryType.SERVICE,
        )
