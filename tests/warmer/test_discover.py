"""The configuration that `discover` writes, for a small house in front of it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
import re
import stat
import tomllib
from typing import Any

from click.testing import CliRunner, Result
from hypothesis import given, strategies as st
import pytest

from ollama_warmer.cli import main
from ollama_warmer.commands.shared import warn_of_http
from ollama_warmer.config.config import Target, load_config
from ollama_warmer.house.discover import Assistant, Discovered, Satellite
from ollama_warmer.house.discover_file import describe
from tests.warmer.conftest import Run
from tests.warmer.support.house import AGENT, KITCHEN, TOKEN, CommandError, House, Message

BUILT_IN = "conversation.home_assistant"
PIPELINES = "assist_pipeline/pipeline/list"
ENTITIES = "config/entity_registry/list"
DEVICES = "config/device_registry/list"

Discover = Callable[..., Awaitable[Result]]


def pipeline(name: str, agent: str, language: str = "en") -> Message:
    """Return an assistant as Home Assistant tells it."""
    return {
        "id": f"id-of-{name}",
        "name": name,
        "conversation_engine": agent,
        "conversation_language": language,
        "language": "nl",
    }


def entity(entity_id: str, device: str | None, **more: object) -> Message:
    """Return a row of the entity registry."""
    row = {"entity_id": entity_id, "device_id": device, "platform": "esphome", "name": None}
    return row | {"translation_key": None, "disabled_by": None, "area_id": None} | more


class Lived:
    """Puts assistants, satellites and rooms into a house."""

    def __init__(self, house: House) -> None:
        """Start with one assistant, which is the preferred one, and no satellite."""
        self.pipelines = [pipeline("Home", AGENT), pipeline("Plain", BUILT_IN)]
        self.preferred = "id-of-Home"
        self.entities: list[Message] = [entity("light.lamp", "device-of-a-lamp")]
        self.devices: list[Message] = []
        self.states: list[Message] = [{"entity_id": "light.lamp", "state": "on", "attributes": {}}]
        house.overrides |= {
            "get_config": lambda _: {"state": "RUNNING", "language": "de"},
            PIPELINES: lambda _: {
                "pipelines": self.pipelines,
                "preferred_pipeline": self.preferred,
            },
            ENTITIES: lambda _: self.entities,
            DEVICES: lambda _: self.devices,
            "config/area_registry/list": lambda _: [{"area_id": "ground", "name": "Ground"}],
            "get_states": lambda _: self.states,
        }

    def satellite(self, name: str, *choices: str | None, device: str | None = None) -> None:
        """Add a satellite whose selects say this."""
        device = device or f"device-of-{name}"
        self.devices.append({"id": device, "name": name, "area_id": "ground"})
        self.entities.append(entity(f"assist_satellite.{name}", device))
        self.states.append(
            {"entity_id": f"assist_satellite.{name}", "state": "idle", "attributes": {}}
        )
        for number, choice in enumerate(choices):
            key = "pipeline_n" if number else "pipeline"
            select = f"select.{name}_{number}"
            self.entities.append(entity(select, device, translation_key=key))
            if choice is not None:
                self.states.append({"entity_id": select, "state": choice, "attributes": {}})


@pytest.fixture
def lived(house: House) -> Lived:
    """Return the means to furnish the house."""
    return Lived(house)


@pytest.fixture
def discover() -> Discover:
    """Return a way to run the command against an address."""

    async def run_it(url: str, *options: str, token: str = TOKEN) -> Result:
        arguments = ["discover", "--url", url, *options]
        result = await asyncio.to_thread(
            CliRunner().invoke, main, arguments, env={"HA_TOKEN": token}
        )
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert token not in result.output
        return result

    return run_it


def targets(text: str, folder: Path) -> dict[str, Target]:
    """Return the targets of a configuration, read as `warm` reads it."""
    path = folder / "read.toml"
    path.write_text(text, encoding="utf-8")
    return {target.name: target for target in load_config(path).targets}


def refuse(kind: str = "unauthorized") -> Callable[[Message], object]:
    """Return a handler that refuses a command."""

    def handler(_: Message) -> object:
        raise CommandError(kind, "Unauthorized")

    return handler


async def test_a_target_for_each_satellite_of_the_agent(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """The preferred assistant's agent, its satellites, the app; others are named in a comment."""
    lived.satellite("kitchen", "preferred", device=KITCHEN)
    lived.satellite("bath", "Home")
    lived.satellite("office", "Plain")

    result = await discover(house.url)

    assert result.exit_code == 0
    found = targets(result.stdout, tmp_path)
    assert {name: target.device for name, target in found.items()} == {
        "app": None,
        "bath": "device-of-bath",
        "kitchen": KITCHEN,
    }
    assert {target.agent for target in found.values()} == {AGENT}
    assert load_config(tmp_path / "read.toml").home_assistant.url == house.url
    lines = result.stdout.splitlines()
    assert (
        '# kitchen (assist_satellite.kitchen, Ground): assistant "Home", the preferred one' in lines
    )
    assert '# bath (assist_satellite.bath, Ground): assistant "Home"' in lines
    assert (
        '#   office (assist_satellite.office, Ground): assistant "Plain", which talks to '
        f"{BUILT_IN}" in lines
    )
    assert result.stderr == (
        'Left out: office (assist_satellite.office, Ground): assistant "Plain", which talks to '
        f"{BUILT_IN}\nTargets: 3. Satellites left out: 1\n"
    )
    assert not house.questions


async def test_what_was_written_can_be_warmed(
    house: House, lived: Lived, discover: Discover, run: Run, tmp_path: Path
) -> None:
    """`warm` takes the targets as they were written."""
    lived.satellite("kitchen", "preferred", device=KITCHEN)
    output = tmp_path / "found.toml"

    assert (await discover(house.url, "--output", str(output))).exit_code == 0
    arguments = ["warm", "--config", str(output)]
    result = await asyncio.to_thread(CliRunner().invoke, main, arguments, env={"HA_TOKEN": TOKEN})

    assert result.exit_code == 0
    assert [message.get("device_id") for message in house.questions] == [None] * 2 + [KITCHEN] * 2


async def test_what_is_left_to_you(house: House, discover: Discover, tmp_path: Path) -> None:
    """The tables in comments are right as they stand."""
    result = await discover(house.url, "--agent", AGENT)
    path = tmp_path / "filled_in.toml"
    table = re.compile(r"^# (?=\[|source|url|model|num_ctx)", re.MULTILINE)
    path.write_text(table.sub("", result.stdout), encoding="utf-8")

    config = load_config(path)
    assert config.counts.source == "journald"
    assert config.ollama is not None
    assert config.ollama.num_ctx == 16_384


async def test_another_agent(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """`--agent` chooses; one that no assistant uses still has the app."""
    house.agents += ["conversation.other", "conversation.lonely"]
    lived.pipelines.append(pipeline("Other", "conversation.other"))
    lived.satellite("kitchen", "preferred")
    lived.satellite("office", "Other")

    other = await discover(house.url, "--agent", "conversation.other")
    lonely = await discover(house.url, "--agent", "conversation.lonely")

    assert set(targets(other.stdout, tmp_path)) == {"app", "office"}
    assert set(targets(lonely.stdout, tmp_path)) == {"app"}
    assert targets(lonely.stdout, tmp_path)["app"].language == "de"


async def test_agent_that_is_not_there(house: House, lived: Lived, discover: Discover) -> None:
    """A typing mistake is told with the agents that there are."""
    result = await discover(house.url, "--agent", "conversation.olama")

    assert result.exit_code == 2
    assert 'no conversation agent "conversation.olama". Name an agent that asks a model with ' in (
        result.stderr
    )
    assert f'there are "{AGENT}"' in result.stderr
    assert result.stdout == ""


async def test_languages(house: House, lived: Lived, discover: Discover, tmp_path: Path) -> None:
    """Each target speaks its assistant's language; an agent of all languages the pipeline's."""
    lived.pipelines += [pipeline("Deutsch", AGENT, "de"), pipeline("Any", AGENT, "*")]
    lived.satellite("bath", "Deutsch")
    lived.satellite("hall", "Any")
    lived.satellite("attic", "preferred")

    result = await discover(house.url)
    french = await discover(house.url, "--language", "fr")

    spoken = {name: it.language for name, it in targets(result.stdout, tmp_path).items()}
    assert spoken == {"app": "en", "bath": "de", "hall": "nl", "attic": "en"}
    assert {it.language for it in targets(french.stdout, tmp_path).values()} == {"fr"}


async def test_satellite_with_two_assistants(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """One of two wake words is enough; a satellite is left out if both lead elsewhere."""
    lived.satellite("one", "Plain", "Home")
    lived.satellite("none", "Plain", "Plain")

    result = await discover(house.url)

    assert set(targets(result.stdout, tmp_path)) == {"app", "one"}


async def test_satellites_that_tell_little(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """No select, one without a state, and one with a choice that is gone: the preferred one."""
    lived.satellite("bare")
    lived.satellite("silent", None)
    lived.satellite("lost", "unavailable")
    lived.satellite("gone", "An assistant of before")

    result = await discover(house.url)

    assert set(targets(result.stdout, tmp_path)) == {"app", "bare", "silent", "lost", "gone"}
    assert result.stdout.count("taken for granted as its select has no state now") == 2


async def test_satellites_that_have_no_target(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """Disabled ones and those without a device are left out, and said so."""
    lived.entities.append(entity("assist_satellite.old", "device", disabled_by="user"))
    lived.states.append(
        {
            "entity_id": "assist_satellite.loose",
            "state": "idle",
            "attributes": {"friendly_name": "Loose"},
        }
    )

    result = await discover(house.url)

    assert set(targets(result.stdout, tmp_path)) == {"app"}
    assert "#   old (assist_satellite.old): is disabled" in result.stdout
    assert "#   Loose (assist_satellite.loose): has no device that could be seen" in result.stdout


async def test_names_are_told_apart(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """Two devices of one name, and one that is called like the app."""
    for number in (1, 2):
        lived.satellite(f"app{number}", "preferred")
        lived.devices[-1]["name_by_user"] = "app"

    result = await discover(house.url)

    assert set(targets(result.stdout, tmp_path)) == {"app", "app 2", "app 3"}


async def test_agent_as_preferred_assistant(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """Home Assistant takes an agent for the preferred pipeline, too."""
    lived.preferred = AGENT
    lived.satellite("kitchen", "preferred")

    result = await discover(house.url)

    assert targets(result.stdout, tmp_path)["kitchen"].language == "de"


FRESH = [pipeline("Home", BUILT_IN)]


@pytest.mark.parametrize(
    ("pipelines", "preferred", "options"),
    [
        (FRESH, "id-of-Home", ()),
        # What pipelines of long ago call it.
        ([pipeline("Home", "homeassistant")], "id-of-Home", ()),
        # Home Assistant takes an agent for the preferred pipeline, too.
        (FRESH, BUILT_IN, ()),
        (FRESH, "id-of-Home", ("--agent", BUILT_IN)),
        ([pipeline("Home", AGENT)], "id-of-Home", ("--agent", BUILT_IN)),
        ([pipeline("Home", AGENT)], "id-of-Home", ("--agent", "homeassistant")),
        # An integration that was removed leaves its pipeline behind.
        ([pipeline("Home", "conversation.gone")], "id-of-Home", ()),
    ],
)
@pytest.mark.parametrize(
    "agents", [(BUILT_IN,), (AGENT, BUILT_IN), (AGENT, BUILT_IN, "conversation.a")]
)
async def test_an_agent_that_can_only_fail(  # noqa: PLR0913, PLR0917 - columns of two tables
    house: House,
    lived: Lived,
    discover: Discover,
    tmp_path: Path,
    pipelines: list[Message],
    preferred: str,
    options: tuple[str, ...],
    agents: tuple[str, ...],
) -> None:
    """Nothing is written for one that asks no model or is gone; those that could be are listed."""
    lived.pipelines, lived.preferred, house.agents = pipelines, preferred, list(agents)
    lived.satellite("kitchen", "preferred")
    output = tmp_path / "home.toml"

    for more in ((), ("--output", str(output), "--force")):
        result = await discover(house.url, *options, *more)

        assert result.exit_code == 2
        assert result.stdout == ""
        assert not output.exists()
        models = sorted(set(agents) - {BUILT_IN})
        told = ", ".join(f'"{agent}"' for agent in models)
        words = f"with --agent: there are {told}\n" if models else "Add an agent that asks a model"
        assert words in result.stderr
        if not options:
            assert 'The preferred assistant "' in result.stderr


@pytest.mark.parametrize("preferred", [None, "", "id-of-lost", 5])
@pytest.mark.parametrize("pipelines", [[], [pipeline("Plain", BUILT_IN)]])
async def test_nothing_is_preferred(
    house: House,
    lived: Lived,
    discover: Discover,
    pipelines: list[Message],
    preferred: object,
) -> None:
    """The only agent that asks a model is taken then; of two, one has to be named."""
    answer = {"pipelines": pipelines, "preferred_pipeline": preferred}
    house.overrides[PIPELINES] = lambda _: answer
    lived.satellite("kitchen", "preferred")
    house.agents = [AGENT, "homeassistant", BUILT_IN]

    result = await discover(house.url)

    assert result.exit_code == 0
    assert f'agent = "{AGENT}"' in result.stdout
    house.agents = ["conversation.a", "homeassistant", "conversation.b"]
    result = await discover(house.url)
    assert result.exit_code == 2
    assert (
        "No assistant is the preferred one. Name an agent that asks a model with --agent: there "
        'are "conversation.a", "conversation.b"\n'
    ) in result.stderr


async def test_agents_are_not_told(house: House, lived: Lived, discover: Discover) -> None:
    """Those of the assistants are listed then, and why there may be others is said."""
    house.overrides["conversation/agent/list"] = refuse()
    lived.preferred = "id-of-Plain"

    result = await discover(house.url)

    assert result.exit_code == 2
    assert f'with --agent: there are "{AGENT}"\n' in result.stderr
    assert (
        "Note: Home Assistant does not report which conversation agents there are" in result.stderr
    )


async def test_each_satellite_that_is_left_out_is_named(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """On the screen as in the file, whatever the reason; also when the text goes elsewhere."""
    lived.satellite("office", "Plain")
    lived.entities.append(entity("assist_satellite.old", "device", disabled_by="user"))
    lived.states.append({"entity_id": "assist_satellite.loose", "state": "idle", "attributes": {}})
    output = tmp_path / "home.toml"

    shown = await discover(house.url)
    written = await discover(house.url, "--output", str(output))

    for text, stderr in ((shown.stdout, shown.stderr), (output.read_text(), written.stderr)):
        commented = text.partition("# Satellites that are left out:\n")[2].splitlines()
        said = [line for line in stderr.splitlines() if line.startswith("Left out: ")]
        assert len(commented) == 3
        assert [line.removeprefix("#   ") for line in commented] == [
            line.removeprefix("Left out: ") for line in said
        ]


@pytest.mark.parametrize("code", ["unauthorized", "unknown_command"])
async def test_assistants_are_not_told(
    house: House, lived: Lived, discover: Discover, tmp_path: Path, code: str
) -> None:
    """Without the right to list them every satellite gets a target, and why is said."""
    house.overrides[PIPELINES] = refuse(code)
    lived.satellite("kitchen", "preferred", device=KITCHEN)
    lived.satellite("office", "Plain")

    result = await discover(house.url)

    assert result.exit_code == 0
    found = targets(result.stdout, tmp_path)
    assert set(found) == {"app", "kitchen", "office"}
    # The only one that is a model.
    assert {target.agent for target in found.values()} == {AGENT}
    why = "would have to be an administrator" if code == "unauthorized" else "(unknown_command)"
    for place in (result.stdout, result.stderr):
        assert f"does not report which assistants there are ({PIPELINES}): " in place
        assert why in place
    assert 'could not be seen, its selected assistant: "Plain"' in result.stdout


@pytest.mark.parametrize(
    "agents", [["conversation.a", "conversation.b", BUILT_IN], [BUILT_IN], None]
)
async def test_assistants_and_agents_are_not_told(
    house: House, lived: Lived, discover: Discover, agents: list[str] | None
) -> None:
    """Where nothing points to one agent, it has to be named."""
    house.overrides[PIPELINES] = refuse()
    house.agents = agents or []
    if agents is None:
        house.overrides["conversation/agent/list"] = refuse()

    result = await discover(house.url)
    house.agents = [AGENT]
    named = await discover(house.url, "--agent", AGENT)

    assert result.exit_code == 2
    words = (
        "Add an agent" if agents == [BUILT_IN] else "Name an agent that asks a model with --agent"
    )
    assert words in result.stderr
    assert ('there are "conversation.a", "conversation.b"' in result.stderr) == (
        agents is not None and len(agents) == 3
    )
    assert named.exit_code == 0


async def test_registries_are_not_told(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """Without devices there is the app alone; nothing is guessed."""
    lived.satellite("kitchen", "preferred")
    refused = [ENTITIES, DEVICES, "config/area_registry/list"]
    house.overrides |= dict.fromkeys(refused, refuse())

    result = await discover(house.url)

    assert set(targets(result.stdout, tmp_path)) == {"app"}
    assert "#   kitchen (assist_satellite.kitchen): has no device" in result.stdout
    assert result.stderr.count("Note: ") == 3


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (PIPELINES, []),
        (PIPELINES, {"pipelines": 5}),
        (ENTITIES, {"entities": []}),
        ("get_states", ["light.lamp"]),
    ],
)
async def test_answers_of_another_shape(
    house: House, lived: Lived, discover: Discover, kind: str, answer: object
) -> None:
    """What cannot be read ends the command with a sentence."""
    house.overrides[kind] = lambda _: answer

    result = await discover(house.url)

    assert result.exit_code == 3
    assert "in an unknown shape: update the older of Home Assistant" in result.stderr
    assert result.stdout == ""


async def test_file_is_not_overwritten(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """Only `--force` replaces a file, and no one is asked before."""
    output = tmp_path / "home.toml"
    output.write_text("mine")

    result = await discover(house.url, "--output", str(output))

    assert result.exit_code == 2
    assert f"{output} is there already: overwrite it with --force" in result.stderr
    assert output.read_text() == "mine"
    assert not house.logins
    forced = await discover(house.url, "--output", str(output), "--force")
    assert forced.stdout == ""
    assert forced.stderr == f"Targets written to {output}: 1. Satellites left out: 0\n"
    assert tomllib.loads(output.read_text())["agent"] == AGENT


async def test_file_that_comes_up_meanwhile(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """A file that someone makes while the house is looked at stays, too."""
    output = tmp_path / "home.toml"

    def states(_: Message) -> object:
        output.write_text("mine")
        return lived.states

    house.overrides["get_states"] = states

    result = await discover(house.url, "--output", str(output))

    assert result.exit_code == 2
    assert output.read_text() == "mine"


async def test_file_that_cannot_be_written(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """A folder that is not there is an error of the option."""
    output = tmp_path / "none" / "home.toml"

    result = await discover(house.url, "--output", str(output))

    assert result.exit_code == 2
    assert f"{output}: cannot be written: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--agent", "a b"], "--agent is not an id"),
        (["--language", "?"], "--language is not a language tag"),
    ],
)
async def test_wrong_options(
    house: House, discover: Discover, options: list[str], words: str
) -> None:
    """Options are checked like the file."""
    result = await discover(house.url, *options)

    assert result.exit_code == 2
    assert words in result.stderr
    wrong = await discover("homeassistant.local")
    assert "--url is not an address with http or https" in wrong.stderr


async def test_token_file_and_refused_token(
    house: House, lived: Lived, discover: Discover, tmp_path: Path
) -> None:
    """The token is found as `warm` finds it, and a wrong one has its exit code."""
    secret = tmp_path / "token"
    secret.write_text("another.token.of-nobody")
    secret.chmod(stat.S_IRUSR)

    result = await discover(house.url, "--token-file", str(secret))

    assert result.exit_code == 4
    assert (await discover(house.url)).exit_code == 0


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://homeassistant.invalid:8123", 1),
        ("http://192.0.2.1", 1),
        ("https://homeassistant.invalid", 0),
        ("http://127.0.0.1:9", 0),
        ("http://[::1]:9", 0),
        ("http://LOCALHOST:9", 0),
        ("http://house.localhost:9", 0),
    ],
)
def test_http_to_another_machine(url: str, warned: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A token in clear text is warned about, but not one that stays in the machine."""
    warn_of_http(url)

    assert capsys.readouterr().err.count("is not encrypted, whoever listens") == warned


async def test_http_is_warned_about_once(run: Run, discover: Discover) -> None:
    """Each command says it, on standard error, once."""
    for result in (
        await run("http://no-such-house.invalid:8123"),
        await discover("http://no-such-house.invalid:8123"),
    ):
        assert result.exit_code == 3
        assert result.stderr.count("Warning: http://no-such-house.invalid:8123 is not enc") == 1
        assert result.stdout == ""


WORDS = st.text(max_size=12)
ANY: Any = st.builds(
    Discovered,
    language=WORDS,
    agents=st.none(),
    assistants=st.none() | st.just(()),
    preferred=st.none() | st.builds(Assistant, name=WORDS, agent=st.just(AGENT), language=WORDS),
    satellites=st.lists(
        st.builds(
            Satellite,
            entity=WORDS,
            name=st.text("ab\"'\\\n #[]=", max_size=3) | st.just("long" * 100) | WORDS,
            device=st.just(KITCHEN),
            area=st.none() | WORDS,
            choices=st.lists(st.none() | WORDS, max_size=2).map(tuple),
        ),
        max_size=5,
    ).map(tuple),
    missing=st.lists(WORDS, max_size=2).map(tuple),
)


@given(findings=ANY)
def test_any_names_make_a_file_that_loads(
    findings: Discovered, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever people call their things, the file can be read again."""
    discovery = describe("http://127.0.0.1:8123", findings, AGENT)

    found = targets(discovery.text, tmp_path_factory.getbasetemp())

    assert len(found) == discovery.targets == len(findings.satellites) + 1 - len(discovery.left_out)
