"""Who is shown which words of the prompt changed: administrators who are known, no one else."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
import itertools
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    CLIENT_ID,
    MockUser,
)
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    ClientSessionGenerator,
    WebSocketGenerator,
)

from custom_components.ollama_warm.const import DOMAIN
from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL, POLICY_READ
from homeassistant.components.assist_pipeline.pipeline import (
    Pipeline,
    PipelineInput,
    PipelineRun,
    PipelineStage,
    async_get_pipeline,
    async_update_pipeline,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import Context, Event, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.chat_session import async_get_chat_session
from homeassistant.setup import async_setup_component

from .support.house import AGENT, House

CANARIES = ("Xylophone", "zeppelin_party")
"""In the name of a light that is hidden, and in that of a script that comes."""
EVERYTHING = {"entities": {"all": {POLICY_READ: True, POLICY_CONTROL: True}}}


@dataclass
class Scene:
    """A house in which the prompt has just changed, and how to get at it."""

    house: House
    user_id: str | None
    token: str | None
    ws: WebSocketGenerator
    http: ClientSessionGenerator

    @property
    def hass(self) -> HomeAssistant:
        """Return Home Assistant."""
        return self.house.hass

    @property
    def context(self) -> Context:
        """Return a new context of the person."""
        return Context(user_id=self.user_id)

    async def command(self, **message: object) -> Any:  # noqa: ANN401 - any JSON
        """Return all that a WebSocket sends until a command of the person is through."""
        client = await self.ws(self.hass, self.token)
        await client.send_json_auto_id(message)
        heard = [await client.receive_json()]
        while message["type"] == "assist_pipeline/run" and heard[-1].get("success", True):
            heard.append(await client.receive_json())
            if heard[-1].get("event", {}).get("type") in ("run-end", "error"):
                break
        return heard

    async def act(self, domain: str, action: str, **data: object) -> Any:  # noqa: ANN401 - any JSON
        """Return the answer of an action, or what was said instead."""
        try:
            return await self.hass.services.async_call(
                domain, action, data, blocking=True, return_response=True, context=self.context
            )
        except HomeAssistantError as err:
            return repr(err)


type Surface = Callable[[Scene], Awaitable[Any]]
type Kind = Callable[[HomeAssistant], Awaitable[str | None]]


async def _asked(scene: Scene) -> Any:  # noqa: ANN401 - any JSON
    """Ask as another integration does."""
    return (await scene.house.ask("hello", context=scene.context)).as_dict()


async def _warmed(scene: Scene) -> Any:  # noqa: ANN401 - any JSON
    """Warm as the warmer does."""
    reply = await scene.house.ask("1", context=scene.context, conversation_id="ollama_warm.x")
    return reply.as_dict()


async def _piped(scene: Scene) -> Any:  # noqa: ANN401 - any JSON
    """Run a pipeline as a voice satellite does."""
    events: list[Any] = []
    run = PipelineRun(
        scene.hass,
        context=scene.context,
        pipeline=Pipeline(AGENT, "en", "en", "Test", None, None, None, None, None, None, None),
        start_stage=PipelineStage.INTENT,
        end_stage=PipelineStage.INTENT,
        event_callback=events.append,
    )
    with async_get_chat_session(scene.hass) as session:
        steps = PipelineInput(run=run, session=session, intent_input="hello")
        await steps.validate()
        await steps.execute()
    assert "ollama_warm" in repr(events)
    return [event.data for event in events]


PROCESS: dict[str, Any] = {"text": "hello", "agent_id": AGENT}


async def _posted(scene: Scene) -> Any:  # noqa: ANN401 - any JSON
    """Ask over REST."""
    client = await scene.http(scene.token)
    answer = await client.post("/api/conversation/process", json=PROCESS)
    return await answer.json()


IN_PROCESS: dict[str, Surface] = {
    "a question": _asked,
    "a warm-up": _warmed,
    "a pipeline": _piped,
    "the action of conversations": lambda scene: scene.act("conversation", "process", **PROCESS),
    "a script that asks": lambda scene: scene.act("script", "asks"),
    "the action to warm": lambda scene: scene.act(DOMAIN, "warm", **{ATTR_ENTITY_ID: AGENT}),
}
OVER_NETWORK: dict[str, Surface] = {
    "a command that asks": lambda scene: scene.command(type="conversation/process", **PROCESS),
    "a command that warms": lambda scene: scene.command(
        type="conversation/process", conversation_id="ollama_warm.x", **PROCESS
    ),
    "a pipeline of the app": lambda scene: scene.command(
        type="assist_pipeline/run",
        start_stage="intent",
        end_stage="intent",
        input={"text": "hello"},
    ),
    "a command for turns": lambda scene: scene.command(type="ollama_warm/turns"),
    "a command for agents": lambda scene: scene.command(type="ollama_warm/agents"),
    "a command for the prefix": lambda scene: scene.command(
        type="ollama_warm/prefix", entity_id=AGENT
    ),
    "a command that explains": lambda scene: scene.command(
        type="call_service",
        domain=DOMAIN,
        service="explain",
        target={"entity_id": AGENT},
        return_response=True,
    ),
    "a command that runs a script that explains": lambda scene: scene.command(
        type="call_service", domain="script", service="explains", return_response=True
    ),
    "REST": _posted,
}
NEVER = {"the action to warm", "a command for agents"}
"""Where not even administrators find the words."""
ASKS_NOTHING = {"a command for turns", "a command that explains"}
SHOWS = {
    "a command for the prefix": "HassTurnOn",
    "a command that runs a script that explains": "HassTurnOn",
}
"""What is there to be seen, where that is the prompt as it is now and not what changed."""


def _user(*, owner: bool = False, active: bool = True, policy: object = None) -> Kind:
    """Return what adds a person: an administrator, or someone with a policy."""

    async def add(hass: HomeAssistant) -> str:
        user = MockUser(name="Ada", is_owner=owner, is_active=active)
        user.add_to_hass(hass)
        if policy is None:
            user.groups = [await hass.auth.async_get_group("system-admin")]
        elif policy:
            user.mock_policy(policy)
        else:
            user.groups = [await hass.auth.async_get_group("system-users")]
        user_id: str = user.id
        return user_id

    return add


async def _no_one(_hass: HomeAssistant) -> None:
    """No one is known where a satellite or an automation asks."""


async def _gone(_hass: HomeAssistant) -> str:
    """Return the id of a user that there is not."""
    return "gone"


WHO: dict[str, Kind] = {
    "an administrator": _user(),
    "the owner": _user(owner=True),
    "an ordinary user": _user(policy={}),
    "a user who may see and do everything": _user(policy=EVERYTHING),
    "no longer an administrator": _user(active=False),
    "no one": _no_one,
    "a user who is gone": _gone,
}
ADMINISTRATORS = {"an administrator", "the owner"}
CONNECT = ADMINISTRATORS | {"an ordinary user", "a user who may see and do everything"}
CASES = [
    *itertools.product(IN_PROCESS, WHO),
    *((surface, who) for surface in OVER_NETWORK for who in WHO if who in CONNECT),
]


@pytest.fixture
async def changed(house: House, agent: ConfigEntry) -> House:
    """Return a house with a light that is exposed, and scripts that ask and explain."""
    hass = house.hass
    for component in ("assist_pipeline", "http"):
        assert await async_setup_component(hass, component, {})
    await async_update_pipeline(hass, async_get_pipeline(hass), conversation_engine=AGENT)
    scripts = {
        "asks": _script("conversation.process", PROCESS),
        "explains": _script("ollama_warm.explain", {"entity_id": AGENT}),
        CANARIES[1]: {"description": "Shines", "sequence": []},
    }
    assert await async_setup_component(hass, "script", {"script": scripts})
    hass.states.async_set("light.canary", "on", {"friendly_name": CANARIES[0]})
    house.expose("light.canary")
    house.expose(f"script.{CANARIES[1]}", exposed=False)
    await house.ask("hello")
    return house


def _script(action: str, data: object) -> dict[str, Any]:
    """Return a script that answers with what an action answers."""
    steps: list[dict[str, Any]] = [
        {"action": action, "data": data, "response_variable": "answer"},
        {"stop": "Done", "response_variable": "answer"},
    ]
    return {"sequence": steps}


@pytest.fixture
def scene(
    changed: House, hass_ws_client: WebSocketGenerator, hass_client: ClientSessionGenerator
) -> Scene:
    """Return the house with no one at its door."""
    return Scene(changed, None, None, hass_ws_client, hass_client)


@pytest.mark.parametrize(("surface", "who"), CASES)
async def test_who_reads_what_changed(
    scene: Scene, caplog: pytest.LogCaptureFixture, surface: str, who: str
) -> None:
    """A word of the prompt is in no answer but a known administrator's, and in no log or event.

    That is so for a light that was hidden and for a script that came.
    """
    hass, house = scene.hass, scene.house
    scene.user_id = await WHO[who](hass)
    scene.token = await _token(hass, scene.user_id) if surface in OVER_NETWORK else None
    fired: list[Event[Any]] = []
    hass.bus.async_listen(f"{DOMAIN}_not_warmed", fired.append)
    may = who in ADMINISTRATORS and surface not in NEVER
    for canary in CANARIES:
        if canary == CANARIES[0]:
            house.expose("light.canary", exposed=False)
        else:
            house.expose(f"script.{canary}")
        if surface in ASKS_NOTHING:
            await house.ask("hello")
        answer = json.dumps(await (IN_PROCESS | OVER_NETWORK)[surface](scene), default=repr)
        assert ((SHOWS.get(surface) or canary) in answer) == may, answer
        ours = [r.getMessage() for r in caplog.records if "ollama_warm" in r.name]
        states = [hass.states.async_all(d) for d in ("sensor", "binary_sensor", "conversation")]
        assert canary not in f"{ours} {fired} {states}"


async def _token(hass: HomeAssistant, user_id: str | None) -> str:
    """Return what a person signs in with."""
    assert user_id
    user = await hass.auth.async_get_user(user_id)
    assert isinstance(user, User)
    refresh = await hass.auth.async_create_refresh_token(user, CLIENT_ID)
    return hass.auth.async_create_access_token(refresh)
