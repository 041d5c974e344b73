"""Takes the part of a model server's log that belongs to a run, without anyone's words.

A log can hold much more than counts: addresses of other clients, folders with people's names, and
with some settings whole prompts. So no line is copied; of the lines that are known the known part
is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
import re

from ollama_warmer.counts.wrapping import Unwrapping
from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.lab.probe.survey import PUBLISHED
from ollama_warmer.ollama.facts import Memory, Runner

_SLOT = r"slot +\S{1,20}: id +\d+ \| task -?\d+ \| +"
_PAIRS = r"[a-z_]+ = -?[\d.]+(?: MiB)?"
_OF_A_SLOT = (
    r"new prompt, (?:[\w.]+ = -?\d+(?:, )?)+",
    r"(?:cached )?n_(?:tokens|past) = \d+, memory_seq_rm \[\d+, end\)",
    r"[Cc]hecking checkpoint with \[-?\d+, -?\d+\] against -?\d+",
    rf"(?:restored|created|erased|erasing)[a-z ]+checkpoint[a-z\d ]*\({_PAIRS}(?:, {_PAIRS})*",
    r"superseding context checkpoint at n_tokens = \d+",
    r"forcing full prompt re-processing due to lack of cache data",
    r"(?:prompt eval|eval|total) time = +[\d.]+ ms / +\d+ tokens",
    r"stop processing: n_tokens = \d+, truncated = \d",
)
_OTHERS = (
    r"srv +\S{1,20}: cancel task, id_task = \d+",
    r"srv +\S{1,20}:  - cache state: \d+ prompts, [\d.]+ MiB",
    r"srv +\S{1,20}: (?:init: )?model loaded",
    r"print_info: (?:arch|n_swa) += [\w-]{1,40}",
    r"llama_memory_recurrent: size = +[\d.]+ MiB",
    r'msg=\\?"(?:starting llama-server|starting mlx runner subprocess|mlx runner is ready)\\?"',
    r'msg=\\?"cache (?:hit|miss)\\?"(?: (?:total|matched|cached|left)=\d+)+',
    r'msg=\\?"Prompt processing progress\\?"(?: (?:processed|total)=\d+)+',
)
_KNOWN = re.compile("|".join([*(_SLOT + part for part in _OF_A_SLOT), *_OTHERS]), re.ASCII)
_FLAG = re.compile(r" -(?:c|np|b|ub) \d+")
_STARTING = "starting llama-server"
_WINDOW = re.compile(r"n_swa += (\d+)", re.ASCII)


def safe_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the known parts of known lines, and nothing else of them."""
    unwrapping = Unwrapping()
    for line in chain.from_iterable(map(unwrapping.lines, lines)):
        if match := _KNOWN.search(line):
            flags = "".join(_FLAG.findall(line)) if _STARTING in match[0] else ""
            yield match[0] + flags


@dataclass(frozen=True, kw_only=True)
class Reported:
    """What a log says of the model that was loaded; None where it says nothing.

    Attributes:
        memory: `attention-only`, `sliding window` or `recurrent`.
        runner: `llama-server` or `MLX`.
        batch: The batch in tokens.
    """

    memory: str | None = None
    runner: str | None = None
    batch: int | None = None


def reported_by(lines: Iterable[str]) -> Reported:
    """Return what safe lines say of the model; the newest load counts."""
    memory: str | None = None
    runner: str | None = None
    batch: int | None = None
    for line in lines:
        if _STARTING in line:
            memory, runner = None, str(Runner.LLAMA_SERVER)
            flags = dict(flag.split() for flag in _FLAG.findall(line))
            batch = int(flags["-b"]) if "-b" in flags else None
        elif "mlx runner" in line:
            memory, runner, batch = None, str(Runner.MLX), None
        elif "llama_memory_recurrent" in line:
            memory = PUBLISHED[Memory.RECURRENT]
        elif memory is None and (match := _WINDOW.search(line)):
            memory = PUBLISHED[Memory.SLIDING if int(match[1]) else Memory.ATTENTION]
    return Reported(memory=memory, runner=runner, batch=batch)


class LogSlice:
    """A log file from the moment a run begins."""

    def __init__(self, path: Path) -> None:
        """Remember where the file ends now.

        Raises:
            ConfigError: It cannot be read.
        """
        self._path = path
        try:
            with path.open("rb") as file:
                self._start = file.seek(0, 2)
        except OSError as err:
            raise ConfigError(
                f"{path}: cannot be read: {err.strerror}. Name the model server's log with --log, "
                "and run the probe as a user who may read it"
            ) from err

    def lines(self) -> list[str]:
        """Return the safe lines since then; a log that was begun again counts from its beginning.

        Raises:
            WarmerError: It can no longer be read.
        """
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) >= self._start:
                    file.seek(self._start)
                else:
                    file.seek(0)
                return list(safe_lines(line.decode(errors="replace") for line in file))
        except OSError as err:
            raise WarmerError(
                f"{self._path}: cannot be read any more: {err.strerror}. The counts are complete "
                "without it"
            ) from err
