"""Everything that can go wrong, each with the exit code it ends the command with."""

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the command says to the program that started it."""

    ALL_WARM = 0
    NOT_ALL_WARM = 1
    CONFIGURATION = 2
    UNREACHABLE = 3
    AUTHENTICATION = 4


class WarmerError(Exception):
    """An error whose text is a sentence for a person and says what to do."""

    exit_code: ClassVar[ExitCode] = ExitCode.NOT_ALL_WARM


class ConfigError(WarmerError):
    """The configuration file or an option is wrong."""

    exit_code = ExitCode.CONFIGURATION


class TokenError(ConfigError):
    """There is no token, or it lies where others can read it."""


class CannotConnect(WarmerError):
    """Home Assistant is not at that address, or the connection to it broke."""

    exit_code = ExitCode.UNREACHABLE


class NotReady(CannotConnect):
    """Home Assistant did not finish starting in time."""


class AuthenticationFailed(WarmerError):
    """Home Assistant refused the token."""

    exit_code = ExitCode.AUTHENTICATION


class NoAnswer(WarmerError):
    """A command was sent and nothing came back in time; the connection still stands."""


class NotUnderstood(WarmerError):
    """Home Assistant answered in a shape that this program does not know."""

    exit_code = ExitCode.UNREACHABLE


class CommandFailed(WarmerError):
    """Home Assistant answered a command with an error.

    Attributes:
        code: Home Assistant's error code, for example `invalid_format`.
        message: Home Assistant's explanation, safe to show.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"Home Assistant refused the command: {message} ({code})")
        self.code = code
        self.message = message


class OllamaError(WarmerError):
    """Something went wrong between this program and Ollama."""


class CannotConnectOllama(OllamaError):
    """Nothing answers at the address, or it went silent in the middle."""


class NotOllama(OllamaError):
    """Something answers there, but not as Ollama does."""


class RefusedByOllama(OllamaError):
    """Ollama answered with an error.

    Attributes:
        status: The HTTP status; 200 if the error came inside an answer.
        message: Ollama's words, safe to show.
    """

    def __init__(self, url: str, status: int, message: str) -> None:
        super().__init__(f"Ollama at {url} answered with an error: {message} (HTTP {status})")
        self.status = status
        self.message = message
