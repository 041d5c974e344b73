"""What a version of Ollama means for the cache of prompts."""

from collections.abc import Iterator
from dataclasses import dataclass
import re
from typing import Self

from ollama_warmer.doctor.findings import OLLAMA, Finding
from ollama_warmer.memory import Memory, Path, Runner
from ollama_warmer.words import printable

# ollama PR 17943, "Report cached prompt tokens".
CACHED_COUNT = (0, 33, 3)
# ollama PR 16031: models run in llama.cpp's own server.
LLAMA_SERVER = (0, 30, 0)

_NEWEST_FIX = "Update Ollama to 0.35.1 or newer"


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version, for comparing.

    Attributes:
        text: As the server says it.
        numbers: Its three numbers; none for a build of somebody's own, which says 0.0.0.
        early: Whether it came before the release of these numbers, as `0.33.3-rc1` did.
    """

    text: str
    numbers: tuple[int, int, int] | None
    early: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `/api/version` says."""
        match = re.match(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(-rc)?", text)
        if match is None:
            return cls(text=text, numbers=None)
        numbers = int(match[1]), int(match[2]), int(match[3] or 0)
        if not any(numbers):
            return cls(text=text, numbers=None)
        return cls(text=text, numbers=numbers, early=match[4] is not None)

    def since(self, *release: int) -> bool:
        """Whether it has what came with a release; an early build of it counts as without."""
        if self.numbers is None:
            return False
        return self.numbers > release or (self.numbers == release and not self.early)

    def between(self, first: tuple[int, int, int], fixed: tuple[int, int, int]) -> bool:
        """Whether it has a fault that came with one release and went with another."""
        return self.since(*first) and not self.since(*fixed)


def check_versions(
    version: Version, *, memory: Memory | None, runner: Runner, path: Path | None
) -> Iterator[Finding]:
    """Yield what a version means.

    Args:
        version: The server's.
        memory: How the model remembers; none if it is not known.
        runner: What runs the model.
        path: Who makes the prompt; none if it is not known.
    """
    shown = printable(version.text)
    if version.numbers is None:
        yield OLLAMA.unknown(
            "ollama_version",
            f"version {shown} is no release, and what it does is not known",
            "Run a release, or confirm with --measure that counts arrive",
        )
        return
    yield OLLAMA.ok("ollama_version", f"version {shown}, {_engine(version, runner)}")
    if not version.since(*CACHED_COUNT):
        yield _no_counts(version)
    yield from _faults(version)
    if runner is Runner.MLX:
        yield from _mlx_faults(version)
    elif memory in {Memory.RECURRENT, Memory.SLIDING}:
        yield from _checkpoint_faults(version, path)


def _engine(version: Version, runner: Runner) -> str:
    if runner is Runner.MLX:
        return "which runs this model in its MLX runner"
    if version.since(*LLAMA_SERVER):
        return "which runs models in llama-server"
    return "which runs models in a runner of its own, without llama-server's lines in the log"


def _no_counts(version: Version) -> Finding:
    """Say what is missing before 0.33.3."""
    log = "name its log under [counts]"
    if not version.since(*LLAMA_SERVER):
        log += " and start it with OLLAMA_DEBUG=1"
    return OLLAMA.advice(
        "version_counts",
        f"version {printable(version.text)} does not tell how many tokens were cached: that came "
        "with 0.33.3",
        f"{_NEWEST_FIX}, or {log}",
    )


def _faults(version: Version) -> Iterator[Finding]:
    """Yield the faults that meet every model."""
    if version.numbers == (0, 30, 0):
        # ollama issue 16414, fixed by PR 16428.
        yield OLLAMA.problem(
            "version_wrong_counts",
            "version 0.30.0 counts only the tokens that were read as the prompt's",
            _NEWEST_FIX,
        )
    if version.between((0, 30, 0), (0, 30, 8)):
        # ollama issue 16635, fixed by PR 16639.
        yield OLLAMA.advice(
            "version_shift",
            "versions 0.30.0 to 0.30.7 switch the cache off for every request with `shift: false`",
            _NEWEST_FIX,
        )
    if not version.since(0, 14, 0):
        # ollama PR 13525: before it, tools went through maps without an order.
        yield OLLAMA.problem(
            "version_tools",
            "versions before 0.14 may put the same tools into the prompt in another order each "
            "time, and then the prompt is never warm",
            _NEWEST_FIX,
        )


def _mlx_faults(version: Version) -> Iterator[Finding]:
    """Yield the faults of the MLX runner."""
    if not version.since(0, 33, 0):
        # ollama issue 17829, fixed by PR 17901.
        yield OLLAMA.advice(
            "version_mlx",
            "the MLX runner before 0.33.0 may lose its whole cache when it restores a prompt",
            _NEWEST_FIX,
        )
    elif version.numbers == (0, 33, 3):
        # ollama issue 18267.
        yield OLLAMA.advice(
            "version_mlx",
            "the MLX runner of 0.33.3 restores a prompt only to the last multiple of 8,192 tokens",
            _NEWEST_FIX,
        )


def _checkpoint_faults(version: Version, path: Path | None) -> Iterator[Finding]:
    """Yield the faults that meet models which can only go back to a checkpoint."""
    if version.between((0, 32, 2), (0, 35, 0)):
        # llama.cpp PR 25472, undone by PR 28302.
        yield OLLAMA.advice(
            "version_checkpoints",
            "versions 0.32.2 to 0.34 erase a checkpoint when a newer one lies within 8,192 tokens, "
            "so that this model reads prompts again that were warm",
            _NEWEST_FIX,
        )
    elif version.between((0, 30, 11), (0, 32, 2)) and path is not Path.NATIVE:
        yield OLLAMA.advice(
            "version_checkpoints",
            "versions 0.30.11 to 0.32.1 make no checkpoint at the end of a prompt, so that this "
            "model may read a batch of tokens again even for the same question",
            _NEWEST_FIX,
        )
