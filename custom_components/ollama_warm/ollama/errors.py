"""What can go wrong between Home Assistant and a server, each with its sentence."""

from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN


class OllamaError(HomeAssistantError):
    """Base of everything that can go wrong between Home Assistant and Ollama.

    The message is a translated sentence; `translation_key` distinguishes the cases.
    """

    key = "server_error"

    def __init__(self, **placeholders: str) -> None:
        """Make the error of this class with the placeholders of its sentence."""
        super().__init__(
            translation_domain=DOMAIN,
            translation_key=self.key,
            translation_placeholders=placeholders,
        )


class CannotConnectError(OllamaError):
    """Nothing answers at the address, or it went silent. Placeholder: url."""

    key = "cannot_connect"


class InvalidAuthError(OllamaError):
    """The server wants another API key. Placeholder: url."""

    key = "invalid_auth"


class InvalidPasswordError(OllamaError):
    """The server wants another user name or password. Placeholder: url."""

    key = "invalid_password"


class RedirectedError(OllamaError):
    """The server redirects to another one, which was sent nothing. Placeholders: url, target."""

    key = "redirected"


class NotArrivingError(OllamaError):
    """The server redirects a request in a way in which it is lost. Placeholder: url."""

    key = "not_arriving"


class NotOllamaError(OllamaError):
    """Something answers, but not as Ollama does. Placeholder: url."""

    key = "not_ollama"


class BrokenAnswerError(OllamaError):
    """The answer stopped in the middle or could not be read. Placeholder: url."""

    key = "broken_answer"


class UnreadableAnswerError(OllamaError):
    """The answer is longer, or nested deeper, than any that makes sense. Placeholder: url."""

    key = "unreadable_answer"


class ModelNotFoundError(OllamaError):
    """The model is not on the server. Placeholders: model."""

    key = "model_not_found"


class ServerError(OllamaError):
    """Ollama says that it failed. Placeholder: message, in Ollama's words."""

    key = "server_error"
