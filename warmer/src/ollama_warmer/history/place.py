"""Finds the state file of a configuration: the service's or one's own, whichever is newer."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ollama_warmer.history.state import FOLDER, StateError, StateFile, default_path

# Where StateDirectory= of the units in systemd/ leads to.
SERVICES = Path("/var/lib") / FOLDER
_NEVER = datetime.min.replace(tzinfo=UTC)


def places(
    config_file: Path, environ: Mapping[str, str], services: Path = SERVICES
) -> tuple[Path, ...]:
    """Return where rounds of a configuration may be, the likeliest first.

    Raises:
        ConfigError: The user has no home.
    """
    own = default_path(config_file, environ)
    service = services / own.name
    return (own,) if service == own else (service, own)


def newest_of(paths: Sequence[Path]) -> StateFile:
    """Return the state file whose last round is the newest; without any round the first.

    Raises:
        StateError: A file is there and cannot be read: whether it is newer cannot be known.
    """
    newest, at = StateFile(paths[0]), _NEVER
    for path in paths:
        state = StateFile(path)
        try:
            rounds = state.read()["rounds"]
        except StateError as err:
            if isinstance(err.__cause__, PermissionError):
                raise StateError(
                    f"{err}. Try again with sudo, or name another with --state"
                ) from err
            raise
        if rounds and (last := datetime.fromisoformat(rounds[-1]["at"])) > at:
            newest, at = state, last
    return newest
