"""`ollama-warmer doctor`: what is wrong, before it costs a person seven seconds."""

import asyncio
from dataclasses import replace
import os
from pathlib import Path

import click
from rich.console import Console
import voluptuous as vol

from ollama_warmer.commands.shared import FILE
from ollama_warmer.config import checks
from ollama_warmer.config.config import Config, OllamaConfig, load_config
from ollama_warmer.doctor.examine import examine
from ollama_warmer.doctor.setup import Setup, longest_gap
from ollama_warmer.doctor.show import as_json, exit_code, print_findings
from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.history.place import places
from ollama_warmer.screen import say, show_json

_SPAN = click.FloatRange(min=1, max=604_800)
_PAUSE = click.FloatRange(min=0, max=3_600)


@click.command()
@click.option("--config", "config_file", type=FILE, help="Configuration (TOML).")
@click.option("--token-file", type=FILE, help="File with a long-lived access token.")
@click.option("--state", type=FILE, help="State file, if `warm` writes it elsewhere.")
@click.option("--url", help="Web address of Ollama, instead of the configuration's.")
@click.option("--model", help="The agent's model, instead of the configuration's.")
@click.option(
    "--interval", type=_SPAN, help="Seconds between two warm-ups, instead of those of [run]."
)
@click.option("--measure", is_flag=True, help="Ask each agent two harmless questions.")
@click.option("--pause", type=_PAUSE, help="Seconds between them; the next minute if left out.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of lines.")
@click.pass_context
def doctor(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    config_file: Path | None,
    token_file: Path | None,
    state: Path | None,
    url: str | None,
    model: str | None,
    interval: float | None,
    measure: bool,
    pause: float | None,
    json_wanted: bool,
) -> None:
    """Look for everything that makes prompts cold, and say what to do.

    A line for each thing: ok, advice, problem or unknown. With --config Home Assistant, the model
    server of the table [ollama] and its log are looked at; with --url a model server alone.

    Nothing is asked of a model without --measure, which puts two questions to each agent and lets
    a minute pass in between, so that a clock in the prompt shows.

    Exit codes: 0 no problem; 1 a problem; 2 wrong configuration or option.
    """
    try:
        setup = _setup(config_file, url, model, measure=measure)
    except WarmerError as err:
        say(f"Error: {err}")
        context.exit(err.exit_code)
    setup = replace(
        setup,
        token_file=token_file,
        state_files=(state,) if state else setup.state_files,
        interval=interval or setup.interval,
        pause=pause,
    )
    findings = asyncio.run(examine(setup, os.environ, say))
    if json_wanted:
        show_json(as_json(findings, measured=measure))
    else:
        print_findings(findings, Console())
    context.exit(exit_code(findings))


def _setup(config_file: Path | None, url: str | None, model: str | None, *, measure: bool) -> Setup:
    """Return what to look at; raises ConfigError."""
    if config_file is None:
        if measure:
            raise ConfigError("--measure asks Home Assistant's agents: name them with --config")
        if url is None:
            raise ConfigError(
                "Nothing to look at: name a configuration with --config, or a model server with "
                "--url"
            )
        return Setup(ollama=_ollama(None, url, model))
    config = load_config(config_file)
    return Setup(
        config=config,
        state_files=places(config_file, os.environ),
        ollama=_ollama(config, url, model),
        interval=longest_gap(config.run),
        measure=measure,
    )


def _ollama(config: Config | None, url: str | None, model: str | None) -> OllamaConfig | None:
    """Return the model server of the configuration, with the options in place of its own values."""
    named = config.ollama if config else None
    if named is None and url is None and model is None:
        return None
    option = "--url"
    try:
        found = named or OllamaConfig()
        if url is not None:
            found = replace(found, url=checks.web_address(url))
        option = "--model"
        return found if model is None else replace(found, model=checks.identifier(model))
    except vol.Invalid as err:
        raise ConfigError(f"{option} {err.msg}") from err
