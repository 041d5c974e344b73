"""A button that warms an agent now."""

from typing import override

from homeassistant.components.button import ButtonEntity, ButtonEntityDescription
from homeassistant.components.conversation import ConverseError
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .agent.explanation import no_prompt
from .coordinator import OllamaWarmConfigEntry
from .entity import AgentEntity
from .turns.events import async_report_failed
from .warming.warmth import UnloadedError

# A server warms one agent at a time.
PARALLEL_UPDATES = 1

WARM_NOW = ButtonEntityDescription(key="warm_now", entity_category=EntityCategory.CONFIG)


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001 - the platform's signature
    entry: OllamaWarmConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up a button for each agent."""
    for subentry in entry.runtime_data.subentries:
        async_add_entities(
            [WarmNowButton(entry.runtime_data, subentry, WARM_NOW)],
            config_subentry_id=subentry.subentry_id,
        )


class WarmNowButton(AgentEntity, ButtonEntity):
    """Warms an agent, whether or not it is to be warmed by itself."""

    @override
    async def async_press(self) -> None:
        """Warm the agent. That it is not warm then is no error, and is shown by the sensors."""
        try:
            await self.coordinator.warmth.async_warm(self.subentry.subentry_id)
        except UnloadedError:
            raise
        except ConverseError as err:
            async_report_failed(self.hass, self.agent.entity_id, err)
            raise no_prompt(self.agent, err) from err
        except HomeAssistantError as err:
            async_report_failed(self.hass, self.agent.entity_id, err)
            raise
