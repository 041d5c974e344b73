"""The actions: warm, and explain."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import probatio
import pytest
from pytest_homeassistant_custom_component.common import MockUser  # type: ignore[import-untyped]

from custom_components.ollama_warm.agent.explanation import marked
from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.prefix import segments
from custom_components.ollama_warm.prefix.layout import PrefixLayout
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
    UnknownUser,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.helpers.service import async_get_all_descriptions

from .support.house import AGENT, House, add_server, later
from .support.issues import add_agent
from .support.sentences import sentence
from .support.server import Ollama
from .support.warmed import turn, watched

COUNTS = {"prompt_tokens", "cached_tokens", "re_read_tokens", "prefill_s", "load_s", "total_s"}
TURN_KEYS = COUNTS | {"verdict", "reason", "node"}


async def act(
    hass: HomeAssistant,
    action: str,
    target: dict[str, Any] | None = None,
    user_id: str | None = None,
    **data: object,
) -> dict[str, Any]:
    """Run an action, and return its response."""
    response = await hass.services.async_call(
        DOMAIN,
        action,
        data,
        blocking=True,
        context=Context(user_id=user_id),
        target=target or {"entity_id": AGENT},
        return_response=True,
    )
    assert response is not None
    return dict(response)


def prompt(response: dict[str, Any], mark: str) -> str:
    """Return the text of the pieces with a mark."""
    pieces = response[AGENT]["prompt"]
    return "\n".join(piece["text"] for piece in pieces if piece["mark"] == mark)


async def test_warm(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """An agent is warmed, and the answer holds the counts of the turn that confirms it."""
    response = await act(house.hass, "warm")
    assert set(response) == {AGENT}
    assert set(response[AGENT]) == TURN_KEYS
    assert (response[AGENT]["verdict"], response[AGENT]["reason"]) == ("warm", None)
    assert response[AGENT]["cached_tokens"] == ollama.records[-1].cached_tokens
    _, turn = agent.runtime_data.warmth.outcomes.last["agent"]
    assert response[AGENT]["total_s"] == turn.total_s


async def test_warm_without_an_answer(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """No one has to want the counts."""
    await house.hass.services.async_call(DOMAIN, "warm", {"entity_id": AGENT}, blocking=True)
    assert ollama.records


async def test_nothing_is_quoted(house: House, agent: ConfigEntry) -> None:
    """Whoever warms an agent learns that the prompt changed, not what stands in it."""
    changed = turn(Verdict.PROMPT_CHANGED, Reason.SEGMENT_CHANGED)
    with watched() as watch:
        watch.warm_up.return_value = replace(changed, detail="- names: Safe\n  state: open")
        response = await act(house.hass, "warm")
    assert response[AGENT]["verdict"] == "prompt_changed"
    assert response[AGENT]["reason"] == "segment_changed"


@pytest.mark.parametrize("way", ["entity", "device", "area", "label", "all"])
@pytest.mark.parametrize("action", ["warm", "explain"])
async def test_targets(house: House, agent: ConfigEntry, action: str, way: str) -> None:
    """An agent is found by its entity or device, and where it is put; nothing else is there."""
    entity = er.async_get(house.hass).async_get(AGENT)
    kitchen = ar.async_get(house.hass).async_get_area_by_name("Kitchen")
    label = lr.async_get(house.hass).async_create("Voice")
    assert entity is not None
    assert entity.device_id is not None
    assert kitchen is not None
    dr.async_get(house.hass).async_update_device(
        entity.device_id, area_id=kitchen.id, labels={label.label_id}
    )
    target: dict[str, dict[str, Any]] = {
        "entity": {"entity_id": [AGENT]},
        "device": {"device_id": entity.device_id},
        "area": {"area_id": kitchen.id},
        "label": {"label_id": label.label_id},
        "all": {"entity_id": "all"},
    }
    assert set(await act(house.hass, action, target[way])) == {AGENT}


WRONG = {
    "foreign entity": ({"entity_id": "light.ceiling"}, "not_an_agent"),
    "no such entity": ({"entity_id": "conversation.no_one"}, "not_an_agent"),
    "none": ({"entity_id": "none"}, "no_agents"),
    "an empty room": ({"area_id": "attic"}, "no_agents"),
}


@pytest.mark.parametrize(("target", "key"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("action", ["warm", "explain"])
async def test_wrong_targets(
    house: House, agent: ConfigEntry, action: str, target: dict[str, str], key: str
) -> None:
    """What is no agent of ours is said so, in a sentence of ours."""
    with pytest.raises(ServiceValidationError) as error:
        await act(house.hass, action, target)
    assert error.value.translation_key == key
    placeholders = error.value.translation_placeholders
    assert str(error.value) + "." == await sentence(
        house.hass, "exceptions", f"{key}.message", placeholders
    )
    for language in ("en", "fr"):
        text = await sentence(
            house.hass, "exceptions", f"{key}.message", placeholders, language=language
        )
        assert target.get("entity_id", "") in text or key == "no_agents"


@pytest.mark.parametrize("action", ["warm", "explain"])
async def test_an_agent_that_is_not_set_up(house: House, agent: ConfigEntry, action: str) -> None:
    """An agent whose server is not set up cannot be warmed, and the actions are still there."""
    await house.hass.config_entries.async_unload(agent.entry_id)
    with pytest.raises(ServiceValidationError) as error:
        await act(house.hass, action)
    assert error.value.translation_key == "agent_not_loaded"
    assert error.value.translation_placeholders == {"entity_id": AGENT}
    await house.set_up(agent)
    assert set(await act(house.hass, action)) == {AGENT}


async def test_an_agent_that_has_just_been_added(house: House, agent: ConfigEntry) -> None:
    """Until its server was set up again, an agent is left out."""
    er.async_get(house.hass).async_get_or_create("conversation", DOMAIN, "new")
    async with agent.setup_lock:
        add_agent(house.hass, agent, "new")
        assert set(await act(house.hass, "warm", {"entity_id": "all"})) == {AGENT}
    await house.hass.async_block_till_done()
    assert len(await act(house.hass, "warm", {"entity_id": "all"})) == 2


async def test_the_server_is_down(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A server that does not answer is named; the next attempt works."""
    await ollama.run(ollama.stand_in.stop())
    with pytest.raises(HomeAssistantError) as error:
        await act(house.hass, "warm")
    await ollama.run(ollama.stand_in.start())
    assert error.value.translation_key == "cannot_connect"
    assert error.value.translation_placeholders == {"url": ollama.url}
    assert (await act(house.hass, "warm"))[AGENT]["verdict"] == "warm"


async def test_one_of_two_fails(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """An agent that cannot be warmed keeps no other from it, and the error is reported."""
    add_agent(house.hass, agent, "another", model="gone")
    await house.hass.async_block_till_done()
    with pytest.raises(HomeAssistantError) as error:
        await act(house.hass, "warm", {"entity_id": ["conversation.another", AGENT]})
    assert error.value.translation_key == "model_not_found"
    assert set(agent.runtime_data.warmth.outcomes.last) == {"agent"}


@pytest.mark.parametrize("action", ["warm", "explain"])
async def test_no_prompt(house: House, ollama: Ollama, action: str) -> None:
    """Instructions that are no template are said so in a sentence, with Home Assistant's words."""
    await house.set_up(add_server(house.hass, ollama.url, prompt="It is {{ now( }}"))
    with pytest.raises(HomeAssistantError) as error:
        await act(house.hass, action)
    assert error.value.translation_key == "prompt_cannot_be_built"
    assert (error.value.translation_placeholders or {})["entity_id"] == AGENT


async def test_who_may_warm(house: House, agent: ConfigEntry) -> None:
    """Whoever may control an agent may warm it."""
    hass = house.hass
    guest, person = (MockUser().add_to_hass(hass) for _ in range(2))
    person.mock_policy({"entities": {"entity_ids": {AGENT: {POLICY_CONTROL: True}}}})
    guest.mock_policy({})
    assert set(await act(hass, "warm", user_id=person.id)) == {AGENT}
    with pytest.raises(Unauthorized) as error:
        await act(hass, "warm", user_id=guest.id)
    assert (error.value.entity_id, error.value.permission) == (AGENT, POLICY_CONTROL)
    with pytest.raises(UnknownUser):
        await act(hass, "warm", user_id="no_one")


async def test_who_may_see_the_prompt(house: House, agent: ConfigEntry) -> None:
    """The prompt is for administrators and automations only."""
    hass = house.hass
    admin = MockUser(is_owner=True).add_to_hass(hass)
    person = MockUser().add_to_hass(hass)
    person.mock_policy({"entities": True})
    for user_id in (None, admin.id):
        assert "Bedside" in prompt(await act(hass, "explain", user_id=user_id), "stable")
    with pytest.raises(Unauthorized):
        await act(hass, "explain", user_id=person.id)


async def test_explain(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The last turns with their reasons, and each piece of the prompt with its mark."""
    await house.ask("hello", "kitchen")
    await house.ask("hello", "bedroom")
    await house.ask("ping", conversation_id="ollama_warm.x")
    before = agent.runtime_data.agents["agent"].prompts.prefix.as_dict()
    app = await act(house.hass, "explain")
    kitchen = await act(house.hass, "explain", device=house.satellites["kitchen"])
    turns = app[AGENT]["turns"]
    assert [logged["occasion"] for logged in turns] == ["question", "question", "warm_up"]
    assert set(turns[0]) == TURN_KEYS | {"ended", "occasion"}
    assert turns[0]["reason"] == "first_prompt"
    sent = ollama.body["messages"][0]["content"]
    assert prompt(app, "stable").split() == prompt(kitchen, "stable").split() == sent.split()
    assert "Kitchen" in prompt(kitchen, "tail")
    assert "Kitchen" not in prompt(app, "tail")
    assert not prompt(app, "moving")
    assert "intent__HassTurnOn" in app[AGENT]["tools"]
    assert "HassStartTimer" in " ".join(kitchen[AGENT]["tools"])
    assert "HassStartTimer" not in " ".join(app[AGENT]["tools"])
    assert agent.runtime_data.agents["agent"].prompts.prefix.as_dict() == before


async def test_what_changed_is_quoted(house: House, agent: ConfigEntry) -> None:
    """An administrator sees what it was that changed."""
    await house.ask("hello", "kitchen")
    house.expose("light.bedside", exposed=False)
    await house.ask("hello", "kitchen")
    (last,) = (await act(house.hass, "explain", turns=1))[AGENT]["turns"]
    assert last["verdict"] == "prompt_changed"
    assert last["reason"].startswith("segment_changed: - names: Bedside")


async def test_how_many_turns(house: House, agent: ConfigEntry) -> None:
    """As many turns as were wanted, ten where no one said."""
    for _ in range(12):
        await house.ask("hello")
    assert len((await act(house.hass, "explain"))[AGENT]["turns"]) == 10
    for wanted, expected in ((3, 3), (0, 0), (500, 12)):
        response = await act(house.hass, "explain", turns=wanted)
        assert len(response[AGENT]["turns"]) == expected
    for wrong in (-1, 501, "many"):
        with pytest.raises(probatio.Invalid):
            await act(house.hass, "explain", turns=wrong)


async def test_an_unknown_device(house: House, agent: ConfigEntry) -> None:
    """A device that is not there is said so."""
    with pytest.raises(ServiceValidationError) as error:
        await act(house.hass, "explain", device="nothing")
    assert str(error.value) == "There is no device nothing"


async def test_a_prompt_that_moves(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A clock in the instructions is marked once it was seen to move."""
    clock = "You are a voice.\nIt is {{ now().strftime('%H:%M:%S') }}.\nBe brief."
    await house.set_up(add_server(house.hass, ollama.url, prompt=clock))
    assert "It is" in prompt(await act(house.hass, "explain"), "stable")
    for _ in range(3):
        await house.ask("hello")
        await later(house.hass, freezer, 1)
    response = await act(house.hass, "explain")
    assert prompt(response, "moving").startswith("It is ")
    assert "Be brief." in prompt(response, "stable")


async def test_without_tools(house: House, ollama: Ollama) -> None:
    """An agent that may see nothing of the house has a prompt without tools."""
    await house.set_up(add_server(house.hass, ollama.url, llm_hass_api=None))
    response = await act(house.hass, "explain")
    assert response[AGENT]["tools"] == []


def test_marks() -> None:
    """Each segment has one mark, and together they are the text."""
    layout = PrefixLayout()
    for at in range(3):
        layout.rebase([["a", f"at {at}", "c", "e", f"at {at}"]])
    taught = deepcopy(layout)
    pieces = marked(layout, "a\nnew\nat 7\nc\ne\nat 8\n- item")
    assert [(piece.mark.value, piece.text) for piece in pieces] == [
        ("stable", "a"),
        ("tail", "new"),
        ("moving", "at 7"),
        ("stable", "c\ne"),
        ("moving", "at 8"),
        ("tail", "- item"),
    ]
    assert layout == taught
    (whole,) = marked(PrefixLayout(), "a\nb")
    assert (whole.mark.value, whole.text) == ("stable", segments.join(["a", "b"]))


async def test_descriptions(house: House, agent: ConfigEntry) -> None:
    """The actions are described with their fields, and in French, too."""
    described = (await async_get_all_descriptions(house.hass))[DOMAIN]
    assert set(described) == {"warm", "explain"}
    assert described["warm"]["response"] == {"optional": True}
    assert described["explain"]["response"] == {"optional": False}
    assert set(described["explain"]["fields"]) == {"device", "turns"}
    for action in described.values():
        (filters,) = action["target"]["entity"]
        assert filters == {"integration": DOMAIN, "domain": ["conversation"]}
    assert await sentence(house.hass, "services", "warm.name", language="fr") == "Préchauffer"
