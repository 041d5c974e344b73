"""The health check of a container: `python -m ollama_warmer.daemon.health FILE` asks the daemon."""

from http.client import HTTPConnection, HTTPException
import json
from pathlib import Path
import sys

from ollama_warmer.config.config import load_config
from ollama_warmer.config.run import Address
from ollama_warmer.errors import WarmerError
from ollama_warmer.words import printable

_TIMEOUT = 5.0
_OK = 200


class UnhealthyError(WarmerError):
    """The daemon does not answer, or says that it is not well; the text says why."""


def check(config_file: Path) -> str:
    """Return a sentence about a daemon that is well, or that answers no one.

    Args:
        config_file: The configuration that the daemon was started with.

    Raises:
        UnhealthyError: It is not well.
        ConfigError: The configuration is wrong.
    """
    listen = load_config(config_file).run.listen
    if listen is None:
        return "Nothing can be asked: the configuration has no `listen` under [run]"
    status, answer = _ask(listen)
    if status != _OK:
        raise UnhealthyError(f"The daemon is not well: {answer}")
    return "The daemon is well"


def _ask(listen: Address) -> tuple[int, str]:
    """Return the status and what is the matter; of the daemon itself, past any proxy."""
    connection = HTTPConnection(listen.host, listen.port, timeout=_TIMEOUT)
    try:
        connection.request("GET", "/health")
        response = connection.getresponse()
        body = json.loads(response.read())
    except (OSError, HTTPException, ValueError, RecursionError) as err:
        raise UnhealthyError(f"The daemon does not answer: {printable(err)}") from err
    finally:
        connection.close()
    reason = body.get("reason") if isinstance(body, dict) else None
    return response.status, printable(reason or response.reason)


def main() -> int:
    """Print the sentence; return 0 for a daemon that is well, 1 for any other."""
    try:
        print(check(Path(sys.argv[1])))  # noqa: T201 - this is all that it does
    except WarmerError as err:
        print(err, file=sys.stderr)  # noqa: T201 - as above
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
