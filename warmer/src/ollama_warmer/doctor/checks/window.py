"""Looks at the window that the model is loaded with, and at the processor that reads prompts."""

from collections.abc import Iterator

from ollama_warmer.doctor.findings import OLLAMA, Finding, tokens
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.doctor.server import Server

_ALMOST_ALL = 99


@check(Part.SERVER, 50)
def load(seen: Seen) -> Iterator[Finding]:
    """Yield how the model is loaded: with which window, and on which processor."""
    if (server := seen.server) is not None:
        explained = seen.others is not None
        yield from check_num_ctx(server, seen.wanted.num_ctx, explained=explained)
        yield from check_processor(server)


def trained_context(server: Server) -> int | None:
    """Return the longest window that the model was trained for; none if it is not reported."""
    info = (server.shown or {}).get("model_info")
    found = [
        value
        for key, value in (info.items() if isinstance(info, dict) else ())
        if str(key).endswith(".context_length") and isinstance(value, int)
    ]
    return found[0] if found else None


def check_num_ctx(server: Server, wanted: int | None, *, explained: bool) -> Iterator[Finding]:
    """Yield whether the model is loaded with the agent's window.

    Args:
        server: The server.
        wanted: The agent's num_ctx in tokens, as the configuration says.
        explained: Whether the log shows that someone else loaded it with another one, which is
            a finding of its own.
    """
    trained = trained_context(server)
    if wanted is not None and trained is not None and wanted > trained:
        yield OLLAMA.advice(
            "num_ctx",
            f"the agent's num_ctx is {tokens(wanted)}, and the model was trained for "
            f"{tokens(trained)}: Ollama takes the smaller one",
            f"Set num_ctx to {tokens(trained)} in the agent's options and in the configuration",
        )
        return
    if server.entry is None:
        return
    loaded = server.entry.context
    if loaded is None:
        yield OLLAMA.unknown("num_ctx", "the server does not report the window of a loaded model")
    elif wanted is None:
        yield OLLAMA.unknown(
            "num_ctx",
            f"the model is loaded with {tokens(loaded)}, and the agent's num_ctx is not known",
            "Write the agent's num_ctx under [ollama] in the configuration",
        )
    elif loaded == wanted:
        yield OLLAMA.ok("num_ctx", f"the model is loaded with the agent's {tokens(wanted)}")
    elif not explained:
        yield OLLAMA.problem(
            "num_ctx",
            f"the model is loaded with {tokens(loaded)} and the agent's num_ctx is said to be "
            f"{tokens(wanted)}: each change of it reloads the model and loses every prompt",
            "Compare num_ctx in the agent's options with the configuration, and give every other "
            "client of this model the same",
        )


def check_processor(server: Server) -> Iterator[Finding]:
    """Yield whether all of the model is in the memory of GPUs."""
    if (entry := server.entry) is None:
        return
    if entry.on_gpu is None or not entry.size:
        yield OLLAMA.unknown("processor", "the server does not say where the model is")
        return
    percent = 100 * entry.on_gpu // entry.size
    if percent >= _ALMOST_ALL:
        yield OLLAMA.ok("processor", "the whole model is in the memory of the GPU")
        return
    yield OLLAMA.advice(
        "processor",
        f"{100 - percent} % of the model runs on the processor, which reads prompts many times "
        "slower",
        "Take a smaller model or window, or free memory of the GPU; a cold prompt costs most here",
    )
