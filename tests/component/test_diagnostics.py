"""Diagnostics: what helps, and nothing that says who lives there or what was said."""

from dataclasses import replace
import json

from pytest_homeassistant_custom_component.components.diagnostics import (  # type: ignore[import-untyped]
    get_diagnostics_for_config_entry,
)
from pytest_homeassistant_custom_component.syrupy import (  # type: ignore[import-untyped]
    HomeAssistantSnapshotExtension,
)
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    ClientSessionGenerator,
)
from syrupy.assertion import SnapshotAssertion

from custom_components.ollama_warm.diagnostics import async_get_config_entry_diagnostics
from custom_components.ollama_warm.turns.turn_log import Cause, async_log_turn
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.config_entries import ConfigEntry
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from .support.house import House, add_server
from .support.server import API_KEY, NOWHERE, Ollama
from .support.shown import says_all_is_well
from .support.warmed import turn

SECRETS = ("127.0.0.1", API_KEY, "zeppelin", "ceiling", "bedside", "kitchen", "cellar")


async def test_what_is_shown(
    house: House,
    ollama: Ollama,
    hass_client: ClientSessionGenerator,
    snapshot: SnapshotAssertion,
) -> None:
    """Options, server, way and counts are; addresses, keys, words and names are not."""
    assert await async_setup_component(house.hass, "diagnostics", {})
    ollama.stand_in.api_key = API_KEY
    with says_all_is_well():
        entry = await house.set_up(
            add_server(
                house.hass,
                ollama.url,
                api_key=API_KEY,
                prompt="You live in a Zeppelin.",
                # As an option of another version may be.
                weather="weather.zeppelin",
            )
        )
    changed = replace(
        turn(Verdict.PROMPT_CHANGED, Reason.SEGMENT_CHANGED),
        detail="- names: Zeppelin",
        node="cellar",
        first_token_s=0.25,
    )
    async_log_turn(house.hass, "agent", Cause.WARM_UP, turn())
    async_log_turn(house.hass, "agent", Cause.QUESTION, changed)
    entry.runtime_data.warmth.outcomes.last["agent"] = (dt_util.utcnow(), turn())
    given = await get_diagnostics_for_config_entry(house.hass, hass_client, entry)
    assert given["entry"]["url"].pop("port") > 0
    (agent,) = given["agents"]
    for logged in (agent["prefix"]["last_warm_up"], *agent["turns"]):
        assert dt_util.parse_datetime(logged.pop("ended"))
    assert given == snapshot.use_extension(HomeAssistantSnapshotExtension)
    for secret in SECRETS:
        assert secret not in json.dumps(given).lower()


async def test_after_a_real_warm_up(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The way that was chosen is shown, and turns with the newest first, but not all of them."""
    await agent.runtime_data.warmth.async_warm("agent")
    await house.ask("What is in the kitchen?", "kitchen")
    (given,) = (await async_get_config_entry_diagnostics(house.hass, agent))["agents"]
    assert given["prefix"]["way"] == {"way": "chat", "chosen_for": "0.35.1"}
    assert given["prefix"]["last_warm_up"]["verdict"] == "warm"
    assert given["prefix"]["contexts"] >= 3
    assert [turn["occasion"] for turn in given["turns"]] == ["question", "warm_up", "warm_up"]
    assert "kitchen" not in json.dumps(given).lower()
    for _ in range(60):
        async_log_turn(house.hass, "agent", Cause.QUESTION, turn())
    (given,) = (await async_get_config_entry_diagnostics(house.hass, agent))["agents"]
    assert len(given["turns"]) == 50


async def test_a_server_that_never_answered(house: House) -> None:
    """There is something to show without it: the options, and that nothing is known."""
    entry = await house.set_up(add_server(house.hass, NOWHERE))
    given = await async_get_config_entry_diagnostics(house.hass, entry)
    assert given["entry"]["state"] == "setup_retry"
    assert given["server"] is None
    (agent,) = given["agents"]
    assert (agent["prefix"], agent["turns"]) == (None, [])
    assert agent["options"]["prompt"] == "**REDACTED**"
    assert agent["options"]["model"] == "tiny"
