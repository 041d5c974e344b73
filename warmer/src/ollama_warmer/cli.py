"""The command `ollama-warmer`."""

import asyncio
from ipaddress import ip_address
import os
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.console import Console
import voluptuous as vol

from ollama_warmer import checks
from ollama_warmer.config import START_TIMEOUT, Config, Target, load_config
from ollama_warmer.credentials import Token, load_token
from ollama_warmer.discover import look_around
from ollama_warmer.discover_file import Discovery, choose_agent, describe
from ollama_warmer.dry_run import exit_code, plan, plan_as_json, print_plan
from ollama_warmer.errors import ConfigError, ExitCode, WarmerError
from ollama_warmer.report import as_json, print_table
from ollama_warmer.rounds import run_round

_FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ollama-warmer", prog_name="ollama-warmer")
def main() -> None:
    """Keep the prompt of a Home Assistant conversation agent warm, and prove it."""


@main.command()
@click.option("--config", "config_file", type=_FILE, required=True, help="Configuration (TOML).")
@click.option("--token-file", type=_FILE, help="File with a long-lived access token.")
@click.option("--target", "names", multiple=True, help="Only this target; may be given again.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of a table.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked where, and ask nothing.")
@click.pass_context
def warm(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    config_file: Path,
    token_file: Path | None,
    names: tuple[str, ...],
    json_wanted: bool,
    dry_run: bool,
) -> None:
    """Ask every target a question, then confirm with another that its prompt is warm.

    The token comes from --token-file, else from systemd's credential ha-token, else from the
    variable HA_TOKEN.

    With --dry-run Home Assistant is asked only whether it has the agents and devices.

    Exit codes: 0 all warm; 1 something cold, partly warm, unknown or failed; 2 wrong
    configuration; 3 Home Assistant cannot be reached; 4 it refused the token.
    """
    try:
        config = load_config(config_file)
        targets = config.select(names)
        token = load_token(token_file, os.environ)
        _warn_of_http(config.home_assistant.url)
        act = _show_plan if dry_run else _warm
        code = act(config, token, targets, json_wanted=json_wanted)
    except WarmerError as err:
        click.echo(f"Error: {err}", err=True)
        code = err.exit_code
    context.exit(code)


def _show_plan(
    config: Config, token: Token, targets: tuple[Target, ...], *, json_wanted: bool
) -> ExitCode:
    plans = asyncio.run(plan(config, token, targets))
    if json_wanted:
        click.echo(plan_as_json(plans))
    else:
        print_plan(plans, Console())
    return exit_code(plans)


def _warm(
    config: Config, token: Token, targets: tuple[Target, ...], *, json_wanted: bool
) -> ExitCode:
    outcome = asyncio.run(run_round(config, token, targets))
    if json_wanted:
        click.echo(as_json(outcome))
    else:
        print_table(outcome, Console())
    if outcome.stopped is not None:
        click.echo(f"Error: {outcome.stopped}", err=True)
    return outcome.exit_code


@main.command()
@click.option("--url", required=True, help="Web address of Home Assistant.")
@click.option("--agent", help="Entity id of the agent; the preferred assistant's if left out.")
@click.option("--token-file", type=_FILE, help="File with a long-lived access token.")
@click.option("--output", type=_FILE, help="Write to this file instead of standard output.")
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

    A user without administrator rights sees all that is needed. What a user cannot see is said on
    standard error and in the file. The token comes from where `warm` takes it, and is not written.

    Exit codes: 0 written; 2 wrong option, or the file is there already; 3 Home Assistant cannot
    be reached; 4 it refused the token.
    """
    try:
        url, agent, language = _checked(url, agent, language)
        if output is not None and output.exists() and not force:
            raise _exists(output)
        token = load_token(token_file, os.environ)
        _warn_of_http(url)
        findings = asyncio.run(look_around(url, token, START_TIMEOUT))
        discovery = describe(url, findings, choose_agent(findings, agent), language)
        if output is None:
            click.echo(discovery.text, nl=False)
        else:
            _write(output, discovery.text, force=force)
    except WarmerError as err:
        click.echo(f"Error: {err}", err=True)
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
    for note in discovery.notes:
        click.echo(f"Note: {note}", err=True)
    where = "" if output is None else f" written to {output}"
    click.echo(
        f"Targets{where}: {discovery.targets}. Satellites left out: {discovery.left_out}", err=True
    )


def _warn_of_http(url: str) -> None:
    """Say that the token can be read on its way, if it leaves this machine without TLS."""
    parts = urlsplit(url)
    if parts.scheme == "http" and not _is_this_machine(parts.hostname or ""):
        click.echo(
            f"Warning: {url} is not encrypted, whoever listens in the network can read the token: "
            "use https where Home Assistant offers it",
            err=True,
        )


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
