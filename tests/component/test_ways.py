"""Warm-ups of all kinds of models, each read and counted by llama.cpp."""

from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.ollama.counts import Counts
from custom_components.ollama_warm.ollama.errors import CannotConnectError
from custom_components.ollama_warm.ollama.ways import Way
from custom_components.ollama_warm.turns.turn_log import async_turn_log
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from custom_components.ollama_warm.warming.warm_up import WarmUp
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_CALL_SERVICE
from tests.rig.models import Memory
from tests.rig.ollama import Scripted

from .support.house import House, later, turns
from .support.scripts import call
from .support.zoo import JINJA, KINDS, NATIVE, RECURRENT, Zoo, set_up

NOTHING_CACHED = Counts(
    prompt_tokens=3000, cached_tokens=0, prefill_s=1, load_s=0, total_s=1, answer_tokens=1
)
MLX = {"details": {"format": "safetensors"}}


@pytest.fixture
def ollama(zoo: Zoo) -> Zoo:
    """Return the server with all models."""
    return zoo


def warm_up_of(entry: ConfigEntry) -> WarmUp:
    """Return the warm-up of the only agent."""
    warm_up: WarmUp = entry.runtime_data.warm_ups["agent"]
    return warm_up


def check_bodies(ollama: Zoo) -> None:
    """No request of a warm-up may load the model again, or talk on without end."""
    for record in ollama.records:
        assert record.body["keep_alive"] == -1
        assert record.body["options"]["num_ctx"] == 8192
        if record.kind != "render":
            assert record.body["options"]["num_predict"] == 1


@pytest.mark.parametrize(("memory", "path"), KINDS)
async def test_every_kind(house: House, ollama: Zoo, memory: Memory, path: str) -> None:
    """After one warm-up the first question in every room is warm, whatever the model.

    Where Ollama makes the prompt and the model can only go back to a checkpoint, one is left
    at the end of the prefix; elsewhere two different questions confirm each other.
    """
    entry = await set_up(house, ollama, f"{memory}-{path}")
    turn = await warm_up_of(entry).async_warm("en")
    assert (turn.verdict, turn.reason) == (Verdict.WARM, Reason.NOTHING)
    raw = path == "rendered" and memory is not Memory.ATTENTION
    assert ollama.steps() == ("rr" * 2 + "p" + "c" + "rrp" if raw else "cc")
    check_bodies(ollama)
    words = [record.body["messages"][-1] for record in ollama.read() if "messages" in record.body]
    assert len({str(message) for message in words}) == len(words)
    for room in ("kitchen", "bedroom", None):
        (turn_of_a_person,) = turns(await house.ask(f"What is in the {room}?", room))
        assert turn_of_a_person["verdict"] == "warm"
        assert turn_of_a_person["re_read_tokens"] < (70 if room else 100)


async def test_by_itself(house: House, ollama: Zoo, freezer: FrozenDateTimeFactory) -> None:
    """Once Home Assistant runs the prefix is read, and again after a change, unasked."""
    entry = await set_up(house, ollama, RECURRENT, auto_warm=True)
    await later(house.hass, freezer, 10)
    assert entry.runtime_data.warmth.outcomes.last["agent"][1].verdict is Verdict.WARM
    house.expose("light.porch")
    await later(house.hass, freezer, 10)
    assert entry.runtime_data.warmth.outcomes.last["agent"][1].verdict is Verdict.WARM
    (question,) = turns(await house.ask("What is in the kitchen?", "kitchen"))
    assert (question["verdict"], question["re_read_tokens"] < 70) == ("warm", True)
    assert "Porch" in ollama.messages[0]["content"]


async def test_a_template_of_the_models_own(house: House, ollama: Zoo) -> None:
    """A Jinja template that Ollama only shows is not rendered by it: a chat warms the model."""
    entry = await set_up(house, ollama, JINJA)
    turn = await warm_up_of(entry).async_warm("en")
    assert (turn.verdict, ollama.steps()) == (Verdict.WARM, "cc")
    (question,) = turns(await house.ask("What is in the kitchen?", "kitchen"))
    assert question["re_read_tokens"] < 70


async def test_a_second_warm_up(house: House, ollama: Zoo) -> None:
    """What is known is not asked or planted again, and the checkpoint is renewed at the end."""
    entry = await set_up(house, ollama, RECURRENT)
    await warm_up_of(entry).async_warm("en")
    await house.ask("What is in the kitchen?", "kitchen")
    ollama.records.clear()
    turn = await warm_up_of(entry).async_warm("en")
    assert (turn.verdict, ollama.steps()) == (Verdict.WARM, "crrp")
    assert max(record.re_read_tokens for record in ollama.read()) < 100


async def test_the_server_lost_it(house: House, ollama: Zoo) -> None:
    """What was planted in a process that is gone is planted again, and the result is warm."""
    entry = await set_up(house, ollama, RECURRENT)
    await warm_up_of(entry).async_warm("en")
    await ollama.run(ollama.stand_in.restart_backend(RECURRENT))
    ollama.records.clear()
    turn = await warm_up_of(entry).async_warm("en")
    assert turn.verdict is Verdict.WARM
    assert ollama.steps() == "crrpcrrp"
    (question,) = turns(await house.ask("What is in the kitchen?", "kitchen"))
    assert question["re_read_tokens"] < 70
    reasons = [logged.turn.reason for logged in async_turn_log(house.hass, "agent")]
    assert [reason for reason in reasons if reason is not Reason.NOTHING] == [
        Reason.FIRST_PROMPT,
        Reason.MODEL_LOADED,
        # The first question left its checkpoint a batch behind.
        Reason.CHECKPOINT,
    ]


async def test_the_way_is_remembered(
    house: House, ollama: Zoo, hass_storage: dict[str, Any]
) -> None:
    """It is stored, and chosen again when the server has another version."""
    entry = await set_up(house, ollama, RECURRENT)
    with patch.object(OllamaClient, "show", autospec=True, side_effect=OllamaClient.show) as show:
        await warm_up_of(entry).async_warm("en")
        await warm_up_of(entry).async_warm("en")
        await house.hass.config_entries.async_reload(entry.entry_id)
        await warm_up_of(entry).async_warm("en")
        assert show.call_count == 1
        stored = hass_storage["ollama_warm.server"]["data"]["ways"]
        assert stored == {RECURRENT: {"way": "raw", "version": "0.35.1"}}
        ollama.stand_in.version = "0.11.4"
        await entry.runtime_data.async_refresh()
        ollama.records.clear()
        turn = await warm_up_of(entry).async_warm("en")
        assert show.call_count == 2
    # It counts nothing, and would have answered a render.
    assert (turn.verdict, ollama.steps()) == (Verdict.UNKNOWN, "c")


async def test_it_renders_no_more(house: House, ollama: Zoo) -> None:
    """A way that no longer works is left, and another one chosen the next time."""
    entry = await set_up(house, ollama, RECURRENT)
    await warm_up_of(entry).async_warm("en")
    with patch.object(OllamaClient, "render", return_value=None):
        ollama.records.clear()
        await warm_up_of(entry).async_warm("en")
        assert ollama.steps() == "c"
        await warm_up_of(entry).async_warm("en")
        assert entry.runtime_data.store.way(RECURRENT).way is Way.CHAT


@pytest.mark.parametrize(
    ("model", "shown", "tries"),
    [(NATIVE, {}, "cc"), (NATIVE, MLX, "ccc"), (RECURRENT, None, "rrrrpcrrpcrrp")],
    ids=["chat", "two questions", "raw"],
)
async def test_it_does_not_get_warm(
    house: House, ollama: Zoo, model: str, shown: dict[str, Any] | None, tries: str
) -> None:
    """A warm-up ends after a few tries, and says that it is not warm."""
    entry = await set_up(house, ollama, model)
    show = patch.object(OllamaClient, "show", return_value=shown)
    render = patch.object(OllamaClient, "render", return_value=None)
    counts = patch.object(Counts, "from_chunk", return_value=NOTHING_CACHED)
    with counts:
        if shown is None:
            turn = await warm_up_of(entry).async_warm("en")
        else:
            with show, render:
                turn = await warm_up_of(entry).async_warm("en")
    assert (turn.verdict, turn.reason) == (Verdict.SERVER_LOST_IT, Reason.EVICTED)
    assert ollama.steps() == tries
    check_bodies(ollama)


async def test_two_questions(house: House, ollama: Zoo) -> None:
    """On MLX, where nothing is rendered, questions are asked until one is warm."""
    entry = await set_up(house, ollama, NATIVE)
    with (
        patch.object(OllamaClient, "show", return_value=MLX),
        patch.object(OllamaClient, "render", return_value=None),
    ):
        turn = await warm_up_of(entry).async_warm("en")
    assert entry.runtime_data.store.way(NATIVE).way is Way.TWO_QUESTIONS
    assert (turn.verdict, ollama.steps()) == (Verdict.WARM, "cc")


@pytest.mark.parametrize(("model", "tries"), [(NATIVE, "c"), (RECURRENT, "rrrrpcrrp")])
async def test_nothing_is_counted(house: House, ollama: Zoo, model: str, tries: str) -> None:
    """Without counts one question is enough: nothing can be confirmed, and nothing is called so."""
    ollama.stand_in.reports_cached = False
    entry = await set_up(house, ollama, model)
    turn = await warm_up_of(entry).async_warm("en")
    assert (turn.verdict, turn.re_read_tokens, ollama.steps()) == (Verdict.UNKNOWN, None, tries)


@pytest.mark.parametrize(("model", "steps"), [(NATIVE, "c"), (RECURRENT, "rrrrp")])
async def test_the_wake_word(house: House, ollama: Zoo, model: str, steps: str) -> None:
    """The prefix is read once, in the way that is right for the model."""
    entry = await set_up(house, ollama, model)
    await warm_up_of(entry).async_wake("en")
    assert (ollama.steps(), len(ollama.read())) == (steps, 1)
    check_bodies(ollama)


async def test_the_wake_word_after_a_restart(house: House, ollama: Zoo) -> None:
    """A prefix that is gone with its process is read once, and the loading is named as cause."""
    entry = await set_up(house, ollama, RECURRENT)
    await warm_up_of(entry).async_warm("en")
    await ollama.run(ollama.stand_in.unload(RECURRENT))
    ollama.records.clear()
    await warm_up_of(entry).async_wake("en")
    assert (ollama.steps(), ollama.read()[0].cached_tokens) == ("rrp", 0)
    assert async_turn_log(house.hass, "agent")[-1].turn.reason is Reason.MODEL_LOADED
    (question,) = turns(await house.ask("What is in the kitchen?", "kitchen"))
    assert (question["verdict"], question["re_read_tokens"] < 70) == ("warm", True)


@pytest.mark.parametrize(
    ("model", "steps", "verdicts"),
    [
        (RECURRENT, "rrrrpcrrpcrrp", [["prompt_changed", "warm", "warm"], ["warm", "warm"]]),
        (NATIVE, "cc", [["prompt_changed"], ["warm"]]),
    ],
)
async def test_a_question_from_outside(
    house: House, ollama: Zoo, model: str, steps: str, verdicts: list[list[str]]
) -> None:
    """Its reply carries each request's counts; where it helps, the prefix is planted around it."""
    await set_up(house, ollama, model)
    replies = [
        turns(await house.ask(words, conversation_id="ollama_warm.x")) for words in ("one", "two")
    ]
    assert ollama.steps() == steps
    assert [[turn["verdict"] for turn in reply] for reply in replies] == verdicts
    counted = [record.cached_tokens for record in ollama.read()]
    assert [turn["cached_tokens"] for reply in replies for turn in reply] == counted


@pytest.mark.parametrize("model", [NATIVE, RECURRENT])
async def test_nothing_is_done(house: House, ollama: Zoo, model: str) -> None:
    """Whatever the model answers in a warm-up, no tool is run."""
    done: list[object] = []
    house.hass.bus.async_listen(EVENT_CALL_SERVICE, done.append)
    entry = await set_up(house, ollama, model)
    turn_on = call("intent__HassTurnOn", name="Ceiling")
    chunk = {"message": {"role": "assistant", "content": "", "tool_calls": [turn_on]}}
    ollama.stand_in.script = lambda _: Scripted(tool_calls=[turn_on])
    await warm_up_of(entry).async_warm("en")

    async def answers(*_: object) -> Any:  # noqa: ANN401 (an asynchronous generator)
        yield chunk
        yield chunk | {"done": True, "prompt_eval_count": 9, "node": None}

    with patch.object(OllamaClient, "chat", answers):
        await warm_up_of(entry).async_warm("en")
        await warm_up_of(entry).async_wake("en")
    await house.hass.async_block_till_done()
    assert not done


async def test_the_server_is_gone(house: House, ollama: Zoo) -> None:
    """Whoever asked for the warm-up gets an error, and the next one may begin."""
    entry = await set_up(house, ollama, NATIVE)
    await ollama.run(ollama.stand_in.stop())
    try:
        with pytest.raises(CannotConnectError):
            await warm_up_of(entry).async_warm("en")
    finally:
        await ollama.run(ollama.stand_in.start())
    assert not entry.runtime_data.server.turnstile.warming
    assert (await warm_up_of(entry).async_warm("en")).verdict is Verdict.WARM
