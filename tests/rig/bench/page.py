"""The page of the bench: what ours and Home Assistant's own agent re-read, scenario by scenario."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ollama_warmer.pages import document, values
from ollama_warmer.pages.drawing import Figure
from ollama_warmer.pages.markup import Child, Markup, element
from ollama_warmer.pages.output import write
from tests.rig.bench.ranges import Pair, described, ranges

CORE, OURS = "core", "ollama_warm"
_SCENARIOS = {
    "rooms": "Six rooms, one warm-up",
    "app": "The app, one warm-up",
    "clock": "A clock in the first line",
    "new_entity": "A new device",
    "unexposed": "A hidden device",
    "midnight": "After midnight",
    "beyond_history": "A long conversation",
    "home_assistant_restart": "Home Assistant restarted",
    "backend_restart": "Model server restarted",
    "two_rooms": "Two rooms in turn",
    "foreign_prompt": "Someone else's prompt",
    "two_apis": "A second set of tools",
    "user_names": "Names of people",
    "wake_word": "Straight after the wake word",
    "numbered_rename": "One of forty numbered lamps renamed",
    "set_up_before_exposing": "Set up before anything is exposed",
    "history_with_lists": "A conversation while lists change",
}
_VERSIONS = {
    "home_assistant": "Home Assistant",
    "xllamacpp": "llama.cpp (xllamacpp)",
    "ollama_warm": "Ollama Warm",
    "python": "Python",
}
_LEGEND = (
    ("core", "Home Assistant's own agent"),
    ("ours", "Ollama Warm"),
)


def write_bench_page(path: Path, bench: Mapping[str, Any]) -> None:
    """Write the page of a bench; `bench` is the object that `script/bench --json` writes.

    Raises:
        WarmerError: matplotlib is not installed, or the file cannot be written.
    """
    write(path, bench_page(bench))


def bench_page(bench: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    rows = values.objects(bench.get("rows"))
    versions = values.mapping(bench.get("versions"))
    return document.page(
        "What is read again before an answer",
        "Bench",
        ((_VERSIONS.get(name, name), values.shown(value)) for name, value in versions.items()),
        _verdict(rows),
        document.tiles(_tiles(rows)),
        _figures(rows) if rows else None,
        _table(rows),
    )


def _setting(row: Mapping[str, Any]) -> str:
    return f"{values.shown(row.get('memory'))}, {values.shown(row.get('path'))}"


def _name(row: Mapping[str, Any]) -> str:
    name, slots = values.shown(row.get("scenario")), values.count(row.get("slots")) or 1
    parts = (
        _SCENARIOS.get(name, name.replace("_", " ")),
        f"{slots} slots" if slots > 1 else "",
        "by chat" if row.get("by_chat") is True else "",
    )
    return ", ".join(filter(None, parts))


def _all(row: Mapping[str, Any], key: str) -> list[int | None]:
    """Return counts of a row, none where one is unknown; waste may be below zero."""
    listed = values.listed(row.get(key))
    return [one if isinstance(one, int) and not isinstance(one, bool) else None for one in listed]


def _numbers(row: Mapping[str, Any], key: str) -> list[int]:
    """Return the counts of a row that are known."""
    return [one for one in _all(row, key) if one is not None]


def _promised(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows for which something is promised: ours, warmed in the best way."""
    return [row for row in rows if row.get("agent") == OURS and row.get("by_chat") is not True]


def _verdict(rows: Sequence[Mapping[str, Any]]) -> Markup:
    promised = _promised(rows)
    missed = [row for row in rows if values.listed(row.get("missed"))]
    if not promised:
        return document.verdict("What was promised", "Nothing that is promised was measured.")
    reached = len([row for row in promised if not values.listed(row.get("missed"))])
    wrong = [
        [element("b", f"{_name(row)}, {_setting(row)}: "), values.shown(row.get("missed"))]
        for row in missed
    ]
    return document.verdict(
        "What was promised",
        f"{reached} of {len(promised)} promised rows were reached.",
        document.items(wrong) if wrong else None,
        style=document.tone("cold" if missed else "warm"),
    )


def _tiles(rows: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, str, str]]:
    numbers = {
        agent: [
            one for row in rows if row.get("agent") == agent for one in _numbers(row, "re_read")
        ]
        for agent in (CORE, OURS)
    }
    for agent, name in ((CORE, "Home Assistant's own agent"), (OURS, "Ollama Warm")):
        if found := numbers[agent]:
            note = f"tokens re-read, median of {len(found)} questions"
            yield name, f"{median(found):,.0f}", note
    ratios = [
        max(pair.core) / max(1, *pair.ours)
        for _, pairs in _settings(rows)
        for pair in pairs
        if pair.core and pair.ours
    ]
    if ratios:
        note = f"tokens for the worst question, median of {len(ratios)} comparisons"
        yield "Ours against core's", f"{median(ratios):,.0f} times fewer", note


def _settings(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Pair]]]:
    """Return the scenarios of each kind of memory and path, those with two agents first."""
    found: dict[str, dict[str, dict[str, list[int]]]] = {}
    for row in rows:
        both = found.setdefault(_setting(row), {}).setdefault(_name(row), {})
        both[values.shown(row.get("agent"))] = _numbers(row, "re_read")
    settings = [
        (
            setting,
            [
                Pair(label=name, core=both.get(CORE, []), ours=both.get(OURS, []))
                for name, both in scenarios.items()
            ],
        )
        for setting, scenarios in found.items()
    ]
    return sorted(settings, key=lambda one: not any(pair.core for pair in one[1]))


def _figures(rows: Sequence[Mapping[str, Any]]) -> Markup:
    settings = _settings(rows)
    everything = [number for row in rows for number in _numbers(row, "re_read")]
    powers = max(2, len(str(max(everything, default=1) - 1)))
    drawn = [
        _figure(number, setting, pairs, powers)
        for number, (setting, pairs) in enumerate(settings, start=1)
    ]
    return document.section(
        "Scenario by scenario",
        "One figure for each kind of memory and each way to the prompt; each step to the right is "
        "ten times as many tokens. The numbers are the worst question of each.",
        document.legend(*_LEGEND),
        document.stacks(*drawn),
    )


def _figure(number: int, setting: str, pairs: Sequence[Pair], powers: int) -> Markup:
    figure = Figure(
        name=f"setting-{number}",
        title=setting,
        description="; ".join(map(described, pairs)) + ".",
    )
    numbers = ("core", "ours")
    table = document.Table(
        caption=f"{setting}: tokens re-read",
        columns=document.columns("scenario", *numbers, numbers=numbers),
        rows=[[pair.label, *map(_span, (pair.core, pair.ours))] for pair in pairs],
    )
    return document.figure(setting, None, ranges(figure, pairs, powers), table)


def _span(numbers: Sequence[int | None]) -> str:
    return values.span(numbers) if numbers else "-"


def _table(rows: Sequence[Mapping[str, Any]]) -> Markup:
    cells: list[list[Child]] = []
    for row in rows:
        promises = bool(_promised([row]))
        wrong = values.listed(row.get("missed")) or values.listed(row.get("failures"))
        reached = values.shown(wrong, "yes" if promises else "")
        cells.append(
            [
                _name(row),
                values.shown(row.get("agent")),
                _setting(row),
                *(_span(_all(row, key)) for key in ("prompt", "re_read", "waste")),
                values.shown(row.get("to_reach"), "") if promises else "",
                reached,
            ]
        )
    numbers = ("prompt", "re-read", "waste")
    columns = document.columns(
        *("scenario", "agent", "memory, path", *numbers, "to reach", "reached"), numbers=numbers
    )
    table = document.Table(
        caption="In tokens; waste is re-read without the question itself",
        columns=columns,
        rows=cells,
    )
    return document.section("All rows", None, element("div", table.markup, class_="card"))
