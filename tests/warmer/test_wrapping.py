"""Whatever a journal, a container or a terminal made of a log's lines, they are read alike.

`fixtures/journal` is what systemd 252's journalctl printed, in each of its outputs, of one load and
one request; in those called `colour` the server had coloured each line, `all` is with `--all`, and
`json-all` also with colours of journalctl's own.
"""

from collections.abc import Callable
import json
from pathlib import Path

import pytest

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.counts.counts import Counts
from ollama_warmer.counts.lines import Window
from ollama_warmer.counts.logs import following
from ollama_warmer.counts.sources import Lines
from ollama_warmer.doctor.load_lines import LoadLog
from ollama_warmer.lab.probe.log import safe_lines
from tests.warmer.test_lines import known

JOURNAL = Path(__file__).with_name("fixtures") / "journal"
OUTPUTS = sorted(path.stem for path in JOURNAL.iterdir())
PLAIN = (JOURNAL / "cat.log").read_text().splitlines()
EXPECTED = known(1523, 499)


def read(log: bytes) -> tuple[Window, LoadLog, list[str]]:
    """Return what the counts, the doctor and the probe find in a log."""
    window, loads = Window(), LoadLog()
    lines = Lines().feed(log)
    for line in lines:
        window.feed(line)
        loads.feed(line)
    return window, loads, list(safe_lines(lines))


def check(log: bytes) -> None:
    """All of it has to be found."""
    window, loads, safe = read(log)
    assert window.counts() == EXPECTED
    assert (window.starts, window.facts.batch, window.gaps) == (1, 1024, 0)
    (load,) = loads.loads
    assert (load.model, load.context, load.complete) == ("sha256-aaaa0001", 16_384, True)
    assert safe == read("\n".join([*PLAIN, ""]).encode())[2]


@pytest.mark.parametrize("output", OUTPUTS)
def test_journal(output: str) -> None:
    """Every output of journalctl, texts as lists of bytes among them."""
    check((JOURNAL / f"{output}.log").read_bytes())


def test_fixtures_are_what_they_are_called() -> None:
    """A text with colours is a list of bytes in JSON, and stands behind its length in export."""
    assert len(OUTPUTS) == 23
    assert b'"MESSAGE":[27,91,51,50,109,' in (JOURNAL / "json-colour.log").read_bytes()
    assert b'MESSAGE\x1b[0m":' in (JOURNAL / "json-all-colour.log").read_bytes()
    assert b"\n\t\t27,\n" in (JOURNAL / "json-pretty-colour.log").read_bytes()
    assert b"MESSAGE\n" in (JOURNAL / "export-colour.log").read_bytes()


def syslog_escaped(line: str) -> str:
    """Return a coloured line as rsyslog writes it."""
    return f"Aug 28 16:17:38 gpu ollama[1]: #033[32m{line}#033[0m"


FORMS: dict[str, Callable[[str], str]] = {
    "docker json-file": lambda it: json.dumps(
        {"log": f"{it}\n", "stream": "stderr", "time": "2026-08-28T14:17:38.102Z"}
    ),
    "docker json-file with labels": lambda it: json.dumps(
        {"log": f"{it}\r\n", "stream": "stdout", "attrs": {"tag": "ollama"}, "time": "x"}
    ),
    "docker logs --timestamps": lambda it: f"2026-08-28T14:17:38.102345678Z {it}",
    "docker logs of a terminal": lambda it: f"{it}\r",
    "docker compose logs": lambda it: f"ollama-1  | {it}",
    "docker compose logs, coloured": lambda it: f"\x1b[36mollama-1  | \x1b[0m{it}\x1b[0m",
    "podman and Kubernetes": lambda it: f"2026-08-28T16:17:38.102345678+02:00 stderr F {it}",
    "podman logs --names": lambda it: f"ollama {it}",
    "syslog": lambda it: f"<30>Aug 28 16:17:38 gpu ollama[1211]: {it}",
    "syslog of 2009": lambda it: f"<30>1 2026-08-28T16:17:38.1+02:00 gpu ollama 1211 - - {it}",
    "syslog, escaped": syslog_escaped,
    "cat -v": lambda it: f"^[[32m{it}^[[0m",
    "coloured to the end of the line": lambda it: f"\x1b[1;32m{it}\x1b[0m\x1b[K",
    "fluentd": lambda it: json.dumps({"container_name": "/ollama", "source": "x", "log": it}),
    "filebeat": lambda it: json.dumps({"log": {"offset": 1}, "message": it, "input": {}}),
    "vector": lambda it: json.dumps({"host": "gpu", "message": f"\x1b[32m{it}\x1b[0m"}),
    "gelf": lambda it: json.dumps({"version": "1.1", "short_message": it}),
    "loki": lambda it: json.dumps({"labels": {"unit": "ollama"}, "line": it, "timestamp": "x"}),
    "a field sent twice": lambda it: json.dumps({"MESSAGE": [it, list(b"or not")]}),
    "spaces in JSON": lambda it: json.dumps({"MESSAGE": list(it.encode())}, indent=1).replace(
        "\n", " "
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_containers_and_shippers(form: str) -> None:
    """What stands around a line does not matter."""
    check("".join(f"{FORMS[form](line)}\n" for line in PLAIN).encode())


@pytest.mark.parametrize("colour", ["", "\x1b[32m"])
def test_load_is_seen_wherever_it_stands(colour: str) -> None:
    """Also the one word at the end of a line, of which nothing may be hidden by what is behind."""
    for form in FORMS.values():
        window, _, _ = read(f"{form(f'{colour}srv  llama_server: model loaded')}\n".encode())
        assert window.starts == 1, form("")


@pytest.mark.parametrize(
    "line",
    [
        '{"MESSAGE":null,"_PID":"1"}',
        '{"MESSAGE":[],"_PID":"1"}',
        '{"MESSAGE":[300,-1],"_PID":"1"}',
        '{"MESSAGE":"cut',
        '{"MESSAGE":' + "[" * 5000,
        '\t"MESSAGE" : [\n\t\t27,\n\t},',
        '\t"MESSAGE" : [' + "\n\t\t65," * 20_000,
        "{}",
        '"MESSAGE"',
        "[34B blob data]",
    ],
)
def test_shapes_without_a_text(line: str) -> None:
    """They are no line of a server, and the ones behind them are read all the same."""
    window, _, _ = read("\n".join([line, "", *PLAIN, ""]).encode())
    assert window.counts() == EXPECTED


async def test_file_in_json(tmp_path: Path) -> None:
    """A journal's JSON is a file like any other."""
    path = tmp_path / "ollama.json"
    path.touch()
    async with following(CountsConfig(source=CountsSource.FILE, path=path)) as log:
        assert log is not None
        await log.begin()
        path.write_bytes((JOURNAL / "json-colour.log").read_bytes())
        assert await log.counts() == Counts(
            prompt=1523, cached=499, re_read=1024, source=f"the log {path}"
        )
