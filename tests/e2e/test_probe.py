"""The probe on the rig: its groups, its counts against llama.cpp's log, and published claims.

A test whose name has `claim` and a number in it tests a numbered claim of the published articles
(docs/claims.md lists them) on tiny models, whose token counts behave as those of big ones.
"""

import asyncio
import json
from pathlib import Path
import re
from typing import Any

import pytest
import pytest_asyncio

from ollama_warmer.lab.probe.group import costs_of, group_of
from ollama_warmer.lab.probe.plan import SWEEP_CALLS
from ollama_warmer.lab.probe.tables import tables
from ollama_warmer.ollama.client import open_ollama
from tests.e2e.stand_in_client import HOUSE
from tests.rig.models import Memory
from tests.rig.probe import Measured, measure, one_model, resume_probe, run_probe
from tests.warmer.support.probe_server import MODEL, OnceEach, Server, serve

# The first test waits for all runs.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

MODELS = [f"{memory}-{path}" for memory in Memory for path in ("native", "rendered")]
RENDERED = "recurrent-rendered"
NATIVE = "recurrent-native"
ANYWHERE = [name for name in MODELS if name != RENDERED]
LENGTHS = (60, 100, 200, 450)

every_model = pytest.mark.parametrize("name", MODELS)


type Results = dict[str, Measured]


async def measure_mlx(folder: Path) -> Measured:
    """Run the probe on a stand-in that keeps prompts as Ollama's MLX runner does."""
    async with serve(Server(rule=OnceEach(), make_rule=OnceEach)) as server:
        return Measured(await run_probe(server.url, MODEL, folder))


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="results")
async def _results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All runs, three at a time: most of a run is its wait of five seconds."""
    folder = tmp_path_factory.mktemp("probe")
    prompt = folder / "prompt.txt"
    prompt.write_text(HOUSE)
    few = ("--phase", "growing-conversation")
    sweep = ("--sweep", ",".join(map(str, LENGTHS)))
    runs = {name: (name, *(sweep if name == RENDERED else ())) for name in MODELS} | {
        "file": (RENDERED, "--file", str(prompt), *few),
        "small batch": (RENDERED, "--entries", "200", "--num-ctx", "4096", *few),
        "overflow": (RENDERED, "--num-ctx", "4096", *few),
        "abandoned": (
            *("attention-rendered", "--entries", "600", "--num-ctx", "16384"),
            *("--phase", "retry-after-abort"),
        ),
    }
    places = asyncio.Semaphore(3)

    async def one(number: int, name: str, *options: str) -> Measured:
        async with places:
            return await measure(name, folder / f"run{number}", *options)

    async def mlx() -> Measured:
        async with places:
            return await measure_mlx(folder / "mlx")

    found = await asyncio.gather(
        mlx(), *(one(number, *run) for number, run in enumerate(runs.values()))
    )
    return dict(zip(["mlx", *runs], found, strict=True))


@pytest.mark.parametrize(
    ("name", "group", "batch"),
    [
        *((name, "truncates anywhere", None) for name in ANYWHERE),
        (RENDERED, "one batch back", 1024),
        ("mlx", "once per system prompt", None),
    ],
)
async def test_groups_by_counts_alone(
    results: Results, name: str, group: str, batch: int | None
) -> None:
    """Every build is in its group, and the run ends well."""
    probed = results[name].probed
    assert probed.exit_code == 0, probed.errors
    assert (probed.run["group"], probed.run["batch"]) == (group, batch)
    assert (probed.run["complete"], probed.run["disturbed"]) == (True, [])


@every_model
async def test_kind_of_build_is_read_from_the_log(results: Results, name: str) -> None:
    """Memory type and runner stand in the log's part beside the result."""
    run = results[name].run
    memory = {"attention": "attention-only", "sliding": "sliding window", "recurrent": "recurrent"}
    assert run["memory"] == memory[name.partition("-")[0]]
    assert run["runner"] == "llama-server"


@every_model
async def test_counts_agree_with_the_log(results: Results, name: str) -> None:
    """Every count of the 38 completed calls, and so every table, is llama.cpp's own."""
    measured = results[name]
    logged = measured.with_counts_of_the_log()
    assert logged["summary"] == measured.run["summary"]
    assert logged["sweep"] == measured.run["sweep"]
    finding = group_of(costs_of(logged["summary"]))
    assert tables(logged, group=finding.group, batch=finding.batch) == measured.run["tables"]
    completed = [call for call in measured.run["calls"] if call["pass"]]
    assert len(completed) >= 38


@every_model
async def test_result_has_no_words_in_it(results: Results, name: str) -> None:
    """Neither a prompt nor an answer is in what a run leaves."""
    text = str(results[name].run)
    assert "concept7" not in text
    assert "Define" not in text


def _result(folder: Path) -> Path:
    """Return the one result in a folder."""
    (file,) = folder.rglob("prefill_cache_probe-*.json")
    return file


async def test_interrupted_run_is_gone_on_with(tmp_path: Path) -> None:
    """Ctrl-C in a cold prompt ends with 130; what was whole is kept, and the rest is run later."""
    options = ("--entries", "600", "--num-ctx", "16384", "--phase", "new-question")
    name = "attention-rendered"
    async with one_model(name, tmp_path) as server:
        broken_off = await run_probe(
            server.url,
            name,
            tmp_path,
            *(*options, "--phase", "first-divergence", "--phase", "second-branch"),
            interrupt_after="  delta-fresh-3:",
        )
        assert broken_off.exit_code == 130
        file = _result(tmp_path)
        assert f"--resume {file}" in broken_off.errors
        assert server.runner(name).server is None
        kept = json.loads(file.read_text())["summary"]
        assert [row["label"] for row in kept["first-divergence"]][-1] == "delta-fresh-3"

        found = await resume_probe(server.url, file)
    assert (found.exit_code, found.run["complete"]) == (0, True)
    assert found.run["summary"]["identical-repeat"] == kept["identical-repeat"]
    assert found.run["group"] == "truncates anywhere"
    asked = [line.split(":")[0].strip() for line in found.errors.splitlines() if "prompt=" in line]
    assert asked[:4] == ["cold", "identical", "new-question", "delta-cold"]
    assert len(asked) == 3 + 9 + 4


async def test_another_client_disturbs(tmp_path: Path) -> None:
    """Somebody who asks the same model with another window ends the run, and nothing is counted."""
    name = "recurrent-rendered"
    async with one_model(name, tmp_path) as server, open_ollama(server.url) as ollama:

        async def somebody() -> None:
            while True:
                await asyncio.sleep(0.3)
                message = {"role": "user", "content": "is the door locked?"}
                options = {"num_ctx": 16_384, "num_predict": 1}
                await ollama.chat({"model": name, "messages": [message], "options": options})

        probing = asyncio.create_task(run_probe(server.url, name, tmp_path))
        while len(server.records) < 4:  # noqa: ASYNC110 - records are no event
            await asyncio.sleep(0.01)
        asking = asyncio.create_task(somebody())
        found = await probing
        asking.cancel()
    assert found.exit_code == 1
    assert (found.run["tables"], found.run["group"]) == (None, "unknown")
    assert re.search("window of 16384|unloaded in the middle|loaded again|waited", found.said)


async def test_overflowed_window_counts_nothing(results: Results) -> None:
    """A prompt that is longer than the window ends the run, and says what to change."""
    run = results["overflow"].run
    assert results["overflow"].probed.exit_code == 1
    assert (run["tables"], run["group"]) == (None, "unknown")
    assert "does not fit into the context window" in run["disturbed"][0]
    assert len(run["calls"]) == 1


@every_model
async def test_claim_20_cached_counts_come_with_replies(results: Results, name: str) -> None:
    """Every answer has the count of cached tokens that llama.cpp gave."""
    measured = results[name]
    answers = [it for it in measured.records if it.kind == "answer" and not it.cancelled]
    told = list(measured.re_read.values())
    assert told == [it.re_read_tokens for it in answers[1 : 1 + len(told)]]


async def test_claim_22_path_and_memory_decide(results: Results) -> None:
    """One model file is in two groups on two paths; another prompt changes no group."""
    groups = {name: results[name].run["group"] for name in (NATIVE, RENDERED, "file")}
    assert groups == {
        NATIVE: "truncates anywhere",
        RENDERED: "one batch back",
        "file": "one batch back",
    }


@pytest.mark.parametrize("name", ["attention-native", "attention-rendered"])
async def test_claim_23_attention_is_always_warm(results: Results, name: str) -> None:
    """All fifteen new conversations re-read their own words alone."""
    _, first, later = results[name].probed.rows("T1")
    assert (first["calls"], later["calls"]) == (3, 12)
    assert max(*first["reRead"], *later["reRead"]) <= 9


async def test_claim_25_recurrent_goes_back_a_batch_each_time(results: Results) -> None:
    """Every new conversation re-reads a batch, the first one on a text included.

    Published: 1,024 or 1,025. Here it is one less where the question before was a token longer.
    """
    _, first, later = results[RENDERED].probed.rows("T1")
    assert first["reRead"] == [1024, 1025]
    assert later["reRead"] == [1023, 1024]


async def test_claim_26_a_checkpoint_at_the_question(results: Results) -> None:
    """A recurrent build that keeps a state at the start of the question re-reads 18 or 19.

    Published: 16 or 17, on another template.
    """
    _, first, later = results[NATIVE].probed.rows("T1")
    assert (first["reRead"], later["reRead"]) == ([18, 19], [18, 19])


async def test_claim_27_mlx_pays_once_per_system_prompt(results: Results) -> None:
    """By the published rule the first new conversation costs all of it, later ones their words."""
    cold, first, later = results["mlx"].probed.rows("T1")
    assert first["reRead"][0] > 0.98 * cold["reRead"][0]
    assert later["reRead"] == [8, 8]


@pytest.mark.parametrize("name", [*MODELS, "mlx"])
async def test_claim_28_a_repeat_leaves_one_to_five_tokens(results: Results, name: str) -> None:
    """An immediate exact repeat re-reads next to nothing on every build."""
    costs = results[name].re_read
    repeats = [costs[role] for role in ("identical", "exact", "exact-2", "echo-exact")]
    assert all(1 <= cost <= 5 for cost in repeats), repeats


@every_model
async def test_claim_29_a_turn_costs_its_exchange(results: Results, name: str) -> None:
    """A turn re-reads 10 to 40 tokens, and a longer history does not raise that (claim 2, too)."""
    costs = results[name].re_read
    assert all(10 <= costs[role] <= 40 for role in ("turn-2", "turn-3", "extend"))
    assert costs["turn-3"] <= costs["turn-2"]


@pytest.mark.parametrize("name", ["attention-native", "attention-rendered"])
async def test_claim_30_a_new_conversation_diverges_near_the_end(
    results: Results, name: str
) -> None:
    """Five to twelve tokens of the prompt come after what it shares with the one before."""
    _, first, later = results[name].probed.rows("T1")
    assert min(*first["reRead"], *later["reRead"]) >= 5
    assert max(*first["reRead"], *later["reRead"]) <= 12


async def test_claim_32_overflow_gives_false_figures(results: Results) -> None:
    """The prompt of 4,452 tokens was cut to the window without a word."""
    (row,) = results["overflow"].run["summary"]["identical-repeat"]
    assert row["prompt"] == 4095
    assert results[RENDERED].run["summary"]["identical-repeat"][0]["prompt"] == 4452


async def test_claim_33_two_checkpoints_in_a_cold_prompt(results: Results) -> None:
    """One lies a batch before the end of the 4,452 tokens, the other four tokens before it."""
    made = re.findall(r"created context checkpoint .*n_tokens = (\d+)", results[RENDERED].task(1))
    assert made == [str(4452 - 1024), str(4452 - 4)]


async def test_claim_34_the_late_checkpoint_is_rejected(results: Results) -> None:
    """A new conversation leaves the prompt before the last checkpoint, and takes the one before."""
    lines = results[RENDERED].task(3)
    checked = re.findall(r"checking checkpoint with \[(\d+), \d+\] against (\d+)", lines)
    (shared,) = {int(against) for _, against in checked}
    assert [int(position) for position, _ in checked] == [4447, 3427]
    assert 3427 < shared < 4447
    assert "restored context checkpoint (pos_min = 3427" in lines
    assert results[RENDERED].re_read["new-question"] == 1025


async def test_claim_35_the_way_back_is_a_batch_at_every_length(results: Results) -> None:
    """From some 1,450 to 6,700 tokens a new conversation re-reads the same (claim 55, too)."""
    rows = [row for row in results[RENDERED].probed.rows("T6") if row["entries"] >= 100]
    assert [row["entries"] for row in rows] == [100, 200, 450]
    assert (rows[0]["prompt"], rows[-1]["prompt"]) == (1462, 6715)
    assert {row["reRead"] for row in rows} == {1025}


async def test_claim_36_content_does_not_matter(results: Results) -> None:
    """A prompt of other words goes back as far (claim 61, too: the same group)."""
    _, first, later = results["file"].probed.rows("T1")
    assert (first["reRead"], later["reRead"]) == ([1025, 1025], [1023, 1023])


async def test_claim_37_a_short_prompt_is_read_whole(results: Results) -> None:
    """A prompt of less than a batch holds no checkpoint before the question."""
    short = results[RENDERED].probed.rows("T6")[0]
    assert (short["entries"], short["prompt"], short["cached"]) == (60, 881, 0)
    assert (short["reRead"], short["laterReRead"]) == (881, 880)


async def test_claim_38_the_batch_sets_the_way_back(results: Results) -> None:
    """With a batch of 512 tokens a new conversation re-reads 512 or so."""
    run = results["small batch"].run
    assert (run["group"], run["batch"]) == ("one batch back", 512)
    _, first, later = results["small batch"].probed.rows("T1")
    assert (first["reRead"], later["reRead"]) == ([513, 513], [511, 511])
    assert "-b 512 -ub 512" in results["small batch"].log


@pytest.mark.parametrize("name", [*MODELS, "mlx"])
async def test_claim_44_a_repeat_before_does_not_help(results: Results, name: str) -> None:
    """New conversations cost the same on the arm with an exact repeat and on the one without."""
    costs = results[name].re_read
    for number in "123":
        assert abs(costs[f"delta-fresh-{number}"] - costs[f"echo-fresh-{number}"]) <= 2


async def test_claim_45_same_weights_two_paths(results: Results) -> None:
    """One model file re-reads a batch at each alternating turn on one path and little on the other.

    Published for two runners; here it is llama-server's two paths.
    """
    costs = {name: results[name].probed.rows("T4")[0]["reRead"] for name in (RENDERED, NATIVE)}
    assert costs == {RENDERED: [1023, 1058], NATIVE: [18, 87]}


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        *((name, 6, 164) for name in MODELS if not name.startswith("recurrent")),
        (RENDERED, 1019, 1080),
        ("mlx", 5, 82),
    ],
)
async def test_claim_46_two_users_at_once(
    results: Results, name: str, least: int, most: int
) -> None:
    """Each alternating turn costs what was published for its kind (claim 56, too)."""
    costs = results[name].probed.rows("T4")[0]["each"]
    assert len(costs) == 6
    assert all(least <= cost <= most for cost in costs), costs


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("attention-native", 6, 8),
        ("attention-rendered", 6, 8),
        (RENDERED, 929, 961),
        ("mlx", 4, 13),
    ],
)
async def test_claim_47_second_branch(results: Results, name: str, least: int, most: int) -> None:
    """Each of four branches costs what was published for its kind."""
    costs = results[name].probed.rows("T4")[1]["each"]
    assert len(costs) == 4
    assert all(least <= cost <= most for cost in costs), costs


async def test_claim_48_abort_wait_and_retry(results: Results) -> None:
    """The client leaves after 400 ms, and asks again 5.4 s after it asked first."""
    measured = results["abandoned"]
    first, retry = [it for it in measured.records if it.kind == "answer"][-2:]
    assert first.cancelled
    assert 5.4 <= retry.started - first.started < 6.5
    (row,) = measured.probed.rows("T5")
    assert row["abandoned"] is True
    # What llama.cpp had read until it noticed is kept, in whole batches or all of it.
    assert row["cached"] >= 1024


async def test_claim_52_prefill_time_hides_the_wait(tmp_path: Path) -> None:
    """Behind another client's prompt only the whole time is long, not the time for reading."""
    async with (
        one_model("attention-rendered", tmp_path) as server,
        open_ollama(server.url) as ollama,
    ):

        def body(words: str) -> dict[str, Any]:
            message = {"role": "user", "content": words}
            return {
                "model": "attention-rendered",
                "messages": [message],
                "options": {"num_ctx": 16_384, "num_predict": 1},
            }

        await ollama.chat(body("hello"))
        long = asyncio.create_task(ollama.chat(body("and then " * 3_000)))
        log = server.log_path("attention-rendered")
        # The third beginning of a batch is the second one of the long prompt.
        while log.read_text(errors="replace").count("memory_seq_rm") < 3:  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.01)
        short = await ollama.chat(body("hello"))
        await long
    assert short.prefill_s is not None
    assert short.total_s is not None
    assert short.total_s > 10 * short.prefill_s


@every_model
async def test_claim_58_the_warm_up_pays_for_loading(results: Results, name: str) -> None:
    """The first call that is counted finds the model loaded."""
    warm_up, cold, *_ = [it for it in results[name].records if it.kind == "answer"]
    assert warm_up.load_seconds > 10 * cold.load_seconds


async def test_claim_60_only_checkpoints_lead_back(results: Results) -> None:
    """A recurrent model begins at a checkpoint or at nothing, attention anywhere without one."""
    for number in range(1, 30):
        lines = results[RENDERED].task(number)
        cached = re.findall(r"cached n_tokens = (\d+)", lines)[0]
        (rests_at,) = re.findall(
            r"stop processing: n_tokens = (\d+)", results[RENDERED].task(number - 1)
        )
        restored = re.findall(r"restored .* n_tokens = (\d+),", lines)
        assert [cached] == restored or cached in {"0", rests_at}
    assert "restored context checkpoint" not in results["attention-rendered"].log


async def test_sweep_has_its_lengths(results: Results) -> None:
    """Every length was measured with its three calls."""
    sweep = results[RENDERED].run["sweep"]
    assert [one["glossaryEntries"] for one in sweep] == list(LENGTHS)
    assert {len(one["calls"]) for one in sweep} == {len(SWEEP_CALLS)}
