"""The command `ollama-warmer`."""

import errno
from importlib import import_module
import sys
from typing import Any

import click

from ollama_warmer.errors import ExitCode
from ollama_warmer.screen import fit_streams, give_up_output

# Each is the function of this name in `ollama_warmer.commands`, in the module of this name. They
# stand in the order in which a person comes to need them.
_COMMANDS = ("discover", "warm", "run", "status", "doctor", "clock", "probe")
_ENDLESS = 10_000
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class _Commands(click.Group):
    """Imports a command when it is asked for: a service must not carry what the others need."""

    # Python 3.11 has no @override.
    def main(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[explicit-override]  # noqa: ANN401 - as click's
        """Run the command that is asked for."""
        fit_streams()
        try:
            return super().main(*args, **kwargs)
        except OSError as err:
            # One of a file has a name. A pipe that no one reads from any more is click's.
            if err.errno not in _NO_ROOM or err.filename is not None:
                raise
            give_up_output(err)
            sys.exit(ExitCode.NOT_ALL_WARM)

    def list_commands(self, ctx: click.Context) -> list[str]:  # type: ignore[explicit-override]
        """Return their names."""
        del ctx
        return list(_COMMANDS)

    def get_command(  # type: ignore[explicit-override] # as above
        self, ctx: click.Context, cmd_name: str
    ) -> click.Command | None:
        """Return a command; none if there is none of this name."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"ollama_warmer.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(  # type: ignore[explicit-override] # as above
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the first sentence of each command, the whole of it."""
        commands = [(name, self.get_command(ctx, name)) for name in _COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, it.get_short_help_str(_ENDLESS)) for name, it in commands if it is not None]
            )


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ollama-warmer", prog_name="ollama-warmer")
def main() -> None:
    """Keep the prompt of a Home Assistant conversation agent warm, and prove it."""
