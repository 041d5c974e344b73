"""`ollama-warmer run`: rounds without end, as a service."""

import asyncio
import logging
import os
from pathlib import Path
import sys

import click

from ollama_warmer.commands.shared import FILE, warn_of_http
from ollama_warmer.config.config import load_config
from ollama_warmer.daemon import journal
from ollama_warmer.daemon.access import Access
from ollama_warmer.daemon.ending import leave
from ollama_warmer.daemon.loop import Daemon
from ollama_warmer.daemon.sd_notify import Notifier
from ollama_warmer.errors import WarmerError
from ollama_warmer.history.state import StateFile, default_path
from ollama_warmer.screen import say

_LOGGER = logging.getLogger(__name__)


@click.command()
@click.option("--config", "config_file", type=FILE, required=True, help="Configuration (TOML).")
@click.option("--token-file", type=FILE, help="File with a long-lived access token.")
@click.option("--state", "state_file", type=FILE, help="File that keeps the last rounds.")
@click.pass_context
def run(
    context: click.Context, *, config_file: Path, token_file: Path | None, state_file: Path | None
) -> None:
    """Warm all targets again and again: by schedule, and whenever they may have become cold.

    Runs until SIGTERM or SIGINT; SIGHUP reads configuration and token again. The token comes from
    where `warm` takes it. Without --state the rounds are kept where `status` looks for them.

    Exit codes: 0 ended by a signal; 2 wrong configuration, token file or address to listen on.
    While Home Assistant cannot be reached or refuses the token it goes on trying.
    """
    try:
        config = load_config(config_file)
        access = Access(token_file, os.environ)
        state = StateFile(state_file or default_path(config_file, os.environ))
        warn_of_http(config.home_assistant.url)
        journal.set_up(sys.stderr, os.environ)
        daemon = Daemon(config_file, config, access, state, Notifier(os.environ))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(daemon.run())
    except WarmerError as err:
        say(f"Error: {err}")
        context.exit(err.exit_code)
    except Exception:
        # What the exception says may quote someone, so Python must not print it.
        _LOGGER.exception("This program ends by a mistake of its own")
        leave(1)
    leave(0)
