"""Knows the lines with which a model server says that it loads a model, of all its releases.

Ollama: v0.1.0 to v0.33 (llm/server.go, llm/llama_server.go, x/mlxrunner/client.go and
x/imagegen/server.go). "starting llama runner" until 0.1.17, "starting llama server" from 0.1.32 to
0.11.4, "starting runner" to 0.24, "starting llama-server" since 0.30. llama-server itself writes
"model loaded" when it is ready.
"""

from dataclasses import dataclass
import re

from ollama_warmer.counts.log_facts import Runner

# A container's log file is JSON, with a backslash before each quotation mark.
_QUOTE = r'\\?"'
_STARTING = re.compile(
    rf"(?:msg={_QUOTE}|llama\.go:\d+: )"
    r"starting (?:(?P<server>llama-server)|(?P<mlx>mlx runner subprocess)|"
    rf"(?P<go>llama server|llama runner|runner))(?:{_QUOTE}|\s*$)(?: cmd=(?P<command>.*))?"
)
_LOADED = re.compile(
    rf":\s+model loaded(?:\\n|\s*$)|msg={_QUOTE}(?:mlx runner is ready|llama runner started in )"
    r"|llama\.go:\d+: llama runner started in "
)
# Ollama's word for it comes after llama-server's own.
_READY = re.compile(rf"msg={_QUOTE}llama-server started in ")


@dataclass(frozen=True, kw_only=True)
class Start:
    """A process that is started for a model.

    Attributes:
        runner: The kind of program.
        command: Its program and arguments, and what stands behind them in the line.
    """

    runner: Runner
    command: str = ""


def start(line: str) -> Start | None:
    """Return the process that the line says is started; none if it says no such thing.

    From 0.13 to 0.24 Ollama starts a runner without a model, too, whenever it looks for GPUs.
    """
    if (match := _STARTING.search(line)) is None:
        return None
    command = match["command"] or ""
    if match["server"]:
        return Start(runner=Runner.LLAMA_SERVER, command=command)
    if match["mlx"]:
        return Start(runner=Runner.MLX, command=command)
    if command and "--model" not in command:
        return None
    return Start(runner=Runner.GO, command=command)


def loaded(line: str) -> bool:
    """Return whether the line says that a model is in memory now, which comes once for each."""
    return _LOADED.search(line) is not None


def ready(line: str) -> bool:
    """Return whether the line says that a model can be asked, be it for the second time."""
    return loaded(line) or _READY.search(line) is not None
