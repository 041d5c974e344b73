"""APIs that answer administrators only, or no one: warmed with the right rights, or reported."""

from collections.abc import Collection
from typing import Any, override

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockUser,
)

from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.warming.warmth import COOLDOWN_S
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, Unauthorized
from homeassistant.helpers import llm

from .support.house import AGENT, House, add_server, later, speech, turns
from .support.issues import issues
from .support.people import PersonsTool, tools_of
from .support.sentences import sentence
from .support.server import Ollama

API_ID = "management"
TOOL = "people__ManageSecretly"
LOCKED = {"unauthorized": Unauthorized(), "another error": HomeAssistantError("Not for you")}


class Management(llm.API):
    """Answers only some, as Home Assistant's own API of that kind does from 2026.11 on."""

    def __init__(self, hass: HomeAssistant, refusal: HomeAssistantError) -> None:
        """Answer no one yet."""
        super().__init__(hass=hass, id=API_ID, name="Management")
        self.refusal = refusal
        self.users: Collection[str | None] = ()
        llm.async_register_api(hass, self)

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return a tool, or refuse."""
        if not llm_context.context or llm_context.context.user_id not in self.users:
            raise self.refusal
        tools: list[llm.Tool] = [PersonsTool(TOOL, "Manages")]
        return llm.APIInstance(api=self, api_prompt="", llm_context=llm_context, tools=tools)


def add_user(hass: HomeAssistant, name: str, *, is_owner: bool) -> str:
    """Add a person, the owner or an ordinary one, and return their id."""
    user = MockUser(name=name, is_owner=is_owner)
    user.add_to_hass(hass)
    return str(user.id)


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the errors in the log, whosever they are."""
    return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


@pytest.fixture(params=list(LOCKED.values()), ids=list(LOCKED))
def locked(
    house: House, freezer: FrozenDateTimeFactory, request: pytest.FixtureRequest
) -> Management:
    """Return an API that refuses in one of the ways there are; without a clock, time stands."""
    return Management(house.hass, request.param)


@pytest.mark.parametrize("apis", [[API_ID], ["assist", API_ID]], ids=["alone", "with Assist"])
async def test_warmed_for_administrators(
    house: House,
    ollama: Ollama,
    caplog: pytest.LogCaptureFixture,
    locked: Management,
    apis: list[str],
) -> None:
    """The owner's rights warm it without an error, and the owner's next question is warm."""
    hass = house.hass
    owner = add_user(hass, "Olga", is_owner=True)
    locked.users = {owner}
    prompt = "You are brief.{% if user_name %}\nYou speak with {{ user_name }}.{% endif %}"
    await house.set_up(add_server(hass, ollama.url, llm_hass_api=apis, prompt=prompt))
    for _ in range(2):
        await hass.services.async_call(DOMAIN, "warm", {"entity_id": AGENT}, blocking=True)
    await house.ask("ping", conversation_id="ollama_warm.x")
    assert not errors(caplog)
    assert not issues(hass)
    context = Context(user_id=owner)
    for _ in range(2):
        (turn,) = turns(await house.ask("hello", context=context))
        assert turn["verdict"] == "warm"
    assert any(TOOL in name for name in tools_of(ollama.body))


async def test_no_one_else_is_shown_them(
    house: House, ollama: Ollama, caplog: pytest.LogCaptureFixture, locked: Management
) -> None:
    """What the owner's rights have shown is kept for no one, and an ordinary person is refused."""
    hass = house.hass
    locked.users = {add_user(hass, "Olga", is_owner=True)}
    entry = await house.set_up(add_server(hass, ollama.url, llm_hass_api=["assist", API_ID]))
    await hass.services.async_call(DOMAIN, "warm", {"entity_id": AGENT}, blocking=True)
    prefix = entry.runtime_data.agents["agent"].prompts.prefix
    assert not prefix.tools.wire()
    asked = len(ollama.records)
    context = Context(user_id=add_user(hass, "Gus", is_owner=False))
    result = await house.ask("hello", context=context)
    assert speech(result) == "Error preparing LLM API"
    assert len(ollama.records) == asked


async def test_refused_to_everyone(
    house: House,
    ollama: Ollama,
    caplog: pytest.LogCaptureFixture,
    freezer: FrozenDateTimeFactory,
    locked: Management,
) -> None:
    """The action, one line in the log and a repair say so in a sentence, and no error does."""
    hass = house.hass
    owner = add_user(hass, "Olga", is_owner=True)
    await house.set_up(add_server(hass, ollama.url, llm_hass_api=[API_ID], auto_warm=True))
    for _ in range(2):
        house.expose("light.porch")
        await later(hass, freezer, COOLDOWN_S)
        house.expose("light.porch", exposed=False)
        await later(hass, freezer, COOLDOWN_S)
    with pytest.raises(HomeAssistantError) as caught:
        await hass.services.async_call(DOMAIN, "warm", {"entity_id": AGENT}, blocking=True)
    said = await sentence(hass, "exceptions", "api_refused.message", {"entity_id": AGENT})
    # Home Assistant leaves the full stop out here.
    said = said.rstrip(".")
    assert str(caught.value) == said
    warnings = [
        r.getMessage() for r in caplog.records if r.levelname == "WARNING" and DOMAIN in r.name
    ]
    assert [line for line in warnings if "could not be warmed" in line] == [
        f"{AGENT} could not be warmed: {said}"
    ]
    assert not errors(caplog)
    await hass.async_block_till_done()
    assert set(issues(hass)) == {"api_refused"}
    locked.users = {owner}
    await hass.services.async_call(DOMAIN, "warm", {"entity_id": AGENT}, blocking=True)
    await hass.async_block_till_done()
    assert not issues(hass)


@pytest.mark.parametrize("data", [{"llm_hass_api": [API_ID]}, {"llm_hass_api": ["assist", API_ID]}])
async def test_explained(
    house: House,
    ollama: Ollama,
    caplog: pytest.LogCaptureFixture,
    locked: Management,
    data: Any,  # noqa: ANN401
) -> None:
    """An administrator may see the prompt as it is for administrators."""
    hass = house.hass
    locked.users = {add_user(hass, "Olga", is_owner=True)}
    await house.set_up(add_server(hass, ollama.url, **data))
    answer: Any = await hass.services.async_call(
        DOMAIN, "explain", {"entity_id": AGENT}, blocking=True, return_response=True
    )
    assert any(TOOL in name for name in answer[AGENT]["tools"])
    assert not errors(caplog)
