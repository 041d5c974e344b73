"""What a version of Ollama means for the cache of prompts."""

from collections.abc import Iterator

from ollama_warmer.doctor.findings import OLLAMA, Finding
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.ollama.facts import (
    CACHED_COUNT,
    ORDERED_TOOLS,
    Memory,
    PromptPath,
    Runner,
    Version,
)
from ollama_warmer.words import printable

_NEWEST_FIX = "Update Ollama to 0.35.1 or newer"


@check(Part.SERVER, 20)
def versions(seen: Seen) -> Iterator[Finding]:
    """Yield what the server's version means for this model."""
    if (server := seen.server) is not None:
        yield from check_versions(
            server.version,
            memory=seen.known.memory,
            runner=server.runner,
            path=seen.known.path,
        )


def check_versions(
    version: Version, *, memory: Memory | None, runner: Runner, path: PromptPath | None
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
    yield OLLAMA.ok("ollama_version", f"version {shown}, {_engine(runner)}")
    if not version.since(*CACHED_COUNT):
        yield _no_counts(version, runner)
    yield from _faults(version)
    if runner is Runner.MLX:
        yield from _mlx_faults(version)
    elif memory in {Memory.RECURRENT, Memory.SLIDING}:
        yield from _checkpoint_faults(version, path)


def _engine(runner: Runner) -> str:
    if runner is Runner.MLX:
        return "which runs this model in its MLX runner"
    if runner is Runner.LLAMA_SERVER:
        return "which runs models in llama-server"
    return "which runs models in a runner of its own, without llama-server's lines in the log"


def _no_counts(version: Version, runner: Runner) -> Finding:
    """Say what is missing before 0.33.3."""
    log = "name its log under [counts]"
    if runner is Runner.GO:
        log += " and start it with OLLAMA_DEBUG=1"
    return OLLAMA.advice(
        "version_counts",
        f"version {printable(version.text)} does not report how many tokens were cached: that came "
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
    if not version.since(*ORDERED_TOOLS):
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


def _checkpoint_faults(version: Version, path: PromptPath | None) -> Iterator[Finding]:
    """Yield the faults that meet models which can only go back to a checkpoint."""
    if version.between((0, 32, 2), (0, 35, 0)):
        # llama.cpp PR 25472, undone by PR 28302.
        yield OLLAMA.advice(
            "version_checkpoints",
            "versions 0.32.2 to 0.34 erase a checkpoint when a newer one lies within 8,192 tokens, "
            "so that this model reads prompts again that were warm",
            _NEWEST_FIX,
        )
    elif version.between((0, 30, 11), (0, 32, 2)) and path is not PromptPath.NATIVE:
        yield OLLAMA.advice(
            "version_checkpoints",
            "versions 0.30.11 to 0.32.1 make no checkpoint at the end of a prompt, so that this "
            "model may read a batch of tokens again even for the same question",
            _NEWEST_FIX,
        )
