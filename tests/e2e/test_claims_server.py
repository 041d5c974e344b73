"""What the two origin articles say of Ollama and of several machines, claim by claim."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
import random

import aiohttp
import pytest

from tests.e2e.stand_in_client import HOUSE, Client, Json
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, ServedModel

ATTENTION, NATIVE = "attention", "recurrent"
MODELS = [
    ServedModel(ATTENTION, Memory.ATTENTION, tiny_model(Memory.ATTENTION)),
    ServedModel(NATIVE, Memory.RECURRENT, tiny_model(Memory.RECURRENT)),
]
LONG = {"num_ctx": 40_960}
TURNS = 30_000


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """A session of its own for each test."""
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as opened:
        yield opened


@pytest.fixture
async def client(tmp_path: Path, session: aiohttp.ClientSession) -> AsyncIterator[Client]:
    """A client of a server that knows nothing."""
    async with OllamaStandIn(MODELS, log_dir=tmp_path / "first") as server:
        yield Client(server, session)


@pytest.fixture
async def second(tmp_path: Path, session: aiohttp.ClientSession) -> AsyncIterator[Client]:
    """A client of a second machine with the same models."""
    async with OllamaStandIn(MODELS, log_dir=tmp_path / "second") as server:
        yield Client(server, session)


def rate(last: Json) -> float:
    """Return the tokens a second that somebody would compute who knows of no cache."""
    return float(last["prompt_eval_count"] / last["prompt_eval_duration"])


async def test_claim_081_naive_speeds_are_absurd(client: Client) -> None:
    """The count is that of the whole prompt, the time only that of what was read."""
    cold = await client.ask(ATTENTION, "hello")
    warm = await client.ask(ATTENTION, "good evening")

    assert warm["prompt_eval_count"] > 0.99 * cold["prompt_eval_count"]
    assert warm["prompt_eval_count"] - warm["prompt_eval_cached_count"] <= 17
    assert rate(warm) > 5 * rate(cold)


@pytest.mark.parametrize(("version", "told"), [("0.34.0", True), ("0.33.2", False)])
async def test_claim_082_the_answer_does_tell(client: Client, *, version: str, told: bool) -> None:
    """The article says that no answer tells what was re-read: since 0.33.3 it does."""
    client.ollama.version = version
    last = await client.ask(ATTENTION, "hello")

    assert ("prompt_eval_cached_count" in last) is told


async def test_claim_083_another_window_is_paid_by_everybody(client: Client) -> None:
    """Somebody's other num_ctx loads the model anew, and so does the house's next question."""
    await client.ask(NATIVE, "hello")
    await client.ask(NATIVE, "hello", "You are a chatbot.", options={"num_ctx": 8192})

    await client.ask(NATIVE, "good evening")

    last = client.ollama.records[-1]
    assert client.ollama.runner(NATIVE).loads == 3
    assert last.re_read_tokens == last.prompt_tokens


async def test_claim_084_one_short_keep_alive_unloads_the_houses_model(client: Client) -> None:
    """It is the last request's that counts, though the house asked for ever."""
    await client.ask(NATIVE, "hello", keep_alive=-1)
    await client.ask(NATIVE, "hello", "You are a chatbot.", keep_alive="200ms")
    async with asyncio.timeout(10):
        while await client.running():  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.05)

    await client.ask(NATIVE, "good evening", keep_alive=-1)

    last = client.ollama.records[-1]
    assert last.re_read_tokens == last.prompt_tokens


async def conversation(client: Client, tokens: int) -> list[Json]:
    """Hold a conversation of about so many tokens, and return its messages."""
    messages = [{"role": "system", "content": HOUSE}]
    messages.append({"role": "user", "content": "and so on " * (tokens // 3)})
    messages.append(await follow_up(client, messages))
    return messages


async def follow_up(client: Client, messages: list[Json]) -> Json:
    """Ask for the next answer of a conversation."""
    body: Json = {"model": NATIVE, "messages": messages, "options": LONG, "stream": False}
    answer: Json = (await client.last("/api/chat", body))["message"]
    return answer


async def test_claim_001_002_a_follow_up(client: Client) -> None:
    """Without the cache it re-reads the whole conversation, with it only what is new."""
    messages = await conversation(client, TURNS)
    messages.append({"role": "user", "content": "hello"})
    await follow_up(client, messages)
    warm = client.ollama.records[-1]
    await client.ollama.restart_backend(NATIVE)
    await follow_up(client, messages)
    cold = client.ollama.records[-1]

    assert (cold.prompt_tokens or 0) > TURNS
    assert cold.re_read_tokens == cold.prompt_tokens
    assert warm.re_read_tokens <= 17


async def test_claim_014_another_machine_pays_in_full(client: Client, second: Client) -> None:
    """Two turns on two machines: the second one reads the whole conversation."""
    messages = await conversation(client, 3000)
    messages.append({"role": "user", "content": "hello"})
    await follow_up(second, messages)
    last = second.ollama.records[-1]

    assert last.re_read_tokens == last.prompt_tokens
    await follow_up(client, messages)
    assert client.ollama.records[-1].re_read_tokens <= 17


async def test_claim_005_a_machine_without_the_model_loads_it_first(
    client: Client, second: Client
) -> None:
    """Loading is counted apart from reading, and comes on top."""
    await client.ask(NATIVE, "hello")
    loaded = await client.ask(NATIVE, "good evening")
    not_loaded = await second.ask(NATIVE, "good evening")

    assert not_loaded["load_duration"] > 5 * loaded["load_duration"]
    assert not_loaded["total_duration"] > not_loaded["load_duration"]


async def test_claim_015_the_same_machine_is_no_cache_hit(client: Client) -> None:
    """Whoever answers may have lost the prompt: only the count tells."""
    messages = await conversation(client, 3000)
    await client.ollama.restart_backend(NATIVE)
    messages.append({"role": "user", "content": "hello"})
    await follow_up(client, messages)

    last = client.ollama.records[-1]
    assert last.re_read_tokens == last.prompt_tokens


async def test_claim_016_the_first_request_stays_cold(client: Client) -> None:
    """A conversation with another prompt costs all of it, on the machine that is warm as well."""
    await client.ask(NATIVE, "hello")
    await client.ask(NATIVE, "hello", f"You are a butler.\n{HOUSE}")

    last = client.ollama.records[-1]
    assert last.re_read_tokens == last.prompt_tokens


def moved(nodes: list[int]) -> float:
    """Return the share of a conversation's turns that go to another machine than the one before."""
    pairs = list(pairwise(nodes))
    return sum(one != other for one, other in pairs) / len(pairs)


@pytest.mark.parametrize(("machines", "share"), [(2, 1 / 2), (3, 2 / 3)])
def test_claim_003_a_random_choice_moves_a_conversation(machines: int, share: float) -> None:
    """Half of the follow-ups with two machines, two thirds with three: a simulation, seeded."""
    choice = random.Random(20261111)  # noqa: S311 - nothing is secret here
    turns = [choice.randrange(machines) for _ in range(20_000)]

    assert moved(turns) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("machines", "share"), [(2, 1 / 2), (3, 2 / 3)])
def test_claim_004_round_robin_moves_it_as_often(machines: int, share: float) -> None:
    """With others asking in between as it happens; alone, every single turn goes elsewhere."""
    others = random.Random(20261111)  # noqa: S311 - nothing is secret here
    request, ours = 0, []
    for _ in range(20_000):
        request += 1 + others.randrange(6)
        ours.append(request % machines)

    assert moved(ours) == pytest.approx(share, abs=0.02)
    assert moved([turn % machines for turn in range(100)]) == 1


# Herd 0.11.4: what a loaded model, the pin of a session, and each request before it are worth.
LOADED, PIN, QUEUED = 50, 20, -6


def pin(depth: int) -> float:
    """Return the bonus of the machine that a session is pinned to, by the requests on it."""
    return PIN / (1 + depth / 2)


def lead(depth: int) -> float:
    """Return how far it is ahead of an idle machine of the same kind."""
    return pin(depth) + QUEUED * depth


@pytest.mark.parametrize(("depth", "points"), [(0, 20), (1, 7.3), (2, -2)])
def test_claim_008_009_010_011_when_a_busy_machine_loses_its_pin(depth: int, points: float) -> None:
    """Herd's own formula, computed: at two requests a conversation is sent away from its cache."""
    assert lead(depth) == pytest.approx(points, abs=0.05)
    assert pin(depth) <= PIN < LOADED
