"""The process around llama.cpp's server: ends with its parent, and can be killed like one.

Run as `python -m tests.rig.llama_process SETTINGS` with the settings as JSON. The address is the
first line of standard output; everything llama.cpp has to say goes to standard error.
"""

import faulthandler
from importlib import import_module
import json
import sys
from typing import Any


def parameters(settings: dict[str, Any]) -> Any:  # noqa: ANN401 (xllamacpp has no types)
    """Turn the settings into llama.cpp's own parameters."""
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = settings.pop("model")
    params.cpuparams.n_threads = settings.pop("threads")
    if template := settings.pop("chat_template"):
        params.chat_template = template
    params.use_jinja = True
    params.port = 0
    for name, value in settings.items():
        setattr(params, name, value)
    return params


def main() -> None:
    """Serve until standard input ends, which it also does when the parent dies."""
    faulthandler.enable()  # a crash of llama.cpp is named in its log
    server = import_module("xllamacpp").Server(parameters(json.loads(sys.argv[1])))
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
