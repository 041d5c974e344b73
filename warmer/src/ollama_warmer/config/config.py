"""Reads the configuration file and says exactly what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
import tomllib
from typing import Any

import voluptuous as vol

from ollama_warmer.config import checks, run as run_settings
from ollama_warmer.config.run import DEFAULT as DEFAULT_RUN, RunConfig
from ollama_warmer.errors import ConfigError
from ollama_warmer.questions import PLACEHOLDER, default_questions
from ollama_warmer.words import listing
from ollama_warmer.written import decoded

START_TIMEOUT = 300.0
# A large model that is loaded from a slow disk and reads 10,000 tokens on a processor takes more
# than ten minutes, and a question that is given up too early goes on in the server all the same.
ANSWER_TIMEOUT = 1200.0

UNIT = "ollama"
OLLAMA_URL = "http://127.0.0.1:11434"


class CountsSource(StrEnum):
    """Where the counts of tokens come from."""

    AUTO = "auto"
    REPLY = "reply"
    FILE = "file"
    JOURNALD = "journald"
    DOCKER = "docker"
    COMMAND = "command"
    NONE = "none"


_HOME_ASSISTANT = {
    vol.Required("url"): checks.web_address,
    vol.Optional("start_timeout", default=START_TIMEOUT): checks.seconds,
    vol.Optional("answer_timeout", default=ANSWER_TIMEOUT): checks.seconds,
}
_TARGET = {
    vol.Required("name"): checks.text,
    vol.Optional("agent"): checks.identifier,
    vol.Optional("device"): checks.identifier,
    vol.Optional("language", default="en"): checks.language,
    vol.Optional("text"): checks.text,
    vol.Optional("confirm_text"): checks.new_question,
}
_OLLAMA = {
    vol.Optional("url", default=OLLAMA_URL): checks.web_address,
    vol.Optional("model"): checks.identifier,
    vol.Optional("num_ctx"): checks.tokens,
    vol.Optional("keep_alive"): checks.keep_alive,
    vol.Optional("think"): checks.think,
}
_COUNTS = {
    vol.Optional("source", default=CountsSource.AUTO.value): checks.one_of(CountsSource),
    vol.Optional("path"): checks.file_path,
    vol.Optional("unit"): checks.name,
    vol.Optional("container"): checks.name,
    vol.Optional("command"): checks.command,
}
# The key that belongs to each source, and to no other.
_SOURCE_KEYS = {
    CountsSource.FILE: "path",
    CountsSource.JOURNALD: "unit",
    CountsSource.DOCKER: "container",
    CountsSource.COMMAND: "command",
}
_FILE = vol.Schema(
    checks.table(
        {
            vol.Required("home_assistant"): checks.table(_HOME_ASSISTANT),
            vol.Optional("agent"): checks.identifier,
            vol.Optional("ollama"): checks.table(_OLLAMA),
            vol.Optional("counts", default=dict): checks.table(_COUNTS),
            vol.Optional("run", default=dict): run_settings.table,
            vol.Required("targets"): vol.All(checks.tables, [checks.table(_TARGET)]),
        }
    )
)


@dataclass(frozen=True, kw_only=True)
class HomeAssistantConfig:
    """Where Home Assistant is and how long to wait for it.

    Attributes:
        url: Its web address, without a path.
        start_timeout: Seconds to wait until it has started.
        answer_timeout: Seconds to wait for the answer to one question.
    """

    url: str
    start_timeout: float = START_TIMEOUT
    answer_timeout: float = ANSWER_TIMEOUT


@dataclass(frozen=True, kw_only=True)
class OllamaConfig:
    """The model server, and what the agent asks it with: Home Assistant gives that to no one.

    Attributes:
        url: Its web address, without a path.
        model: The agent's model, with its tag.
        num_ctx: The agent's context window in tokens; none for the server's own.
        keep_alive: Seconds, or a span such as `5m`, as Ollama takes it; -1 for ever.
        think: Whether the agent lets the model think, or how much.
    """

    url: str = OLLAMA_URL
    model: str | None = None
    num_ctx: int | None = None
    keep_alive: int | str | None = None
    think: bool | str | None = None


@dataclass(frozen=True, kw_only=True)
class CountsConfig:
    """Where the counts of tokens come from.

    Attributes:
        source: From which kind of place.
        path: The file, for `file`.
        unit: The systemd unit, for `journald`.
        container: The container, for `docker`.
        command: The program and its arguments, for `command`.
    """

    source: CountsSource = CountsSource.AUTO
    path: Path | None = None
    unit: str = UNIT
    container: str | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Target:
    """One prompt to keep warm: an agent, seen from one device.

    Attributes:
        name: What reports call it.
        agent: Entity id of the conversation agent.
        device: Device registry id of the satellite; none for the app.
        language: Language tag sent with the questions.
        text: Template of the first question.
        confirm_text: Template of the confirmation.
    """

    name: str
    agent: str
    device: str | None = None
    language: str = "en"
    text: str
    confirm_text: str


@dataclass(frozen=True, kw_only=True)
class Config:
    """What the configuration file says."""

    home_assistant: HomeAssistantConfig
    ollama: OllamaConfig | None = None
    counts: CountsConfig = CountsConfig()
    run: RunConfig = DEFAULT_RUN
    targets: tuple[Target, ...]

    def select(self, names: Sequence[str]) -> tuple[Target, ...]:
        """Return the targets of these names in the file's order, or all if no name is given.

        Raises:
            ConfigError: A name is not in the file.
        """
        known = {target.name for target in self.targets}
        if unknown := set(names) - known:
            raise ConfigError(
                f"There is no target {listing(unknown)} in the configuration file: it has "
                f"{listing(known)}"
            )
        return tuple(target for target in self.targets if not names or target.name in names)


def load_config(path: Path) -> Config:
    """Return the checked configuration.

    Raises:
        ConfigError: The file cannot be read, is not TOML, or holds something wrong; one line for
            each mistake, with the file, the key and what is wrong.
    """
    try:
        raw = tomllib.loads(decoded(path.read_bytes()))
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be read: {err.strerror}. Name the configuration file with --config"
        ) from err
    except UnicodeDecodeError as err:
        raise ConfigError(f"{path}: is not text in UTF-8: save it as UTF-8") from err
    except RecursionError as err:
        raise ConfigError(
            f"{path}: is not valid TOML: it has too many brackets in brackets"
        ) from err
    except tomllib.TOMLDecodeError as err:
        raise ConfigError(f"{path}: is not valid TOML: {err}") from err
    try:
        return _build(_FILE(raw))
    except vol.MultipleInvalid as err:
        # Missing keys come in the order of a set, which changes from run to run.
        mistakes = sorted(checks.sentence(mistake) for mistake in err.errors)
        raise ConfigError("\n".join(f"{path}: {mistake}" for mistake in mistakes)) from err


def _build(checked: dict[str, Any]) -> Config:
    """Turn checked tables into objects; what needs a look at several keys is checked here."""
    mistakes: list[vol.Invalid] = []
    targets: list[Target] = []
    for index, table in enumerate(checked["targets"]):
        path: list[str | int] = ["targets", index]
        try:
            target = _target(table, checked.get("agent"), path)
        except vol.Invalid as mistake:
            mistakes.append(mistake)
            continue
        if target.name in {other.name for other in targets}:
            mistakes.append(
                vol.Invalid(f'"{target.name}" is the name of another target', [*path, "name"])
            )
        targets.append(target)
    mistakes += _counts_mistakes(checked["counts"])
    if mistakes:
        raise vol.MultipleInvalid(mistakes)
    return Config(
        home_assistant=HomeAssistantConfig(**checked["home_assistant"]),
        ollama=OllamaConfig(**checked["ollama"]) if "ollama" in checked else None,
        counts=CountsConfig(
            **checked["counts"] | {"source": CountsSource(checked["counts"]["source"])}
        ),
        run=run_settings.build(checked["run"]),
        targets=tuple(targets),
    )


def _counts_mistakes(table: dict[str, Any]) -> list[vol.Invalid]:
    """Return what is missing for the source of the counts, and what belongs to another."""
    mistakes = []
    for source, key in _SOURCE_KEYS.items():
        if key in table and source != table["source"]:
            mistakes.append(
                vol.Invalid(f'is for source = "{source}" only: name that source', ["counts", key])
            )
        if key not in table and source == table["source"] and source is not CountsSource.JOURNALD:
            mistakes.append(
                vol.Invalid(f'is missing: source = "{source}" needs it', ["counts", key])
            )
    return mistakes


def _target(table: dict[str, Any], agent: str | None, path: list[str | int]) -> Target:
    agent = table.get("agent", agent)
    if agent is None:
        raise vol.Invalid(
            "is missing: give the target an agent, or set `agent` for all at the top of the file",
            [*path, "agent"],
        )
    text, confirm_text = default_questions(table["language"])
    target = Target(**{"text": text, "confirm_text": confirm_text, **table, "agent": agent})
    if target.text.split() == target.confirm_text.split():
        raise vol.Invalid(
            "has to ask something else than `text`: an exact repeat proves nothing about the "
            f"next question, whatever stands for {PLACEHOLDER}",
            [*path, "confirm_text"],
        )
    return target
