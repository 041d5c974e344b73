"""`ollama-warmer clock`: what a moving time costs in four places of a prompt."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
import json
import os
from pathlib import Path
from typing import Any

import click
from rich.console import Console
import voluptuous as vol

from ollama_warmer.commands.shared import FILE, confirm, warn_of_http
from ollama_warmer.config import checks
from ollama_warmer.config.config import Config, OllamaConfig, load_config
from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.house.credentials import load_token
from ollama_warmer.lab.clock.clock import Clock, HouseToRestore, Outcome, demonstrate
from ollama_warmer.lab.clock.options import Production, production
from ollama_warmer.lab.clock.prompt import Prompt, demonstration, from_file
from ollama_warmer.lab.clock.report import as_object, print_placed, print_restored
from ollama_warmer.lab.probe.machine import machine
from ollama_warmer.ollama.client import open_ollama
from ollama_warmer.screen import say, show_json, spinner

INTERRUPTED = 130


@click.command()
@click.option("--config", "config_file", type=FILE, help="Configuration (TOML) of the house.")
@click.option("--token-file", type=FILE, help="File with a long-lived access token.")
@click.option("--url", help="Web address of Ollama, instead of the configuration's.")
@click.option("--model", help="Model, instead of the configuration's.")
@click.option("--num-ctx", type=int, help="The agent's window, if the configuration has none.")
@click.option("--prompt-file", type=FILE, help="System text, instead of a demonstration house's.")
@click.option("--yes", is_flag=True, help="Do not ask before the model is kept busy.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of a table.")
@click.option("--report", type=FILE, help="Write a page with figures to this file, too.")
@click.pass_context
def clock(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - click's own values
    """Show what a moving time costs at the top of a prompt, at its end, in the question, in a tool.

    Asks the model three questions for each place and counts the tokens that are re-read. The time
    is moved on from question to question, no tool is run, and the options are those of the agent.
    Meanwhile the questions of the house wait. With --config the agent's prompt is warmed again at
    the end and confirmed; without, it is not.

    Exit codes: 0 measured, and warm again; 1 something is unknown, failed or not warm again; 2
    wrong option or configuration; 3 Home Assistant cannot be reached; 4 it refused the token; 130
    interrupted.
    """
    try:
        code = _clock(options)
    except WarmerError as err:
        say(f"Error: {err}")
        code = err.exit_code
    context.exit(code)


def _clock(options: Mapping[str, Any]) -> int:
    report: Path | None = options["report"]
    if report is not None:
        # Drawing needs a library that only those who want a page have.
        from ollama_warmer.pages import check, write_clock_page  # noqa: PLC0415 - as said above

        check(report)
    config = load_config(options["config_file"]) if options["config_file"] else None
    ollama = _ollama_options(config, options["url"], options["model"], options["num_ctx"])
    prompt = from_file(options["prompt_file"]) if options["prompt_file"] else demonstration()
    house = None if config is None else _house(config, options["token_file"])
    found = asyncio.run(_look(ollama, house))
    _confirm(ollama, found, yes=options["yes"])
    outcome, run = asyncio.run(_run(ollama, found, prompt, house))
    _show(outcome, run, json_wanted=options["json_wanted"])
    if report is not None:
        write_clock_page(report, run)
    return INTERRUPTED if outcome.interrupted else int(outcome.exit_code)


def _ollama_options(
    config: Config | None, url: str | None, model: str | None, num_ctx: int | None
) -> OllamaConfig:
    """Return the configuration's table with what the options say in its place."""
    found = (config and config.ollama) or OllamaConfig()
    option = "--url"
    try:
        if url is not None:
            found = replace(found, url=checks.web_address(url))
        option = "--model"
        if model is not None:
            found = replace(found, model=checks.identifier(model))
        option = "--num-ctx"
        if num_ctx is not None:
            found = replace(found, num_ctx=checks.tokens(num_ctx))
    except vol.Invalid as err:
        raise ConfigError(f"{option} {err.msg}") from err
    return found


def _house(config: Config, token_file: Path | None) -> HouseToRestore:
    token = load_token(token_file, os.environ)
    warn_of_http(config.home_assistant.url)
    return HouseToRestore(config=config, token=token)


async def _look(ollama: OllamaConfig, house: HouseToRestore | None) -> Production:
    """Find out all that could go wrong before anything is replaced."""
    if house is not None:
        await house.check()
    async with open_ollama(ollama.url) as server:
        return await production(server, ollama, datetime.now(UTC))


def _confirm(ollama: OllamaConfig, options: Production, *, yes: bool) -> None:
    """Ask whether the house can do without its model for a while."""
    warning = (
        f"This keeps {options.model} at {ollama.url} busy with about 25 calls, of which some read "
        "the whole prompt. Questions that people ask meanwhile wait."
    )
    if not yes:
        confirm(warning)


async def _run(
    ollama: OllamaConfig, options: Production, prompt: Prompt, house: HouseToRestore | None
) -> tuple[Outcome, dict[str, Any]]:
    at = datetime.now(UTC).astimezone()
    console = Console(stderr=True)
    with console.status("", spinner=spinner(console.encoding)) as status:
        async with open_ollama(ollama.url) as server:
            lab = Clock(
                ollama=server,
                production=options,
                prompt=prompt if options.takes_tools else replace(prompt, tools=()),
                watch=status.update,
            )
            outcome = await demonstrate(lab, house, at)
    return outcome, as_object(lab, outcome, at, machine(ollama.url))


def _show(outcome: Outcome, run: dict[str, Any], *, json_wanted: bool) -> None:
    if json_wanted:
        show_json(json.dumps(run, ensure_ascii=False, indent=2))
    elif outcome.placed:
        print_placed(outcome.placed, Console())
    print_restored(outcome, Console(stderr=json_wanted))
    for err in outcome.errors:
        say(f"Error: {err}")
    if outcome.interrupted:
        say("Error: interrupted, not everything was measured")
