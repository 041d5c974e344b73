"""The command `ollama-warmer`."""

import asyncio
import os
from pathlib import Path

import click
from rich.console import Console

from ollama_warmer.config import load_config
from ollama_warmer.credentials import load_token
from ollama_warmer.errors import ExitCode, WarmerError
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
@click.pass_context
def warm(
    context: click.Context,
    *,
    config_file: Path,
    token_file: Path | None,
    names: tuple[str, ...],
    json_wanted: bool,
) -> None:
    """Ask every target a question, then confirm with another that its prompt is warm.

    The token comes from --token-file, else from systemd's credential ha-token, else from the
    variable HA_TOKEN.

    Exit codes: 0 all warm; 1 something cold, partly warm, unknown or failed; 2 wrong
    configuration; 3 Home Assistant cannot be reached; 4 it refused the token.
    """
    context.exit(_warm(config_file, token_file, names, json_wanted=json_wanted))


def _warm(
    config_file: Path, token_file: Path | None, names: tuple[str, ...], *, json_wanted: bool
) -> ExitCode:
    try:
        config = load_config(config_file)
        targets = config.select(names)
        token = load_token(token_file, os.environ)
        outcome = asyncio.run(run_round(config, token, targets))
    except WarmerError as err:
        click.echo(f"Error: {err}", err=True)
        return err.exit_code
    if json_wanted:
        click.echo(as_json(outcome))
    else:
        print_table(outcome, Console())
    if outcome.stopped is not None:
        click.echo(f"Error: {outcome.stopped}", err=True)
    return outcome.exit_code
