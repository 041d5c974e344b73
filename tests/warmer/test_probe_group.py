"""The group by counts alone: the published builds, and what must not be taken for one."""

from typing import Any

import pytest

from ollama_warmer.lab.probe.group import Costs, Group, costs_of, group_of
from ollama_warmer.lab.probe.plan import Kind, Phase
from tests.warmer.support.probe_runs import ANYWHERE, BATCH, ONCE, PROMPT, summary


@pytest.mark.parametrize(
    ("first", "later", "cold", "group", "batch"),
    [
        ((7, 7, 7), (7,) * 12, 2143, Group.TRUNCATES, None),  # llama3.2
        ((5, 5, 5), (*(5,) * 11, 1025), 2187, Group.TRUNCATES, None),  # gpt-oss
        ((17, 17, 17), (16,) * 12, 3178, Group.TRUNCATES, None),  # unsloth Nemotron
        ((1025, 1024, 1024), (1024,) * 12, 3178, Group.ONE_BATCH_BACK, 1024),  # qwen3.5:9b
        ((513, 512, 513), (512,) * 12, 3178, Group.ONE_BATCH_BACK, 512),  # less free memory
        ((3174, 3163, 3163), (12,) * 12, 3178, Group.ONCE, None),  # qwen3.8 on MLX
        ((1009, 1008, 1009), (1008,) * 12, 1008, Group.NO_REUSE, None),  # 100 entries
    ],
)
def test_published_builds(
    first: tuple[int, ...], later: tuple[int, ...], cold: int, group: Group, batch: int | None
) -> None:
    """Each of the published builds is in its published group."""
    found = group_of(Costs(cold=(cold, cold, cold), first=first, later=later))
    assert (found.group, found.batch) == (group, batch)


@pytest.mark.parametrize(
    ("costs", "group"),
    [(ANYWHERE, Group.TRUNCATES), (BATCH, Group.ONE_BATCH_BACK), (ONCE, Group.ONCE)],
)
def test_groups_of_whole_runs(costs: dict[Kind, int | None], group: Group) -> None:
    """A run's summary has the costs in it; three phases are enough."""
    assert group_of(costs_of(summary(costs))).group is group
    three = (Phase.IDENTICAL_REPEAT, Phase.NEW_QUESTION, Phase.GROWING)
    assert group_of(costs_of(summary(costs, phases=three))).group is group


def test_the_one_that_missed_is_named() -> None:
    """A build that is warm nearly always keeps its group, and its miss is said."""
    found = group_of(costs_of(summary(changed={"after-exact": {"cached": PROMPT - 1025}})))
    assert found.group is Group.TRUNCATES
    assert "14 of 15" in found.reason
    assert found.reason.endswith("the others 1,025")


def test_without_counts_it_is_unknown() -> None:
    """A server that does not report is never taken for a cold one."""
    found = group_of(costs_of(summary(dict.fromkeys(Kind))))
    assert found.group is Group.UNKNOWN
    assert "0.33.3" in found.reason


def test_one_missing_count_is_unknown() -> None:
    """A count that is missing is not counted as 0, and not left out."""
    found = group_of(costs_of(summary(changed={"seed": {"cached": None}})))
    assert found.group is Group.UNKNOWN
    assert "1 answers came without counts" in found.reason


@pytest.mark.parametrize("missing", ["cold", "first", "later"])
def test_too_few_calls_are_unknown(missing: str) -> None:
    """Without one of the three kinds of call there is no group."""
    given: dict[str, Any] = {"cold": (3000,), "first": (7,), "later": (7,)} | {missing: ()}
    found = group_of(Costs(**given))
    assert found.group is Group.UNKNOWN
    assert "run all phases" in found.reason


def test_a_short_prompt_is_unknown() -> None:
    """Where the words are most of the prompt, reuse cannot be known from their cost."""
    assert group_of(Costs(cold=(90,), first=(60,), later=(60,))).group is Group.UNKNOWN


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ((7, 7, 7), (*(7,) * 6, *(1024,) * 6)),  # half and half
        ((7, 7, 7), (300, 700, 1100, 1500, 1900, 2300) * 2),  # another step each time
        ((1024, 1024, 1024), (7,) * 8),  # warm later, and not all of it before
    ],
)
def test_no_known_pattern_is_unknown(first: tuple[int, ...], later: tuple[int, ...]) -> None:
    """What fits no group is not put into the nearest one."""
    found = group_of(Costs(cold=(3178,), first=first, later=later))
    assert found.group is Group.UNKNOWN
    assert "without a pattern" in found.reason


def test_a_step_that_is_no_power_of_two() -> None:
    """A batch that someone set is named as it was measured."""
    found = group_of(Costs(cold=(3178,), first=(700,), later=(701, 700)))
    assert (found.group, found.batch) == (Group.ONE_BATCH_BACK, 700)
