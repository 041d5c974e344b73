"""`ollama-warmer discover`: a configuration from what Home Assistant knows."""

import asyncio
import os
from pathlib import Path

import click
import voluptuous as vol

from ollama_warmer.commands.shared import FILE, warn_of_http
from ollama_warmer.config import checks
from ollama_warmer.config.config import START_TIMEOUT
from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.house.credentials import load_token
from ollama_warmer.house.discover import look_around
from ollama_warmer.house.discover_file import Discovery, choose_agent, describe
from ollama_warmer.screen import say, show_toml


@click.command()
@click.option("--url", required=True, help="Web address of Home Assistant.")
@click.option("--agent", help="Entity id of the agent; the preferred assistant's if left out.")
@click.option("--token-file", type=FILE, help="File with a long-lived access token.")
@click.option("--output", type=FILE, help="Write to this file instead of standard output.")
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
@click.option("--language", help="Language of all targets, instead of their assistants'.")
@click.pass_context
def discover(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    url: str,
    agent: str | None,
    token_file: Path | None,
    output: Path | None,
    force: bool,
    language: str | None,
) -> None:
    """Write a configuration with a target for each satellite that talks to the agent.

    A user without administrator rights sees all that is needed. What a user cannot see, and which
    satellites are left out, is said on standard error and in the file. The token comes from where
    `warm` takes it, and is not written.

    Exit codes: 0 written; 2 wrong option, the agent asks no model, or the file is there already; 3
    Home Assistant cannot be reached; 4 it refused the token.
    """
    try:
        url, agent, language = _checked(url, agent, language)
        if output is not None and output.exists() and not force:
            raise _exists(output)
        token = load_token(token_file, os.environ)
        warn_of_http(url)
        findings = asyncio.run(look_around(url, token, START_TIMEOUT))
        for note in findings.missing:
            say(f"Note: {note}")
        discovery = describe(url, findings, choose_agent(findings, agent), language)
        if output is None:
            show_toml(discovery.text)
        else:
            _write(output, discovery.text, force=force)
    except WarmerError as err:
        say(f"Error: {err}")
        context.exit(err.exit_code)
    _summarize(discovery, output)


def _checked(
    url: str, agent: str | None, language: str | None
) -> tuple[str, str | None, str | None]:
    option = "--url"
    try:
        url = checks.web_address(url)
        option = "--agent"
        agent = None if agent is None else checks.identifier(agent)
        option = "--language"
        language = None if language is None else checks.language(language)
    except vol.Invalid as err:
        raise ConfigError(f"{option} {err.msg}") from err
    return url, agent, language


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as err:
        raise _exists(path) from err
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be written: {err.strerror}. Name another file with --output"
        ) from err


def _exists(path: Path) -> ConfigError:
    return ConfigError(f"{path} is there already: overwrite it with --force, or name another file")


def _summarize(discovery: Discovery, output: Path | None) -> None:
    for satellite in discovery.left_out:
        say(f"Left out: {satellite}")
    where = "" if output is None else f" written to {output}"
    say(f"Targets{where}: {discovery.targets}. Satellites left out: {len(discovery.left_out)}")
