"""The command `ollama-warmer`."""

import click

from ollama_warmer.commands.clock import clock
from ollama_warmer.commands.discover import discover
from ollama_warmer.commands.status import status
from ollama_warmer.commands.warm import warm


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ollama-warmer", prog_name="ollama-warmer")
def main() -> None:
    """Keep the prompt of a Home Assistant conversation agent warm, and prove it."""


for command in (clock, discover, status, warm):
    main.add_command(command)
