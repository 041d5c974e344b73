"""Diagnostics: options, what the server says, and counts. No one's words, names or addresses."""

from itertools import islice
from typing import Any

from yarl import URL

from homeassistant.components.diagnostics import REDACTED
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL, CONF_URL
from homeassistant.core import HomeAssistant

from .const import SUBENTRY_CONVERSATION
from .coordinator import OllamaWarmConfigEntry, OllamaWarmCoordinator
from .ollama.address import has_login
from .turns.turn_log import async_turn_log
from .turns.turns import Turn

_MOST_TURNS = 50
# Whatever else is no number may be in a person's words, or name something in the house.
_SHOWN = {CONF_MODEL, CONF_LLM_HASS_API}


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: OllamaWarmConfigEntry
) -> dict[str, Any]:
    """Return what helps to see why an agent is not warm."""
    coordinator = entry.runtime_data if entry.state is ConfigEntryState.LOADED else None
    url = URL(entry.data[CONF_URL])
    return {
        "entry": {
            "state": entry.state.value,
            "version": f"{entry.version}.{entry.minor_version}",
            "url": {"scheme": url.scheme, "host": REDACTED, "port": url.port},
            "has_api_key": CONF_API_KEY in entry.data,
            "has_password": has_login(entry.data),
        },
        "server": _server(coordinator) if coordinator else None,
        "agents": [
            {
                "options": _options(subentry),
                "prefix": _prefix(coordinator, subentry.subentry_id),
                "turns": _turns(hass, subentry.subentry_id),
            }
            for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
        ],
    }


def _server(coordinator: OllamaWarmCoordinator) -> dict[str, Any]:
    """Return what the server last said of itself."""
    state = coordinator.data
    return {
        "reachable": coordinator.last_update_success,
        "version": state.version,
        "loaded": state.loaded,
        "percent_on_gpu": state.on_gpu,
    }


def _options(subentry: ConfigSubentry) -> dict[str, Any]:
    """Return the options of an agent that are numbers, and the few others that name nothing."""
    return {
        key: value if not value or key in _SHOWN or isinstance(value, int | float) else REDACTED
        for key, value in sorted(subentry.data.items())
    }


def _prefix(coordinator: OllamaWarmCoordinator | None, subentry_id: str) -> dict[str, Any] | None:
    """Return how an agent is warmed, and how that went the last time; None if it is not set up."""
    if coordinator is None or (agent := coordinator.agents.get(subentry_id)) is None:
        return None
    way = coordinator.store.way(agent.options.model)
    last = coordinator.warmth.outcomes.last.get(subentry_id)
    return {
        "way": way and {"way": way.way.value, "chosen_for": way.version},
        "contexts": len(list(agent.prompts.prefix.contexts())),
        "last_warm_up": last and {"ended": last[0].isoformat(), **_counts(last[1])},
        "cold_in_a_row": coordinator.warmth.outcomes.cold_in_a_row.get(subentry_id, 0),
    }


def _turns(hass: HomeAssistant, subentry_id: str) -> list[dict[str, Any]]:
    """Return the counts of the last turns, the newest first."""
    return [
        {
            "ended": logged.ended.isoformat(),
            "occasion": logged.cause.value,
            **_counts(logged.turn),
        }
        for logged in islice(reversed(async_turn_log(hass, subentry_id)), _MOST_TURNS)
    ]


def _counts(turn: Turn) -> dict[str, Any]:
    """Return the counts of a turn, its verdict, and the kind of its reason without a quote."""
    return turn.as_dict() | {
        "reason": turn.reason.value,
        "first_token_s": turn.first_token_s,
        # The name of a machine.
        "node": turn.node and REDACTED,
    }
