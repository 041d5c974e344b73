"""llama-server as Ollama starts it, on the rig's llama.cpp.

A real Ollama looks for a program of this name beside itself and gives it llama.cpp's own options.
`xllamacpp` is that server as a library, so this file only translates. Run without a model it ends
well: Ollama asks so which GPUs there are.
"""

import argparse
from collections.abc import Sequence
import faulthandler
from importlib import import_module
import signal
import sys
from typing import Any


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options that decide what a prompt costs; the others are for a GPU's sake."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("-c", "--ctx-size", type=int, dest="n_ctx", default=4096)
    parser.add_argument("-np", "--parallel", type=int, dest="n_parallel", default=1)
    parser.add_argument("-b", "--batch-size", type=int, dest="n_batch", default=2048)
    parser.add_argument("-ub", "--ubatch-size", type=int, dest="n_ubatch", default=512)
    parser.add_argument("-t", "--threads", type=int, default=1)
    parser.add_argument("--keep", type=int, dest="n_keep", default=0)
    parser.add_argument("--log-verbosity", type=int, dest="verbosity", default=3)
    parser.add_argument("--cache-ram", type=int, dest="cache_ram_mib", default=8192)
    parser.add_argument("--chat-template", default="")
    parser.add_argument("--no-jinja", action="store_true")
    parser.add_argument("--context-shift", action="store_true")
    parser.add_argument("--embedding", action="store_true")
    return parser.parse_known_args(arguments)[0]


def parameters(chosen: argparse.Namespace) -> Any:  # noqa: ANN401 (xllamacpp has no types)
    """Turn the options into llama.cpp's own parameters."""
    params = import_module("xllamacpp").CommonParams()
    params.model.path = chosen.model
    params.hostnames = [chosen.host]
    params.cpuparams.n_threads = chosen.threads
    params.use_jinja = not chosen.no_jinja
    params.ctx_shift = chosen.context_shift
    params.embedding = chosen.embedding
    params.chat_template = chosen.chat_template
    names = ("port", "n_ctx", "n_parallel", "n_batch", "n_ubatch", "n_keep", "verbosity")
    for name in (*names, "cache_ram_mib"):
        setattr(params, name, getattr(chosen, name))
    return params


def main() -> None:
    """Serve until a signal ends it, as Ollama does."""
    faulthandler.enable()  # a crash of llama.cpp is named in the log
    chosen = options(sys.argv[1:])
    if chosen.model is None:
        return
    server = import_module("xllamacpp").Server(parameters(chosen))
    sys.stderr.write(f"rig: serving at {server.listening_address}\n")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
