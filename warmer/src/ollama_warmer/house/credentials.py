"""Finds Home Assistant's token without ever showing it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import os
from pathlib import Path
import stat

from ollama_warmer.errors import TokenError
from ollama_warmer.house.token_text import LONGEST, WHERE, clean
from ollama_warmer.written import decoded

CREDENTIAL = "ha-token"
_OTHERS = stat.S_IRGRP | stat.S_IWGRP | stat.S_IROTH | stat.S_IWOTH


@dataclass(frozen=True)
class Token:
    """A token that no traceback, log or error prints."""

    secret: str = field(repr=False)

    def hide_in(self, words: str) -> str:
        """Return the words with the token struck out, for text that a server sent back."""
        return words.replace(self.secret, "***")


def load_token(token_file: Path | None, environ: Mapping[str, str]) -> Token:
    """Return the token from the first place that names one.

    The places, in order: the file that was asked for, systemd's credential `ha-token`, and the
    variable `HA_TOKEN`.

    Args:
        token_file: The value of `--token-file`, if it was given.
        environ: The environment of the process.

    Raises:
        TokenError: There is none, it cannot be read, others can read it, or it can be no token.
    """
    credentials = environ.get("CREDENTIALS_DIRECTORY")
    if token_file is not None:
        return _from_file(token_file, credentials)
    if credentials and (loaded := Path(credentials, CREDENTIAL)).exists():
        return _from_file(loaded, credentials)
    if secret := environ.get("HA_TOKEN"):
        return Token(clean(secret, "the variable HA_TOKEN"))
    raise TokenError(
        "No token for Home Assistant: give --token-file FILE, systemd's credential "
        f"{CREDENTIAL}, or the variable HA_TOKEN. Make one {WHERE}"
    )


def _from_file(path: Path, credentials: str | None) -> Token:
    try:
        with path.open("rb") as file:
            # The mode of what was opened, not of what the name pointed to a moment before.
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(LONGEST)
    except OSError as err:
        raise TokenError(
            f"The token file {path} cannot be read: {err.strerror}. Put the token there, or name "
            "another file with --token-file"
        ) from err
    if mode & _OTHERS and not _is_credential(path, credentials):
        raise TokenError(
            f"The token file {path} is open to other users of this machine: close it with "
            f"chmod 600 {path}"
        )
    return Token(clean(decoded(content, "replace"), f"the token file {path}"))


def _is_credential(path: Path, credentials: str | None) -> bool:
    """Say whether systemd guards the file.

    It opens credentials to the service by an access control list, which looks like a group right.
    """
    return bool(credentials) and path.resolve().is_relative_to(Path(str(credentials)).resolve())
