"""The probe sends the published prompts, byte for byte."""

import hashlib
from pathlib import Path

import pytest

from ollama_warmer.errors import ConfigError
from ollama_warmer.lab.probe.prompts import MOST_ENTRIES, SystemSource, digest, from_file, glossary


@pytest.mark.parametrize(
    ("tag", "characters", "sha256"),
    [
        ("alpha", 9507, "34f317625e95d294"),
        ("bravo", 9507, "a5591716be33a9eb"),
        ("charlie", 10107, "1bd5f2190d8acd0e"),
        ("delta", 9507, "cb3d925417baa44e"),
        ("echo", 9207, "5ce7b5f8c78c3b06"),
    ],
)
def test_check_values(tag: str, characters: int, sha256: str) -> None:
    """Length and hash of every tag's text are those of the specification."""
    text = glossary(tag, 300)
    assert len(text) == characters
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == sha256


@pytest.mark.parametrize(
    ("entries", "characters"), [(100, 3137), (150, 4728), (200, 6322), (450, 14291), (600, 19076)]
)
def test_lengths_of_the_sweep(entries: int, characters: int) -> None:
    """Every length of the published sweep has the published number of characters."""
    assert len(glossary("alpha", entries)) == characters


def test_a_shorter_glossary_begins_a_longer_one() -> None:
    """That is why each length is measured on a model that was reloaded."""
    assert glossary("alpha", 150).startswith(glossary("alpha", 100))
    assert glossary("alpha", 1).endswith("alpha-term0 means concept0.")
    assert "alpha-term142 means concept3." in glossary("alpha", MOST_ENTRIES)


def test_glossary_is_a_source() -> None:
    """The variant has the published name."""
    source = SystemSource(entries=150)
    assert source.prompt("bravo") == glossary("bravo", 150)
    assert (source.variant, source.assets) == ("entries150", {})


def test_a_file_is_led_by_its_tag(tmp_path: Path) -> None:
    """The tag stands in front of the text: behind it, all prompts would share their beginning."""
    file = tmp_path / "prompt.txt"
    file.write_bytes(b"You are a house.\r\n")
    source = from_file(file)
    assert source.prompt("delta") == "Session tag: delta.\n\nYou are a house.\r\n"
    assert source.variant == "cardprompt"
    assert source.assets == {"prompt.txt": digest("You are a house.\r\n")}
    file.write_bytes("You are a house.\r\n".encode("utf-8-sig"))
    assert from_file(file) == source


def test_empty_answer_has_its_digest() -> None:
    """An empty answer is known by this digest in published results."""
    assert digest("") == "e3b0c44298fc"


@pytest.mark.parametrize(
    ("content", "mistake"),
    [(None, "cannot be read"), (b"\xff\xfe", "not text in UTF-8"), (b" \n", "is empty")],
)
def test_a_file_that_is_no_prompt(tmp_path: Path, content: bytes | None, mistake: str) -> None:
    """What is wrong with the file is said."""
    file = tmp_path / "prompt.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=mistake):
        from_file(file)
