"""Why rounds are made, and how long a failure keeps them waiting."""

from itertools import pairwise

from hypothesis import given, strategies as st

from ollama_warmer.daemon.backoff import Backoff
from ollama_warmer.daemon.occasions import Occasion, Occasions, words
from ollama_warmer.daemon.times import USUAL


def test_several_occasions_make_one_round() -> None:
    """They are taken together, the most important first."""
    waiting = Occasions()
    waiting.add(Occasion.SCHEDULE, 0)
    waiting.add(Occasion.HOME_ASSISTANT_BACK, 1)

    assert waiting.due(1)
    assert words(waiting.take(1)) == "Home Assistant is back, schedule"
    assert not waiting.due(1)
    assert waiting.following() is None


def test_an_occasion_that_is_not_due_stays() -> None:
    """A round that begins meanwhile does not stand for it."""
    waiting = Occasions()
    waiting.add(Occasion.MIDNIGHT, 0, wait=10)
    waiting.add(Occasion.START, 0)

    assert waiting.take(5) == (Occasion.START,)
    assert waiting.following() == 10
    assert waiting.take(10) == (Occasion.MIDNIGHT,)


def test_the_earlier_time_stays() -> None:
    """Who asks again puts nothing off."""
    waiting = Occasions()
    waiting.add(Occasion.RETRY, 0, wait=15)
    waiting.add(Occasion.RETRY, 0, wait=60)

    assert waiting.following() == 15


def test_any_round_is_the_second_attempt() -> None:
    """After a failure one round is made, not two."""
    waiting = Occasions()
    waiting.add(Occasion.RETRY, 0, wait=3600)
    waiting.add(Occasion.SCHEDULE, 1)

    assert waiting.take(1) == (Occasion.SCHEDULE,)
    assert waiting.following() is None


def test_changes_settle_first() -> None:
    """Who renames five things gets one round, shortly after the last."""
    waiting = Occasions()
    for moment in range(5):
        waiting.add_settling(Occasion.HOUSE_CHANGED, moment)

    assert waiting.following() == 4 + USUAL.settle
    assert waiting.take(4 + USUAL.settle) == (Occasion.HOUSE_CHANGED,)


@given(st.lists(st.floats(0.1, USUAL.settle), min_size=100, max_size=100))
def test_changes_without_end_do_not_put_it_off_for_ever(pauses: list[float]) -> None:
    """A house that never settles is warmed all the same."""
    waiting = Occasions()
    now = 0.0
    for pause in pauses:
        waiting.add_settling(Occasion.HOUSE_CHANGED, now)
        following = waiting.following()
        assert following is not None
        assert following <= USUAL.longest_settle
        now += pause


@given(st.floats(0.1, 10), st.floats(10, 1000), st.integers(1, 200))
def test_backoff(first: float, longest: float, failures: int) -> None:
    """It waits longer and longer, never above the limit, and begins again after a success."""
    backoff = Backoff(first, longest)
    delays = [backoff.delay() for _ in range(failures)]

    assert 0.75 * first <= delays[0] <= first
    assert all(later >= 0.75 * min(2 * earlier, longest) for earlier, later in pairwise(delays))
    assert max(delays) <= longest
    backoff.reset()
    assert backoff.delay() <= first
