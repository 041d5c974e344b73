"""Sets the tools up when the bench asks for them."""

from typing import Any, override

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

DOMAIN = "bench_tools"


class BenchToolsConfigFlow(ConfigFlow, domain=DOMAIN):
    """Nothing to ask."""

    @override
    async def async_step_user(self, _: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Make the entry."""
        return self.async_create_entry(title="Tools of the bench", data={})
