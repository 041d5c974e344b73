"""Keeps the last rounds in a small file, so that `status` can show them; no one's words are in it.

The file is JSON: `{"version": 1, "rounds": [{"at", "occasion", "seconds", "verdict", "targets":
[{"name", "agent", "device", "verdict", "reason", "steps": [{"step", "prompt", "cached", "re_read",
"seconds"}]}]}]}`. `at` is an ISO 8601 time with its zone, times are seconds, counts are tokens and
null if unknown; the newest round is the last.
"""

from collections.abc import Mapping, Sequence
import contextlib
from datetime import UTC, datetime
import errno
import json
import logging
import os
from pathlib import Path
import tempfile
from typing import Any

from ollama_warmer.config.config import Target
from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.history.shape import VERSION, DamagedError, NewerError, parse
from ollama_warmer.round.rounds import Round, TargetResult
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.written import is_special

# Four days of hourly rounds; with twenty targets that is less than a megabyte.
KEPT = 100
FOLDER = "ollama-warmer"
BY_COMMAND = "command"

# Far more than the rounds that are kept can take.
_LARGEST = 32 * 1024 * 1024
_LOGGER = logging.getLogger(__name__)


def default_path(config_file: Path, environ: Mapping[str, str]) -> Path:
    """Return where the rounds of a configuration are kept if no one says otherwise.

    That is `<name of the configuration>.json` in systemd's `$STATE_DIRECTORY`, else in
    `ollama-warmer` under `$XDG_STATE_HOME`, else under `~/.local/state`.

    Raises:
        ConfigError: There is no such folder, because the user has no home.
    """
    name = f"{config_file.stem}.json"
    # systemd lists all folders of the unit with colons; ours have one.
    if folder := environ.get("STATE_DIRECTORY", "").split(":")[0]:
        return Path(folder, name)
    # The XDG specification has relative paths ignored.
    if (base := Path(environ.get("XDG_STATE_HOME", ""))).is_absolute():
        return base / FOLDER / name
    try:
        home = Path(environ.get("HOME") or Path.home())
    except RuntimeError as err:
        raise ConfigError("This user has no home folder: name the state file with --state") from err
    return home / ".local/state" / FOLDER / name


def unreached(targets: Sequence[Target], err: WarmerError) -> Round:
    """Return a round in which no target was asked, because of this error."""
    results = (
        TargetResult(target=target, verdict=Verdict.FAILED, reason=str(err), error=err)
        for target in targets
    )
    return Round(results=tuple(results), stopped=err)


class StateError(ConfigError):
    """The state file is there and cannot be used; the text says why."""


class StateFile:
    """The last rounds, on disk.

    Attributes:
        path: Where they are.
        problem: A sentence that says why the file was not read or written the last time; none if
            it was.
    """

    def __init__(self, path: Path, *, kept: int = KEPT) -> None:
        """Take the place and how many rounds are kept; the file is made by the first round."""
        self.path = path
        self.problem: str | None = None
        self._kept = kept
        self._unwritten: list[dict[str, Any]] = []

    def load(self) -> dict[str, Any]:
        """Return the JSON object that is described above, checked; without rounds if there is none.

        A file that cannot be used is left as it is; `problem`, and one line in the log, say why.
        """
        rounds: list[dict[str, Any]] = []
        try:
            rounds = self.read()["rounds"]
        except StateError as err:
            self._warn(str(err))
        else:
            self.problem = None
        return {"version": VERSION, "rounds": (rounds + self._unwritten)[-self._kept :]}

    def read(self) -> dict[str, Any]:
        """Return what is on disk, like `load`, for whoever has to know that it cannot be used.

        Raises:
            StateError: It is damaged, of a later release, or cannot be read.
        """
        try:
            return {"version": VERSION, "rounds": self._read()}
        except DamagedError as err:
            raise StateError(
                f"The state file {self.path} is damaged: {err}. The next round puts it aside"
            ) from err
        except NewerError as err:
            raise StateError(self._newer(err)) from err
        except OSError as err:
            raise StateError(f"The state file {self.path} cannot be read: {_why(err)}") from err

    def add(self, outcome: Round, *, at: datetime, occasion: str, seconds: float) -> None:
        """Add a round to the file; in the place of a damaged file, which is put aside.

        A round that cannot be written is kept in memory and written with a later one. That is
        logged once, and never raised: warming goes on without the file.

        Args:
            outcome: The round.
            at: When it began, with its zone.
            occasion: Why it was made, in a word or two.
            seconds: How long it took.
        """
        self._unwritten.append(_round(outcome, at=at, occasion=occasion, seconds=seconds))
        del self._unwritten[: -self._kept]
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Someone else may have written since: a round by hand, beside the service.
            self._write((self._read_or_put_aside() + self._unwritten)[-self._kept :])
        except NewerError as err:
            self._warn(self._newer(err))
        except OSError as err:
            self._warn(
                f"The state file {self.path} cannot be written: {_why(err)}. Rounds are kept in "
                "memory until it can"
            )
        else:
            self._unwritten.clear()
            self.problem = None

    def _read(self) -> list[dict[str, Any]]:
        """Return the rounds; raise OSError, DamagedError or NewerError."""
        if is_special(self.path):
            raise OSError(errno.EINVAL, "it is a device or a pipe, name a file with --state")
        try:
            with self.path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return []
        if len(content) > _LARGEST:
            raise DamagedError("it is far too large")
        return parse(content)

    def _read_or_put_aside(self) -> list[dict[str, Any]]:
        try:
            return self._read()
        except DamagedError as err:
            aside = self.path.with_name(f"{self.path.name}.corrupt")
            self.path.replace(aside)
            _LOGGER.warning(
                "The state file %s is damaged: %s. It is now %s, and the history starts again",
                self.path,
                err,
                aside.name,
            )
            return []

    def _write(self, rounds: list[dict[str, Any]]) -> None:
        """Put the rounds in the file's place all at once, so that no one ever reads half of it."""
        content = json.dumps({"version": VERSION, "rounds": rounds}, separators=(",", ":"))
        # Readable for its owner alone, from the start.
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise

    def _newer(self, err: NewerError) -> str:
        return (
            f"The state file {self.path} {err}: it is left alone. Update ollama-warmer, or name "
            "another file with --state"
        )

    def _warn(self, problem: str) -> None:
        """Log a problem, unless it is the one that was logged last and still stands."""
        if problem != self.problem:
            _LOGGER.warning("%s", problem)
        self.problem = problem


def _round(outcome: Round, *, at: datetime, occasion: str, seconds: float) -> dict[str, Any]:
    return {
        "at": at.astimezone(UTC).isoformat(timespec="seconds"),
        "occasion": occasion,
        "seconds": round(seconds, 3),
        "verdict": str(outcome.verdict),
        "targets": [result.as_object() for result in outcome.results],
    }


def _why(err: OSError) -> str:
    return err.strerror or str(err)
