"""What the two origin articles say of llama.cpp's cache, claim by claim (docs/claims.md)."""

from collections.abc import AsyncIterator
from pathlib import Path
import re

import aiohttp
import pytest

from tests.e2e.stand_in_client import HOUSE, Client
from tests.rig.llama import LlamaServer, LlamaSettings
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, ServedModel
from tests.rig.ollama_engine import Engine, conversation

ATTENTION, NATIVE, RENDERED = "attention", "recurrent", "recurrent-rendered"
MODELS = [
    ServedModel(ATTENTION, Memory.ATTENTION, tiny_model(Memory.ATTENTION)),
    ServedModel(NATIVE, Memory.RECURRENT, tiny_model(Memory.RECURRENT)),
    ServedModel(RENDERED, Memory.RECURRENT, tiny_model(Memory.RECURRENT), "rendered"),
]
BATCH = 1024
FOREIGN = "".join(f"Item {number} of a list of other things.\n" for number in range(1100))
WINDOW = {"num_ctx": 32_768}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """A client of a server that knows nothing."""
    async with (
        OllamaStandIn(MODELS, log_dir=tmp_path) as server,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session,
    ):
        yield Client(server, session)


async def logged(client: Client, model: str) -> str:
    """Return all that llama.cpp has said about a model, which is gone then."""
    await client.ollama.unload(model)
    return client.ollama.log_path(model).read_text(errors="replace")


def checkpoints(log: str) -> list[tuple[int, int, int, str]]:
    """Return number, limit, place and size of each checkpoint that was made."""
    found = re.findall(
        r"created context checkpoint (\d+) of (\d+) \(.*n_tokens = (\d+), size = ([\d.]+) MiB", log
    )
    return [(int(number), int(limit), int(place), size) for number, limit, place, size in found]


def clock(second: int) -> str:
    """Return the house's text with a time in its first line."""
    return f"It is 14:03:{second:02d}.\n{HOUSE}"


async def test_claim_067_the_longest_common_prefix_is_kept(client: Client) -> None:
    """Everything behind the first token that differs is read again, and nothing before it."""
    await client.ask(ATTENTION, "hello")
    first = client.ollama.records[-1].prompt
    read = await client.re_read(ATTENTION, "hello", HOUSE.replace("Lamp 75", "Candle 75"))
    second = client.ollama.records[-1].prompt

    server = client.ollama.runner(ATTENTION).server
    assert server is not None
    engine = Engine(client.session, server.url)
    before, after = [await engine.tokenize(text or "") for text in (first, second)]
    differs = [one != other for one, other in zip(before, after, strict=False)]
    assert read == len(after) - differs.index(True)
    assert 1400 < read < 1700


async def test_claim_068_where_checkpoints_lie_on_the_native_path(client: Client) -> None:
    """At the start of the user's message, too; at most 32 of them, each of the same size."""
    question = "turn on the light"
    length = await client.re_read(NATIVE, question)
    prompt = client.ollama.records[-1].prompt or ""
    message = prompt[prompt.rindex("<|im_start|>user") :]
    own = await client.ollama.count_tokens(NATIVE, message)

    found = checkpoints(await logged(client, NATIVE))
    assert [place for _, _, place, _ in found] == [length - BATCH, length - own, length - 4]
    assert {limit for _, limit, _, _ in found} == {32}
    assert len({size for *_, size in found}) == 1


async def test_claim_069_before_every_checkpoint_or_after_the_last(client: Client) -> None:
    """A difference before every checkpoint costs the prompt, one after the last only the rest."""
    length = await client.re_read(NATIVE, "hello")

    after = await client.re_read(NATIVE, "good evening")
    before = await client.re_read(NATIVE, "hello", clock(1))

    assert after <= 16
    assert before == client.ollama.records[-1].prompt_tokens
    assert before > length


async def test_claim_070_the_line_that_marks_a_full_re_read(client: Client) -> None:
    """It stands in the log once for each full read of a slot that held something else."""
    words = "forcing full prompt re-processing due to lack of cache data (likely due to"
    await client.re_read(NATIVE, "hello", clock(1))
    await client.re_read(NATIVE, "good evening", clock(1))
    full = [await client.re_read(NATIVE, "hello", clock(second)) for second in (2, 3)]

    assert min(full) > 3000
    assert (await logged(client, NATIVE)).count(words) == 2


@pytest.mark.parametrize(("model", "shared"), [(ATTENTION, 12), (NATIVE, 0)])
async def test_claim_073_one_variable_settles_it(client: Client, model: str, shared: int) -> None:
    """The same prompt with a frozen and with a moving time: every token, or next to none."""
    await client.ask(model, "good morning", clock(0))
    frozen = [await client.re_read(model, words, clock(0)) for words in ("hello", "good evening")]
    for second in (11, 12, 23):
        await client.ask(model, "hello", clock(second))

    assert max(frozen) <= 17
    assert all((one.cached_tokens or 0) <= shared for one in client.ollama.records[-3:])


async def test_claim_077_nothing_that_moves_leaves_a_few_tokens(client: Client) -> None:
    """With a date alone in the prompt a new question re-reads 4 to 22 tokens."""
    dated = f"Today is Monday, 30 November 2026.\n{HOUSE}"
    await client.ask(NATIVE, "good morning", dated)
    questions = ("hello", "hello", "turn on the light", "what is the weather like today")

    read = [await client.re_read(NATIVE, question, dated) for question in questions]

    assert min(read) == 4
    assert max(read) <= 22


async def test_claim_078_an_identical_question_re_reads_four_tokens(client: Client) -> None:
    """That proves that no line with seconds is left: with one it would be a batch."""
    ending = [f"{HOUSE}It is 14:03:0{second}." for second in (1, 1, 2)]

    _, same, moved = [await client.re_read(NATIVE, "hello", system) for system in ending]

    assert same == 4
    assert moved in {BATCH, BATCH + 1}


async def test_claim_085_one_token_of_an_answer_is_enough(client: Client) -> None:
    """What is read for the next question is the same after one token as after a whole answer."""
    read = {}
    for model in (ATTENTION, NATIVE, RENDERED):
        for length in (1, 60):
            await client.ollama.unload(model)
            options = {"num_ctx": 16_384, "num_predict": length}
            await client.ask(model, "hello", options=options, think=False)
            read[model, length] = await client.re_read(model, "turn on the light")
    assert {model: read[model, 1] for model, _ in read} == {
        model: read[model, 60] for model, _ in read
    }


async def test_claim_086_what_changes_daily_costs_one_read_a_day(client: Client) -> None:
    """A date in the system text: the first question of a day reads it all, the others do not."""
    days = ("30 November", "1 December")
    questions = ("hello", "good evening", "turn on the light")
    read = {
        day: [
            await client.re_read(NATIVE, words, f"Today is {day}.\n{HOUSE}") for words in questions
        ]
        for day in days
    }
    assert all(first > 3000 for first, *_ in read.values())
    assert max(cost for _, *others in read.values() for cost in others) <= 17


async def test_claim_087_a_long_foreign_prompt_evicts_nothing(client: Client) -> None:
    """The RAM cache gives the house's prompt back: its last question again re-reads 4 tokens."""
    await client.ask(RENDERED, "hello", options=WINDOW)
    foreign = await client.ask(RENDERED, "Summarize.", FOREIGN, options=WINDOW)
    await client.ask(RENDERED, "hello", options=WINDOW)

    assert foreign["prompt_eval_count"] > 14_571
    assert client.ollama.records[-1].re_read_tokens == 4
    log = await logged(client, RENDERED)
    assert "found better prompt" in log
    assert re.search(r"cache state: \d+ prompts, .*limits: 8192\.000 MiB", log)


async def test_claim_089_the_ram_cache_dies_with_the_server(client: Client) -> None:
    """After a restart the house's prompt is nowhere."""
    await client.ask(RENDERED, "hello", options=WINDOW)
    await client.ask(RENDERED, "Summarize.", FOREIGN, options=WINDOW)
    await client.ollama.restart_backend(RENDERED)

    await client.ask(RENDERED, "hello", options=WINDOW)

    last = client.ollama.records[-1]
    assert last.re_read_tokens == last.prompt_tokens


async def test_claim_109_only_the_ram_cache_keeps_two_prompts_warm(
    client: Client, tmp_path: Path
) -> None:
    """House and chatbot on one slot: with the cache both stay, without it neither does."""
    read = {}
    for cache_mib in (8192, 0):
        settings = LlamaSettings(32_768, cache_ram_mib=cache_mib)
        server = LlamaServer(tiny_model(Memory.RECURRENT), tmp_path / f"{cache_mib}.log", settings)
        await server.start()
        engine = Engine(client.session, server.url)
        costs = [await _cost(engine, system) for system in (HOUSE, FOREIGN, HOUSE, FOREIGN)]
        read[cache_mib] = costs[2:]
        await server.stop()
    assert read[8192] == [4, 4]
    assert min(read[0]) > 3000


async def _cost(engine: Engine, system: str) -> int:
    """Ask llama.cpp, without the stand-in, and return how many tokens it read."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "hello"}]
    *_, last = [piece async for piece in engine.chat(conversation(messages, [], None), 1)]
    assert last.timings is not None
    return last.timings.read


@pytest.mark.parametrize("model", [NATIVE, RENDERED])
async def test_claim_110_only_the_place_counts(client: Client, model: str) -> None:
    """A temperature in the place of a time costs the same: back to a batch before the last end."""
    lines = [f"It is 14:03:{number}." for number in (11, 12, 13)]
    lines += [f"Outside it is {number} degrees." for number in (11, 12, 13)]
    costs = [await client.re_read(model, "hello", f"{HOUSE}{line}") for line in lines]

    lengths = [one.prompt_tokens or 0 for one in client.ollama.records]
    ends = [max(lengths[:number]) for number in range(1, len(lines))]
    assert costs[1:] == [
        length - (end - BATCH) for length, end in zip(lengths[1:], ends, strict=True)
    ]
