"""`ollama-warmer warm`: one round."""

import asyncio
from contextlib import nullcontext
from datetime import UTC, datetime
import os
from pathlib import Path
import sys
import time

import click
from rich.console import Console

from ollama_warmer.commands.shared import FILE, warn_of_http
from ollama_warmer.config.config import Config, Target, load_config
from ollama_warmer.errors import ExitCode, WarmerError
from ollama_warmer.history.state import BY_COMMAND, StateFile, default_path, unreached
from ollama_warmer.house.credentials import Token, load_token
from ollama_warmer.round.dry_run import exit_code, plan, plan_as_json, print_plan
from ollama_warmer.round.progress import Progress
from ollama_warmer.round.report import as_json, print_table
from ollama_warmer.round.rounds import Round, run_round
from ollama_warmer.screen import say, show_json
from ollama_warmer.words import listing


@click.command()
@click.option("--config", "config_file", type=FILE, required=True, help="Configuration (TOML).")
@click.option("--token-file", type=FILE, help="File with a long-lived access token.")
@click.option("--state", "state_file", type=FILE, help="File that keeps the last rounds.")
@click.option("--target", "names", multiple=True, help="Only this target; may be given again.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of a table.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked where, and ask nothing.")
@click.pass_context
def warm(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    config_file: Path,
    token_file: Path | None,
    state_file: Path | None,
    names: tuple[str, ...],
    json_wanted: bool,
    dry_run: bool,
) -> None:
    """Ask every target a question, then confirm with another that its prompt is warm.

    The token comes from --token-file, else from systemd's credential ha-token, else from the
    variable HA_TOKEN.

    Without --state the round is kept where `status` looks for it.

    With --dry-run Home Assistant is asked only whether it has the agents and devices.

    Exit codes: 0 all warm; 1 something cold, partly warm, unknown or failed; 2 wrong
    configuration; 3 Home Assistant cannot be reached; 4 it refused the token.
    """
    try:
        config = load_config(config_file)
        targets = config.select(names)
        token = load_token(token_file, os.environ)
        warn_of_http(config.home_assistant.url)
        if dry_run:
            code = _show_plan(config, token, targets, json_wanted=json_wanted)
        else:
            state = StateFile(state_file or default_path(config_file, os.environ))
            code = _warm(config, token, targets, state, json_wanted=json_wanted)
    except WarmerError as err:
        say(f"Error: {err}")
        code = err.exit_code
    context.exit(code)


def _show_plan(
    config: Config, token: Token, targets: tuple[Target, ...], *, json_wanted: bool
) -> ExitCode:
    plans = asyncio.run(plan(config, token, targets))
    if json_wanted:
        show_json(plan_as_json(plans))
    else:
        print_plan(plans, Console())
    return exit_code(plans)


def _warm(
    config: Config,
    token: Token,
    targets: tuple[Target, ...],
    state: StateFile,
    *,
    json_wanted: bool,
) -> ExitCode:
    # A program that reads the JSON wants to see nothing else, not even beside it.
    watched = sys.stderr.isatty() and (sys.stdout.isatty() or not json_wanted)
    with Progress(Console(stderr=True)) if watched else nullcontext() as progress:
        outcome = _kept(config, token, targets, state, progress)
    if json_wanted:
        show_json(as_json(outcome))
    else:
        print_table(outcome, Console())
    if left_out := {target.name for target in config.targets} - {it.name for it in targets}:
        say(f"Left out by --target: {listing(left_out)}")
    if outcome.stopped is not None:
        say(f"Error: {outcome.stopped}")
    return outcome.exit_code


def _kept(
    config: Config,
    token: Token,
    targets: tuple[Target, ...],
    state: StateFile,
    progress: Progress | None,
) -> Round:
    """Make a round and keep it, even one for which nothing was there to be asked."""
    at, began = datetime.now(UTC), time.monotonic()

    def keep(outcome: Round) -> None:
        state.add(outcome, at=at, occasion=BY_COMMAND, seconds=time.monotonic() - began)

    try:
        outcome = asyncio.run(run_round(config, token, targets, observer=progress))
    except WarmerError as err:
        keep(unreached(targets, err))
        raise
    keep(outcome)
    return outcome
