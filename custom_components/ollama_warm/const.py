"""Constants of the Ollama Warm integration."""

import logging
from typing import Final

DOMAIN: Final = "ollama_warm"
LOGGER = logging.getLogger(__package__)

CORE_DOMAIN: Final = "ollama"
"""Home Assistant's own integration."""
CORE_NUM_CTX: Final = 8192
"""Its context window where no one chose one, in tokens."""

SUBENTRY_CONVERSATION: Final = "conversation"

CONF_NUM_CTX: Final = "num_ctx"
CONF_MAX_HISTORY: Final = "max_history"
CONF_KEEP_ALIVE: Final = "keep_alive"
CONF_THINK: Final = "think"
CONF_AUTO_WARM: Final = "auto_warm"
CONF_WARM_INTERVAL: Final = "warm_interval"

CONF_WEATHER_ENTITY: Final = "weather_entity"
"""Option of a server's entry: the weather entity that agents report from."""
CONF_WEATHER_FOR_OTHERS: Final = "weather_for_others"
"""Option of a server's entry: whether Assist has the tool for other integrations' agents, too."""

DEFAULT_NAME: Final = "Ollama Warm"
DEFAULT_URL: Final = "http://localhost:11434"
# Home Assistant's prompt is 5,000 to 10,000 tokens, so Ollama's smaller windows would cut it.
DEFAULT_NUM_CTX: Final = 16384
MIN_NUM_CTX: Final = 2048
DEFAULT_MAX_HISTORY: Final = 20
KEEP_ALIVE_FOREVER: Final = -1
DEFAULT_KEEP_ALIVE: Final = KEEP_ALIVE_FOREVER
DEFAULT_WARM_INTERVAL: Final = 60

WARM_UP_PREFIX: Final = "ollama_warm."
"""A conversation whose id starts so is a warm-up: nothing is executed or remembered."""
CONTRACT_VERSION: Final = 1
MAX_TOOL_ROUNDS: Final = 10
WINDOW_SHARE: Final = 0.9
"""How full a context window may be: to the brim, Ollama drops messages in silence."""
