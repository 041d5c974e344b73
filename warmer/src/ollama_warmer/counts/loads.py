"""Knows when a model server says that it loads a model, in every format of a log.

Ollama: v0.1.0 to v0.33 (llm/server.go, llm/llama_server.go, x/mlxrunner/client.go and
x/imagegen/server.go). "starting llama runner" until 0.1.17, "Starting llama main loop" to 0.1.31,
"starting llama server" to 0.11.4, "starting runner" to 0.24, "starting llama-server" since 0.30.
llama-server itself writes "model loaded" when it is ready.
"""

from ollama_warmer.counts.register import Start, all_formats


def start(line: str) -> Start | None:
    """Return the process that the line says is started; none if it says no such thing."""
    return next(filter(None, (it.start(line) for it in all_formats())), None)


def loaded(line: str) -> bool:
    """Return whether the line says that a model is in memory now, which comes once for each."""
    return any(it.loaded is not None and it.loaded.search(line) for it in all_formats())


def ready(line: str) -> bool:
    """Return whether the line says that a model can be asked, be it for the second time."""
    return loaded(line) or any(
        it.ready is not None and it.ready.search(line) for it in all_formats()
    )
