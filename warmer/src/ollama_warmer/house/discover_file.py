"""Turns what was found in a house into a configuration file with comments."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
import json
from typing import NamedTuple

import voluptuous as vol

from ollama_warmer.config import checks
from ollama_warmer.errors import ConfigError
from ollama_warmer.house.client import BUILT_IN, NO_MODEL, OLD_BUILT_IN
from ollama_warmer.house.discover import NO_AGENT, Assistant, Discovered, Satellite
from ollama_warmer.words import listing, phrase, printable

_APP = "app"
_FALLBACK_LANGUAGE = "en"
_LONGEST_NAME = 80
_NAMELESS = "satellite"
_NAME_IT = "Name an agent that asks a model with --agent"
# What Home Assistant gives no one, ready to be filled in.
_LEFT_TO_YOU = """\
# For an agent other than Ollama Warm's: where Ollama's log can be read, which has the token counts.
# Other sources are "docker" with container = "ollama", "file" with path = "/full/path.log", and
# "command", for podman with command = ["podman", "logs", "--follow", "--tail", "0", "ollama"].
# [counts]
# source = "journald"

# For `run`, which then notices restarts of Ollama, and for `doctor` and `clock`.
# [ollama]
# url = "http://127.0.0.1:11434"
# model = "qwen3:8b"
# num_ctx = 16384\
"""


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """A configuration file and what a person should know about it.

    Attributes:
        text: The file, in TOML.
        targets: How many targets it has.
        left_out: The satellites that are not in it, each with the reason.
    """

    text: str
    targets: int
    left_out: tuple[str, ...]


class _Use(NamedTuple):
    """How a satellite relates to the chosen agent."""

    wanted: bool
    why: str
    language: str | None = None


def choose_agent(findings: Discovered, wanted: str | None) -> str:
    """Return the agent to keep warm: the wanted one, else the preferred assistant's.

    Raises:
        ConfigError: It is not there, it asks no model, or there is none to prefer. A configuration
            for it could only fail.
    """
    if wanted is not None:
        _check_agent(findings, wanted, why="")
        return wanted
    if findings.preferred is not None:
        assistant = findings.preferred
        _check_agent(
            findings,
            assistant.agent,
            why=f"The preferred assistant {_quoted(assistant.name)} talks to "
            f"{printable(assistant.agent)}. ",
        )
        return assistant.agent
    if len(findings.models) == 1:
        return next(iter(findings.models))
    why = (
        "This user does not see which assistant is the preferred one"
        if findings.assistants is None
        else "No assistant is the preferred one"
    )
    raise ConfigError(f"{why}. {_others(findings)}")


def _check_agent(findings: Discovered, agent: str, why: str) -> None:
    """Raise a ConfigError for an agent that cannot be kept warm; `why` is how it was come by."""
    if agent in {BUILT_IN, OLD_BUILT_IN}:
        raise ConfigError(f"{why}{NO_MODEL}. {_others(findings)}")
    if findings.agents is not None and agent not in findings.agents:
        raise ConfigError(
            f'{why}Home Assistant has no conversation agent "{printable(agent)}". '
            f"{_others(findings)}"
        )


def _others(findings: Discovered) -> str:
    """Return the sentence that says which agents could be taken."""
    if findings.models:
        return f"{_NAME_IT}: there are {listing(findings.models)}"
    return _NAME_IT if findings.agents is None else NO_AGENT


def describe(url: str, findings: Discovered, agent: str, language: str | None = None) -> Discovery:
    """Return the configuration for an agent.

    Args:
        url: Web address of Home Assistant.
        findings: What was found there.
        agent: Entity id of the agent to keep warm.
        language: A language for all targets, instead of their assistants'.
    """
    own = _own_assistant(findings, agent)
    spoken = language or _tag(own.language if own else None) or _tag(findings.language)
    blocks = [
        _head(url, agent, own, findings.missing),
        _LEFT_TO_YOU,
        "\n".join(
            [
                "# The prompt of the app and of every question without a satellite: no device.",
                *_target(_APP, None, spoken),
            ]
        ),
    ]
    wanted, left_out = _satellites(findings, agent, language, spoken)
    blocks += wanted
    if left_out:
        blocks.append(
            "\n".join(["# Satellites that are left out:", *(f"#   {it}" for it in left_out)])
        )
    return Discovery(
        text="\n\n".join(blocks) + "\n",
        targets=1 + len(wanted),
        left_out=tuple(left_out),
    )


def _satellites(
    findings: Discovered, agent: str, language: str | None, spoken: str | None
) -> tuple[list[str], list[str]]:
    """Return a block for each satellite of the agent, and a line for each that is left out."""
    blocks, left_out, names = [], [], {_APP}
    for satellite in findings.satellites:
        use = _use(findings, satellite, agent)
        if not use.wanted:
            left_out.append(f"{_title(satellite)}: {use.why}")
            continue
        name = next(name for name in _numbered(_short(satellite.name)) if name not in names)
        names.add(name)
        tag = language or _tag(use.language) or spoken
        lines = [f"# {_title(satellite)}: {use.why}", *_target(name, satellite.device, tag)]
        blocks.append("\n".join(lines))
    return blocks, left_out


def _head(url: str, agent: str, own: Assistant | None, notes: Sequence[str]) -> str:
    lines = [
        "# Written by `ollama-warmer discover`. It shows the house as it was then: after a new",
        "# satellite or another choice of assistant, run it again.",
        *(f"# Note: {phrase(note)}." for note in notes),
        "",
        *([f"# The agent of the assistant {_quoted(own.name)}."] if own else []),
        f"agent = {_quoted(agent)}",
        "",
        "[home_assistant]",
        f"url = {_quoted(url)}",
    ]
    return "\n".join(lines)


def _target(name: str, device: str | None, language: str | None) -> list[str]:
    return [
        "[[targets]]",
        f"name = {_quoted(name)}",
        *([f"device = {_quoted(device)}"] if device else []),
        f"language = {_quoted(language or _FALLBACK_LANGUAGE)}",
    ]


def _own_assistant(findings: Discovered, agent: str) -> Assistant | None:
    """Return the assistant that the app most likely uses to talk to the agent."""
    candidates = [findings.preferred] if findings.preferred else []
    candidates += findings.assistants or ()
    return next((it for it in candidates if it.agent == agent), None)


def _use(findings: Discovered, satellite: Satellite, agent: str) -> _Use:
    if satellite.disabled:
        return _Use(wanted=False, why="is disabled")
    if satellite.device is None:
        return _Use(wanted=False, why='has no device that could be seen, "app" has to stand for it')
    assistants = findings.assistants_of(satellite)
    if assistants is None:
        says = listing({choice for choice in satellite.choices if choice})
        why = f"which agent it talks to could not be seen, its selected assistant: {says}"
        return _Use(wanted=True, why=why)
    reasons = []
    for choice, assistant in assistants:
        how = f"assistant {_quoted(assistant.name)}"
        if choice is None:
            how += ", taken for granted as its select has no state now"
        elif assistant is findings.preferred and choice != assistant.name:
            how += ", the preferred one"
        if assistant.agent == agent:
            return _Use(wanted=True, why=how, language=assistant.language)
        reasons.append(f"{how}, which talks to {printable(assistant.agent)}")
    return _Use(wanted=False, why="; ".join(reasons))


def _title(satellite: Satellite) -> str:
    area = f", {printable(satellite.area)}" if satellite.area else ""
    return f"{printable(satellite.name)} ({printable(satellite.entity)}{area})"


def _short(name: str) -> str:
    """Return a name as it can stand in the file, with room for a number behind it."""
    return printable(name).strip()[:_LONGEST_NAME].strip() or _NAMELESS


def _numbered(name: str) -> Iterator[str]:
    """Yield the name, then with 2, 3 and so on behind it, without end."""
    yield name
    number = 2
    while True:
        yield f"{name} {number}"
        number += 1


def _tag(language: str | None) -> str | None:
    """Return the language if it can stand in the file."""
    with suppress(vol.Invalid):
        return checks.language(language)
    return None


def _quoted(words: str) -> str:
    """Return words as a string of TOML, which JSON's are for printable characters."""
    return json.dumps(printable(words), ensure_ascii=False)
