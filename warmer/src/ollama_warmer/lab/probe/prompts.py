"""The system texts that the probe sends: the same ones, byte for byte, as the published probe's.

A text has a tag, so that a prompt can be one that the server has never seen. The tag has to lead:
one at the end leaves everything in front of it shared, and no prompt would be a new one.
"""

from dataclasses import dataclass
import hashlib
from pathlib import Path

from ollama_warmer.errors import ConfigError

ENTRIES = 300
# On the densest vocabulary seen so far these are the most that fit into a window of 8,192 tokens.
MOST_ENTRIES = 600

_HEAD = "You are a helpful assistant. Answer briefly. Reference glossary: "
_DIGEST = 12


def glossary(tag: str, entries: int) -> str:
    """Return the system text of a tag: made-up terms, so that no two tags share a beginning.

    Args:
        tag: One word, such as `alpha`.
        entries: How many terms, from 1 to MOST_ENTRIES.
    """
    terms = (f"{tag}-term{number} means concept{number * 7 % 991}." for number in range(entries))
    return _HEAD + " ".join(terms)


def digest(text: str) -> str:
    """Return 12 hexadecimal digits that stand for a text: enough to see whether two are the same.

    `e3b0c44298fc` is the empty text's.
    """
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


@dataclass(frozen=True, kw_only=True)
class SystemSource:
    """Where the system texts come from.

    Attributes:
        entries: Length of the glossary; none for a file.
        text: The file's text; none for the glossary. It is sent, and never written anywhere.
        file_name: The file's name without its folder; none for the glossary.
    """

    entries: int | None = ENTRIES
    text: str | None = None
    file_name: str | None = None

    def prompt(self, tag: str) -> str:
        """Return the system text of a tag."""
        if self.text is not None:
            return f"Session tag: {tag}.\n\n{self.text}"
        return glossary(tag, ENTRIES if self.entries is None else self.entries)

    @property
    def variant(self) -> str:
        """The published name of what is measured; `cardprompt` stands for any file."""
        return "cardprompt" if self.text is not None else f"entries{self.entries}"

    @property
    def assets(self) -> dict[str, str]:
        """Name and digest of the file, so that two results can be seen to be of the same one."""
        if self.text is None or self.file_name is None:
            return {}
        return {self.file_name: digest(self.text)}


def from_file(path: Path) -> SystemSource:
    """Return the text of a file as the source of the system texts.

    Raises:
        ConfigError: It cannot be read, is empty, or is not text in UTF-8.
    """
    try:
        # Line ends as they are: a prompt is compared byte for byte.
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be read: {err.strerror}. Name a file with a system prompt with --file"
        ) from err
    except UnicodeDecodeError as err:
        raise ConfigError(f"{path}: is not text in UTF-8: save it as UTF-8") from err
    if not text.strip():
        raise ConfigError(f"{path}: is empty: name a file with a system prompt with --file")
    return SystemSource(entries=None, text=text, file_name=path.name)
