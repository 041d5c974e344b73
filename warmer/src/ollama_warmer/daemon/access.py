"""The token that is in use, read again when its file changes."""

from collections.abc import Mapping
from pathlib import Path

from ollama_warmer.errors import TokenError
from ollama_warmer.house.credentials import Token, load_token


class Access:
    """The token, from where `warm` takes it, too.

    Attributes:
        token: The one in use.
    """

    def __init__(self, token_file: Path | None, environ: Mapping[str, str]) -> None:
        """Read the token; raises TokenError."""
        self._token_file = token_file
        self._environ = environ
        self.token = self.read()

    def read(self) -> Token:
        """Return the token that lies there now, without using it; raises TokenError."""
        return load_token(self._token_file, self._environ)

    def renew(self) -> bool:
        """Use the token that lies there now; return whether it is another one.

        A file that cannot be read right now leaves the one in use.
        """
        try:
            found = self.read()
        except TokenError:
            return False
        changed = found != self.token
        self.token = found
        return changed
