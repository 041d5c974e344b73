"""What a person reads or hears: texts of the integration with their values filled in."""

from collections.abc import Mapping

from custom_components.ollama_warm.const import DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations


async def sentence(
    hass: HomeAssistant,
    category: str,
    key: str,
    values: Mapping[str, str] | None = None,
    language: str = "en",
) -> str:
    """Return a text as Home Assistant shows it; it must be there."""
    texts = await async_get_translations(hass, language, category, {DOMAIN})
    return texts[f"component.{DOMAIN}.{category}.{key}"].format(**(values or {}))
