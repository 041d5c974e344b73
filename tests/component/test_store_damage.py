"""A file that was damaged anywhere, in any way: found out when it is read, and learned again.

The files come from an agent that has met everything that is kept of one; then each of their values
is replaced by each kind that JSON has, taken away, doubled, or moved to where another one belongs.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
import json
import logging
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.agent.store import PrefixStore
from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.prefix.agent_prefix import Render
from custom_components.ollama_warm.prefix.tool_union import name_of
from homeassistant.config_entries import ConfigEntry, ConfigEntryState

from .support.house import House, how_it_is, later, speech
from .support.scripts import says
from .support.server import Ollama

STORED = "ollama_warm.server"
KINDS: tuple[Any, ...] = (None, True, 7, -1, 1.5, 10**30, "", "x", [], [[]], {}, {"x": {}})
# Of a long list its ends are enough.
_ENDS = 2

type Path = tuple[str | int, ...]
type Storage = dict[str, Any]


@pytest.fixture
async def valid(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: Storage,
) -> Storage:
    """Return the file of an agent with something in every part of it."""
    ollama.stand_in.script = says("Good.")
    name = "- names: {}\n  domain: light"
    prompt = "One\n{{ states('sensor.words') }}\nTwo\n{{ states('sensor.item') }}\nThree"
    subentry = agent.subentries["agent"]
    house.hass.config_entries.async_update_subentry(
        agent, subentry, data={**subentry.data, "prompt": prompt}
    )
    await house.hass.async_block_till_done()
    for words in ("Wind 1", "Rain", "Wind 2", "Rain", "Wind 3"):
        house.hass.states.async_set("sensor.words", words)
        house.hass.states.async_set("sensor.item", name.format(words))
        await house.ask("ping", conversation_id="ollama_warm.x")
        await house.ask("hello", "kitchen", device_id=None)
    store = agent.runtime_data.store
    store.async_save_planted("agent", "0" * 64)
    await house.hass.config_entries.async_unload(agent.entry_id)
    await later(house.hass, freezer, 10)
    found: Storage = deepcopy(hass_storage[STORED])
    layout = found["data"]["agents"]["agent"]["prefix"]["layout"]
    assert layout["memory"]["lines"]
    assert layout["memory"]["losses"]
    return found


def paths(value: Any, path: Path = ()) -> Iterator[Path]:  # noqa: ANN401 - any JSON value
    """Yield the path of each value in a file, but for the schemas of tools, which are sent only."""
    yield path
    if isinstance(value, Mapping):
        for key in value:
            if "parameters" not in path:
                yield from paths(value[key], (*path, key))
    elif isinstance(value, list):
        for index in sorted({*range(len(value))[:_ENDS], *range(len(value))[-_ENDS:]}):
            yield from paths(value[index], (*path, index))


def at(value: Any, path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value at a path."""
    for step in path:
        value = value[step]
    return value


def damaged(data: Storage, path: Path) -> Iterator[tuple[str, Any]]:
    """Yield how data look with one value damaged in each way, and what was done to it."""
    here = at(data, path)
    for kind in KINDS:
        if kind != here or type(kind) is not type(here):
            copy = deepcopy(data)
            at(copy, path[:-1])[path[-1]] = kind
            yield f"{path} is {kind!r}", copy
    copy = deepcopy(data)
    del at(copy, path[:-1])[path[-1]]
    yield f"{path} is gone", copy
    copy = deepcopy(data)
    if isinstance(parent := at(copy, path[:-1]), list):
        parent.append(deepcopy(here))
        yield f"{path} is there twice", copy
    elif len(keys := list(parent)) > 1:
        other = keys[keys.index(path[-1]) - 1]
        parent[other], parent[path[-1]] = parent[path[-1]], parent[other]
        yield f"{path} and {other} have changed places", copy
    copy = deepcopy(data)
    if isinstance(more := at(copy, path), dict):
        more["more"] = "x"
        yield f"{path} has more", copy


def ours(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return our lines in the log of any weight, and Home Assistant's errors."""
    return [
        record.getMessage()
        for record in caplog.records
        if (DOMAIN in record.name and record.levelno > logging.DEBUG)
        or (record.name.startswith("homeassistant.") and record.levelno >= logging.ERROR)
    ]


def every(valid: Storage) -> Iterator[tuple[str, Any]]:
    """Yield all damaged forms of a file's data."""
    for path in paths(valid["data"]):
        if path:
            yield from damaged(valid["data"], path)


async def test_everything_is_found_when_it_is_read(
    house: House,
    agent: ConfigEntry,
    valid: Storage,
    hass_storage: Storage,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """All that is kept can be used afterwards, and what was dropped is one line in the log."""
    count = lines = 0
    sound = {"key": "k", "text": "One\nTwo\n- names: Lamp\n  domain: light"}
    for what, data in every(valid):
        hass_storage[STORED] = {**valid, "data": data}
        caplog.clear()
        store = PrefixStore(house.hass, "server")
        await store.async_load()
        said = ours(caplog)
        assert len(said) <= 1, what
        assert all("can be" not in line and "Wind" not in line for line in said), what
        lines += len(said)
        count += 1
        try:
            use(store, sound["text"])
        except Exception as err:
            raise AssertionError(what) from err
        store.closed = True
    assert count > 500
    # What is left is another, but no worse, file: such as another text of a tool.
    assert lines > count * 0.8


async def test_what_python_cannot_hold(
    house: House, agent: ConfigEntry, valid: Storage, hass_storage: Storage
) -> None:
    """A number beyond any float, and a schema as deep as can just be read, are damage."""
    prefix = ("agents", "agent", "prefix")
    tool = (*prefix, "tools", "tools", 0, "function")
    deep = json.loads('{"a":' * 990 + "1" + "}" * 990)
    for path, key, value in (
        ((*prefix, "layout", "memory", "lines", 0), "when", 10**400),
        ((*prefix, "layout", "memory", "losses"), "x", [1, 10**400]),
        (tool, "parameters", deep),
        (tool, "parameters", {"type": "object", "properties": deep}),
    ):
        data = deepcopy(valid["data"])
        at(data, path)[key] = value
        hass_storage[STORED] = {**valid, "data": data}
        store = PrefixStore(house.hass, "server")
        await store.async_load()
        assert not store._agents
        store.closed = True


def use(store: PrefixStore, text: str) -> None:
    """Use all that was read, as a question, a warm-up and the next start do."""
    for agent in ("agent", "more", "x"):
        key = (store._agents.get(agent) or {}).get("prefix", {}).get("key", "k")
        prefix = store.prefix(agent, key)
        store.last_sent(agent)
        assert store.planted(agent) is None or isinstance(store.planted(agent), str)
        render = Render(text, tuple(deepcopy(list(prefix.tools.wire()))[:1]))
        for context in ("", "nowhere"):
            prefix.tools.fits(context, render.tools)
            prefix.tools.update(context, render.tools)
            sent = prefix.take(render, 1e9)
            json.dumps([sent.system, sent.tools, sent.tail])
            assert all(isinstance(name_of(tool), str) for tool in sent.tools)
            assert not set(sent.system.split("\n")) - {*text.split("\n"), ""}
        prefix.rebase({"": render}, [render], 1e9 + 1)
        prefix.take(render, 1e9 + 2)
        json.dumps(prefix.as_dict())
    for model in ("tiny", "more", "x", "way"):
        store.way(model)


OTHER_FILES: Mapping[str, Any] = {
    "no version": {"minor_version": 1, "key": STORED, "data": {}},
    "a version of another kind": {"version": "x", "minor_version": 1, "key": STORED, "data": {}},
    "a later version": {"version": 9, "minor_version": 1, "key": STORED, "data": {}},
    "nothing in it": {"version": 1, "minor_version": 2, "key": STORED, "data": {}},
    "a list": {"version": 1, "minor_version": 2, "key": STORED, "data": [1]},
    "a text": {"version": 1, "minor_version": 2, "key": STORED, "data": "x"},
}


def sample(all_of_them: Sequence[tuple[str, Any]], count: int) -> Iterator[tuple[str, Any]]:
    """Yield so many, spread over all of them."""
    for number in range(count):
        yield all_of_them[number * len(all_of_them) // count]


async def test_a_question_is_answered(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    valid: Storage,
    hass_storage: Storage,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The entry is set up, the question is answered, and the file is whole again after that."""
    hass = house.hass
    files = [(what, {**valid, "data": data}) for what, data in sample(list(every(valid)), 60)]
    for what, file in (*files, *OTHER_FILES.items()):
        hass_storage[STORED] = deepcopy(file)
        caplog.clear()
        await hass.config_entries.async_setup(agent.entry_id)
        assert how_it_is(agent) is ConfigEntryState.LOADED, what
        assert speech(await house.ask("hello", "kitchen")) == "Good.", what
        assert "Bedside" in ollama.messages[0]["content"] + ollama.messages[-1]["content"], what
        assert len(ours(caplog)) <= 1, what
        assert await hass.config_entries.async_unload(agent.entry_id)
        caplog.clear()
        await PrefixStore(hass, "server").async_load()
        assert not ours(caplog), what


async def test_what_an_earlier_version_kept(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    valid: Storage,
    hass_storage: Storage,
    freezer: FrozenDateTimeFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its names are gone from the file at once, without a question and without a warning."""
    old = deepcopy(valid)
    old["minor_version"] = 1
    old["data"]["agents"]["agent"]["prefix"]["layout"]["skeletons"] = ["Once: Quillfeather #"]
    hass_storage[STORED] = old
    caplog.clear()
    await house.hass.config_entries.async_setup(agent.entry_id)
    await later(house.hass, freezer, 3)
    assert "Quillfeather" not in str(hass_storage[STORED])
    assert hass_storage[STORED]["data"]["ways"] == valid["data"]["ways"]
    assert not ours(caplog)
