"""Which state file belongs to a configuration."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ollama_warmer.config.config import Target
from ollama_warmer.errors import CannotConnect
from ollama_warmer.history.place import newest_of, places
from ollama_warmer.history.state import StateError, StateFile, unreached

CONFIG = Path("/etc/ollama-warmer/home.toml")
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
APP = Target(name="app", agent="conversation.house", text="7 times 8?", confirm_text="{number}?")


def add(path: Path, at: datetime) -> None:
    """Write a round to a file."""
    outcome = unreached((APP,), CannotConnect("Home Assistant is not there"))
    StateFile(path).add(outcome, at=at, occasion="schedule", seconds=1)


def test_the_services_file_and_ones_own() -> None:
    """Where systemd names a folder there is only that one."""
    service = Path("/var/lib/ollama-warmer/home.json")

    own = Path("/someone/.local/state/ollama-warmer/home.json")
    assert places(CONFIG, {"HOME": "/someone"}) == (service, own)
    assert places(CONFIG, {"STATE_DIRECTORY": "/var/lib/ollama-warmer"}) == (service,)


@pytest.mark.parametrize("newer", [0, 1])
def test_the_newer_one_is_shown(tmp_path: Path, newer: int) -> None:
    """A round by hand is shown until the service has made another, and the other way round."""
    files = [tmp_path / "service.json", tmp_path / "own.json"]
    add(files[newer], NOW)
    add(files[1 - newer], NOW - timedelta(hours=1))

    assert newest_of(files).path == files[newer]


def test_without_rounds_it_is_the_services(tmp_path: Path) -> None:
    """The first place is the likeliest."""
    assert newest_of([tmp_path / "service.json", tmp_path / "own.json"]).path.stem == "service"


def test_what_cannot_be_read_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service's folder is root's alone; an older file of one's own does not stand in for it."""

    def refused(_self: Path, *_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    add(tmp_path / "own.json", NOW)
    monkeypatch.setattr(Path, "open", refused)

    with pytest.raises(StateError, match=r"Permission denied\. Try again with sudo"):
        newest_of([tmp_path / "service.json", tmp_path / "own.json"])
