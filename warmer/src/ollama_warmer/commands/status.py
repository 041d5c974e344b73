"""`ollama-warmer status`: the last rounds."""

from collections.abc import Mapping
from datetime import UTC, datetime
import json
import os
from pathlib import Path

import click
from rich.console import Console

from ollama_warmer.commands.shared import FILE
from ollama_warmer.config.config import load_config
from ollama_warmer.errors import ConfigError, ExitCode, WarmerError
from ollama_warmer.history.place import newest_of, places
from ollama_warmer.history.state import StateFile
from ollama_warmer.history.status import select, status_of
from ollama_warmer.history.status_report import as_object, print_status
from ollama_warmer.screen import say, show_json


@click.command()
@click.option("--config", "config_file", type=FILE, help="Configuration (TOML).")
@click.option("--state", "state_file", type=FILE, help="State file, if it is not where it was.")
@click.option("--target", "names", multiple=True, help="Only this target; may be given again.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of tables.")
@click.option("--report", "page", type=FILE, help="Write an HTML page with figures, too.")
@click.pass_context
def status(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    config_file: Path | None,
    state_file: Path | None,
    names: tuple[str, ...],
    json_wanted: bool,
    page: Path | None,
) -> None:
    """Show how the targets stood in the last rounds, and how long ago that was. Asks no one.

    The rounds come from --state, else from where the service of this configuration, or you, wrote
    them last.

    Exit codes: 0 all were warm, and lately; 1 something was not, or was not asked for more than
    two intervals; 2 wrong configuration or option, or the state file cannot be used.
    """
    try:
        code = _status(config_file, state_file, names, page, json_wanted=json_wanted)
    except WarmerError as err:
        say(f"Error: {err}")
        code = err.exit_code
    context.exit(code)


def _status(
    config_file: Path | None,
    state_file: Path | None,
    names: tuple[str, ...],
    page: Path | None,
    *,
    json_wanted: bool,
) -> ExitCode:
    config = None if config_file is None else load_config(config_file)
    file, files = _state_file(config_file, state_file, os.environ)
    state = file.read()
    standings = status_of(state, config, names, datetime.now(UTC))
    selected = select(state, names)
    shown = as_object(standings, selected)
    if json_wanted:
        show_json(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        print_status(standings, selected["rounds"], files, Console())
    if page is not None:
        # Its drawing is needed by nothing else here.
        from ollama_warmer.pages import write_status_page  # noqa: PLC0415

        write_status_page(page, shown)
    return standings.exit_code


def _state_file(
    config_file: Path | None, state_file: Path | None, environ: Mapping[str, str]
) -> tuple[StateFile, tuple[Path, ...]]:
    """Return the newest state file, and where it is; without any, where it could have been."""
    if state_file is not None:
        if not state_file.exists():
            raise ConfigError(f"{state_file}: there is no such state file")
        return StateFile(state_file), (state_file,)
    if config_file is None:
        raise ConfigError("Name a configuration with --config FILE, or a state file with --state")
    possible = places(config_file, environ)
    newest = newest_of(possible)
    there = tuple(path for path in possible if path.exists())
    return newest, (newest.path,) if newest.path in there else there or possible
