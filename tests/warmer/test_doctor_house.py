"""What the doctor says of Home Assistant, with a small house in front of it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ollama_warmer.config.addresses import leaves_unencrypted
from ollama_warmer.config.config import Config, HomeAssistantConfig, Target
from ollama_warmer.doctor.examine import examine
from ollama_warmer.doctor.findings import Finding, Level
from ollama_warmer.doctor.setup import Setup
from tests.warmer.support.house import AGENT, KITCHEN, TOKEN, House
from tests.warmer.test_discover import BUILT_IN, ENTITIES, Lived, entity, refuse

Look = Callable[..., Awaitable[dict[str, Finding]]]

# No one looks at a model server here.
ELSEWHERE = {"ollama", "log", "measurement", "window", "new_conversation"}


def target(name: str, device: str | None = None, agent: str = AGENT) -> Target:
    """Return a target."""
    return Target(name=name, agent=agent, device=device, text="1?", confirm_text="{number}?")


@pytest.fixture
def lived(house: House) -> Lived:
    """Return the means to furnish a house in which the kitchen talks to the agent."""
    lived = Lived(house)
    lived.satellite("kitchen", "preferred", device=KITCHEN)
    tell(house)
    return lived


def tell(house: House, version: object = "2026.11.0", *, administrator: object = False) -> None:
    """Let the house tell its version, and who the token's user is."""
    house.overrides |= {
        "get_config": lambda _: {"state": "RUNNING", "language": "de", "version": version},
        "auth/current_user": lambda _: {"id": "1", "name": "warmer", "is_admin": administrator},
    }


@pytest.fixture
def look(house: House, lived: Lived) -> Look:
    """Return a way to have the house looked at; findings by their ids."""

    async def look_at_it(
        *targets: Target, url: str = "", token: str = TOKEN, token_file: Path | None = None
    ) -> dict[str, Finding]:
        config = Config(
            home_assistant=HomeAssistantConfig(url=url or house.url),
            targets=targets or (target("app"), target("kitchen", KITCHEN)),
        )
        setup = Setup(config=config, token_file=token_file)
        findings = await examine(setup, {"HA_TOKEN": token}, lambda _: None)
        assert len({it.id for it in findings}) == len(findings)
        assert all(TOKEN not in f"{it.words} {it.advice}" for it in findings)
        return {it.id: it for it in findings if it.id not in ELSEWHERE}

    return look_at_it


def wrong(findings: dict[str, Finding]) -> dict[str, Level]:
    """Return what is not ok."""
    return {name: it.level for name, it in findings.items() if it.level is not Level.OK}


async def test_all_is_well(look: Look) -> None:
    """Everything is told, and right."""
    findings = await look()
    assert wrong(findings) == {}
    assert findings["satellites"].words == (f'which agent satellites talk to: {AGENT}: "kitchen"')


@pytest.mark.parametrize(
    ("version", "level"),
    [
        ("2026.10.4", Level.OK),
        ("2026.9.3", Level.ADVICE),
        ("2025.2.0", Level.ADVICE),
        ("2026.12.0b1", Level.UNKNOWN),
        ("2027.1.0", Level.UNKNOWN),
        (None, Level.UNKNOWN),
        ("dev", Level.UNKNOWN),
    ],
)
async def test_versions(house: House, look: Look, version: str | None, level: Level) -> None:
    """Two releases are tested; an older one may be worse, a newer one is not known."""
    tell(house, version)
    assert (await look())["home_assistant_version"].level is level


@pytest.mark.parametrize(
    ("administrator", "level"),
    [(False, Level.OK), (True, Level.ADVICE), (None, Level.UNKNOWN), ("yes", Level.UNKNOWN)],
)
async def test_the_tokens_user(
    house: House, look: Look, administrator: object, level: Level
) -> None:
    """An administrator is more than a warmer needs."""
    tell(house, administrator=administrator)
    assert (await look())["administrator"].level is level


async def test_what_the_configuration_names_and_the_house_lacks(look: Look) -> None:
    """An agent and a device that are gone."""
    findings = await look(target("app", agent="conversation.gone"), target("attic", "gone"))
    assert wrong(findings) == {
        "agents": Level.PROBLEM,
        "devices": Level.PROBLEM,
        "satellites_left_out": Level.ADVICE,
    }
    assert '"conversation.gone"' in findings["agents"].words
    assert '"attic"' in findings["devices"].words


async def test_an_agent_without_a_model(look: Look) -> None:
    """Home Assistant's own one has no prompt: a problem, with those that could take its place."""
    findings = await look(target("app", agent=BUILT_IN))
    assert wrong(findings) == {"agents": Level.PROBLEM}
    assert str(findings["agents"].advice).endswith(f': there are "{AGENT}"')


async def test_a_house_without_a_model(house: House, look: Look) -> None:
    """What is missing is said, whether or not the agents are told."""
    house.agents.remove(AGENT)
    advice = (await look(target("app", agent=BUILT_IN)))["agents"].advice
    assert str(advice).startswith("Add an agent that asks a model first")
    house.overrides["conversation/agent/list"] = refuse()
    assert wrong(await look(target("app", agent=BUILT_IN)))["agents"] is Level.PROBLEM


async def test_a_satellite_on_another_agent(lived: Lived, look: Look) -> None:
    """Its target warms what no one uses."""
    lived.states[-1]["state"] = "Plain"
    findings = await look()
    assert wrong(findings) == {"satellite_agent": Level.PROBLEM}
    assert findings["satellite_agent"].words.endswith(f": kitchen ({BUILT_IN})")


async def test_a_satellite_that_is_switched_off(lived: Lived, look: Look) -> None:
    """Its select has no state, and no one guesses."""
    lived.states[-1]["state"] = "unavailable"
    assert wrong(await look()) == {"satellites": Level.UNKNOWN, "satellite_agent": Level.UNKNOWN}


async def test_a_satellite_without_a_target(lived: Lived, look: Look) -> None:
    """Core's agent has a prompt for each room."""
    lived.satellite("bath", "Home")
    findings = await look()
    assert wrong(findings) == {"satellites_left_out": Level.ADVICE}
    assert findings["satellites_left_out"].words.endswith(': "bath"')


async def test_our_agent_needs_one_target(lived: Lived, look: Look) -> None:
    """It sends every room the same prompt."""
    lived.entities.append(entity(AGENT, None, platform="ollama_warm"))
    assert wrong(await look(target("app"))) == {}


async def test_no_satellites(house: House, lived: Lived, look: Look) -> None:
    """A house with the app alone."""
    lived.entities.clear()
    lived.states.clear()
    findings = await look(target("app"))
    assert wrong(findings) == {}
    assert "satellite_agent" not in findings


async def test_what_is_not_told_is_unknown(house: House, look: Look) -> None:
    """A right that is missing is named."""
    house.overrides |= {ENTITIES: refuse(), "auth/current_user": refuse("unknown_command")}
    house.overrides["conversation/agent/list"] = refuse()
    findings = await look()
    assert {name for name, it in findings.items() if it.level is Level.UNKNOWN} >= {
        "administrator",
        "agents",
        "rights_1",
        "rights_2",
    }
    assert "would have to be an administrator" in findings["rights_1"].words


async def test_a_wrong_token(look: Look) -> None:
    """The way in is a problem, and nothing else is said."""
    findings = await look(token="another.token.of-nobody")
    assert wrong(findings) == {"home_assistant": Level.PROBLEM}
    assert str(findings["home_assistant"].advice).startswith("It may be wrong, expired or deleted")


async def test_no_token(look: Look) -> None:
    """Without one no one is asked."""
    findings = await look(token="")
    assert wrong(findings) == {"token": Level.PROBLEM}


async def test_a_token_file_that_others_can_read(look: Look, tmp_path: Path) -> None:
    """It is refused, with what to do."""
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    findings = await look(token_file=file)
    assert wrong(findings) == {"token": Level.PROBLEM}
    assert "chmod 600" in findings["token"].words


async def test_a_house_that_is_still_starting(
    house: House, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor does not wait for minutes."""
    monkeypatch.setattr("ollama_warmer.doctor.house._START_TIMEOUT", 0.05)
    house.overrides["get_config"] = lambda _: {"state": "STARTING"}
    findings = await look()
    assert wrong(findings) == {"home_assistant": Level.PROBLEM}
    assert "has not finished starting" in findings["home_assistant"].words


async def test_plain_http_to_another_machine(look: Look) -> None:
    """The token could be read, whether or not anyone answers there."""
    findings = await look(url="http://192.0.2.1.invalid:8123")
    assert findings["encryption"].level is Level.ADVICE


@pytest.mark.parametrize(
    ("url", "readable"),
    [
        ("https://house:8123", False),
        ("http://localhost:8123", False),
        ("http://127.0.0.1:8123", False),
        ("http://[::1]:8123", False),
        ("http://house.local:8123", True),
        ("http://192.168.1.2:8123", True),
    ],
)
def test_addresses(url: str, readable: bool) -> None:  # noqa: FBT001 - a column of a table
    """What stays on this machine is read by no one."""
    assert leaves_unencrypted(url) is readable
