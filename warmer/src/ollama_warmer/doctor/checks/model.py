"""Looks at the model itself: its memory, who makes its prompt, and what its template says."""

from collections.abc import Iterator, Mapping
import re
from typing import Any

from ollama_warmer.config.config import OllamaConfig
from ollama_warmer.doctor.findings import MODEL, Finding, tokens
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.ollama.facts import Memory, PromptPath, Runner
from ollama_warmer.words import printable

# What templates say or call where they put today's date into the prompt. "Cutting Knowledge Date"
# of the Llama family is a fixed text.
_DATE = re.compile(r"current_?date|strftime_now|today'?s? date|current date", re.IGNORECASE)
# Renderers that write the date without a template (Ollama 0.33).
_DATED_RENDERERS = {"harmony", "glimmer"}
_PARAMETERS = ("num_ctx", "num_batch", "num_keep")
_MEANS = {
    Memory.ATTENTION: "it can go on from any place of a prompt",
    Memory.SLIDING: "it goes on from a checkpoint, or from within its window",
    Memory.RECURRENT: "it can only go back to a checkpoint",
}


@check(Part.MODEL, 10)
def model(seen: Seen) -> Iterator[Finding]:
    """Yield what is found of the model itself; the log knows better than its description."""
    if (server := seen.server) is None or (shown := server.shown) is None:
        return
    last = seen.loads.last
    if last is not None and last.memory is not None:
        yield check_memory(last.memory, "by the log")
    elif server.memory is not None:
        yield check_memory(server.memory, "by its description")
    if seen.path_by_log is not None:
        yield check_path(seen.path_by_log, "by the log")
    elif server.path is not None:
        yield check_path(server.path, "by its template")
    yield check_runner(server.runner)
    yield check_template(shown)
    yield from check_modelfile(shown, seen.wanted)
    yield from check_cloud(shown)


def check_memory(memory: Memory, by: str) -> Finding:
    """Say how the model remembers a prompt, and who says so."""
    return MODEL.ok("memory", f"its memory is {memory} ({by}): {_MEANS[memory]}")


def check_path(path: PromptPath, by: str) -> Finding:
    """Say who makes the prompt, and who says so."""
    maker = "llama-server" if path is PromptPath.NATIVE else "Ollama"
    return MODEL.ok("path", f"its prompt takes the {path} path ({by}): {maker} makes it")


def check_runner(runner: Runner) -> Finding:
    """Say what runs the model."""
    if runner is Runner.MLX:
        return MODEL.ok(
            "runner",
            "MLX runs it: the first new question after a new prompt is read as a whole, and only "
            "the ones after it are warm",
        )
    return MODEL.ok("runner", f"{runner} runs it")


def check_template(shown: Mapping[str, Any]) -> Finding:
    """Say whether the template puts today's date into the prompt."""
    found = _DATE.search(str(shown.get("template") or ""))
    renderer = str(shown.get("renderer") or "")
    if found is None and renderer not in _DATED_RENDERERS:
        return MODEL.ok("template_date", "its template has no date in it that could be recognised")
    what = f"`{found[0]}`" if found else f"renderer {printable(renderer)}"
    return MODEL.advice(
        "template_date",
        f"its template puts today's date into the prompt ({what}), which changes at midnight and "
        "makes every prompt new",
        "Warm up just after midnight, in the time zone of the model server",
    )


def check_modelfile(shown: Mapping[str, Any], wanted: OllamaConfig) -> Iterator[Finding]:
    """Yield what the model's own parameters change.

    Whoever does not name num_ctx gets the model's own, and with it another load of the model.
    """
    own = dict(_parameters(str(shown.get("parameters") or "")))
    num_ctx = own.get("num_ctx")
    if num_ctx is not None and wanted.num_ctx is not None and num_ctx != str(wanted.num_ctx):
        yield MODEL.advice(
            "modelfile",
            f"its own num_ctx is {printable(num_ctx)} and the agent's {tokens(wanted.num_ctx)}: "
            "who names none reloads the model",
            "Set the model's num_ctx to the agent's (PARAMETER num_ctx in its Modelfile)",
        )
        return
    named = [f"{name} {printable(own[name])}" for name in _PARAMETERS if name in own]
    if shown.get("system"):
        named.append("a system text, in place of which Home Assistant's is sent")
    has = f"what it brings along stands in no one's way: {', '.join(named)}"
    yield MODEL.ok("modelfile", has if named else "it brings no num_ctx or num_batch along")


def check_cloud(shown: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a finding if someone else's machine runs the model."""
    if shown.get("remote_host") or shown.get("remote_model"):
        yield MODEL.advice(
            "cloud",
            "it runs in the cloud: what its cache keeps, and for how long, is not in your hands",
            "Use a model that runs at home where a warm prompt matters",
        )


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a Modelfile, of which `/api/show` gives one in a line."""
    for line in text.splitlines():
        name, _, value = line.strip().partition(" ")
        if name and value.strip():
            yield name, value.strip()
