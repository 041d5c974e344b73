"""What all entities share: the service device of an agent, and that of its server."""

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import EntityDescription
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN
from .coordinator import OllamaWarmCoordinator


class AgentEntity(CoordinatorEntity[OllamaWarmCoordinator]):
    """An entity on the service device of one agent."""

    _attr_has_entity_name = True

    def __init__(
        self,
        coordinator: OllamaWarmCoordinator,
        subentry: ConfigSubentry,
        description: EntityDescription | None = None,
    ) -> None:
        """Put the entity on its agent's device, which hangs on the server's."""
        super().__init__(coordinator)
        self.subentry = subentry
        self.agent = coordinator.agents[subentry.subentry_id]
        if description:
            self.entity_description = description
            self._attr_translation_key = description.key
            self._attr_unique_id = f"{subentry.subentry_id}_{description.key}"
        # The platforms are set up at the same time, and whichever is first needs the server's.
        server = dr.async_get(coordinator.hass).async_get_or_create(
            config_entry_id=coordinator.config_entry.entry_id, **_server_device(coordinator)
        )
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, subentry.subentry_id)},
            name=subentry.title,
            manufacturer="Ollama",
            model=subentry.data[CONF_MODEL],
            entry_type=DeviceEntryType.SERVICE,
            via_device_id=server.id,
        )


class ServerEntity(CoordinatorEntity[OllamaWarmCoordinator]):
    """An entity on the service device of a server."""

    _attr_has_entity_name = True

    def __init__(self, coordinator: OllamaWarmCoordinator, description: EntityDescription) -> None:
        """Put the entity on the server's device."""
        super().__init__(coordinator)
        self.entity_description = description
        self._attr_translation_key = description.key
        self._attr_unique_id = f"{coordinator.config_entry.entry_id}_{description.key}"
        self._attr_device_info = _server_device(coordinator)


def _server_device(coordinator: OllamaWarmCoordinator) -> DeviceInfo:
    """Return the device of a server, which belongs to the entry and to none of its agents."""
    return DeviceInfo(
        identifiers={(DOMAIN, coordinator.config_entry.entry_id)},
        name=coordinator.config_entry.title,
        manufacturer="Ollama",
        entry_type=DeviceEntryType.SERVICE,
    )
