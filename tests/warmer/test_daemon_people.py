"""Who talks, what changes prompts, and how a round waits: by what Home Assistant sends."""

import asyncio
from collections.abc import Callable
import logging
import time

from hypothesis import given, strategies as st
import pytest

from ollama_warmer.config.config import Target
from ollama_warmer.counts.counts import Counts
from ollama_warmer.daemon.house_events import changes_prompts, states
from ollama_warmer.daemon.people import Courtesy, People
from ollama_warmer.daemon.times import Times
from ollama_warmer.round.rounds import Step

KITCHEN = "assist_satellite.kitchen"
AGENT = "conversation.warm"
TARGET = Target(name="kitchen", agent=AGENT, text="One?", confirm_text="Two?")
STEP = Step(step="warm-up", counts=Counts(), seconds=1)

words = st.sampled_from(
    ["a", "c", "r", "+", "s", "data", "changes", "action", "update", KITCHEN, AGENT, "listening"]
)
shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


class Scene:
    """People on a clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        """Begin with an idle kitchen and an agent that was asked before."""
        self.now = 1000.0
        self.new_agents = 0
        self.people = People(lambda: self.now, self._new_agent)
        self.people.take({"a": {KITCHEN: {"s": "idle", "a": {}}, AGENT: {"s": "09:00"}}})

    def _new_agent(self) -> None:
        self.new_agents += 1

    def change(self, entity_id: str, state: str) -> None:
        """Give an entity another state."""
        self.people.take({"c": {entity_id: {"+": {"s": state, "lc": 1.0}}}})


@pytest.fixture
def scene() -> Scene:
    """Return a quiet house."""
    return Scene()


@pytest.mark.parametrize("state", ["listening", "processing", "responding"])
def test_satellite_at_work(scene: Scene, state: str) -> None:
    """From the wake word to some seconds behind the answer it is not quiet."""
    assert scene.people.quiet_in() == 0
    scene.change(KITCHEN, state)
    scene.now += 10
    assert scene.people.quiet_in() > 0

    scene.change(KITCHEN, "idle")
    assert scene.people.quiet_in() == 3
    scene.now += 3
    assert scene.people.quiet_in() == 0


def test_satellite_that_hangs_or_goes(scene: Scene) -> None:
    """A satellite that never comes to an end stops to count; one that is removed, too."""
    scene.change(KITCHEN, "responding")
    scene.now += 121
    assert scene.people.quiet_in() == 0

    scene.change(KITCHEN, "idle")
    scene.change(KITCHEN, "listening")
    scene.people.take({"r": [KITCHEN]})
    scene.now += 3
    assert scene.people.quiet_in() == 0


def test_question_by_text(scene: Scene) -> None:
    """An agent's state says when someone asked it, also from the app."""
    scene.change(AGENT, "10:00")

    assert scene.people.quiet_in() == 5


def test_own_question_is_nobody(scene: Scene) -> None:
    """Our own question is expected; one that comes on top of it is a person's."""
    scene.people.expect(AGENT)
    scene.change(AGENT, "10:00")
    assert scene.people.quiet_in() == 0

    scene.people.expect(AGENT)
    scene.people.expect(AGENT)
    for state in ("10:01", "10:02", "10:03"):
        assert scene.people.quiet_in() == 0
        scene.change(AGENT, state)
    assert scene.people.quiet_in() == 5


def test_question_that_never_arrived(scene: Scene) -> None:
    """What was expected long ago stands for no one any more."""
    scene.people.expect(AGENT)
    scene.now += 31
    scene.change(AGENT, "10:00")

    assert scene.people.quiet_in() == 5


def test_agent_that_is_set_up_anew(scene: Scene) -> None:
    """Who changes an agent's options has its entity go and come."""
    scene.change(AGENT, "unavailable")
    assert scene.new_agents == 0
    scene.change(AGENT, "09:00")

    assert scene.new_agents == 1
    assert scene.people.quiet_in() == 0


def test_connection_that_is_lost(scene: Scene) -> None:
    """What is not seen is not waited for, and what is seen again is not new."""
    scene.change(KITCHEN, "listening")
    scene.people.forget()
    assert scene.people.quiet_in() == 0

    scene.people.take({"a": {AGENT: {"s": "11:00"}}})
    assert (scene.people.quiet_in(), scene.new_agents) == (0, 0)


@given(shapes)
def test_any_shape(event: object) -> None:
    """Whatever Home Assistant sends, nothing breaks."""
    scene = Scene()
    scene.people.take(event)
    assert isinstance(changes_prompts(event), bool)
    assert all(isinstance(entity_id, str) for entity_id, _ in states(event))


@pytest.mark.parametrize(
    ("event_type", "data", "changes"),
    [
        ("area_registry_updated", {"action": "create", "area_id": "attic"}, True),
        ("floor_registry_updated", {"action": "reorder"}, True),
        ("entity_registry_updated", {"action": "update", "changes": {"name": "Old"}}, True),
        ("entity_registry_updated", {"action": "update", "changes": {"options": {}}}, True),
        (
            "entity_registry_updated",
            {"action": "update", "changes": {"capabilities": {}, "original_icon": "mdi:a"}},
            False,
        ),
        ("device_registry_updated", {"action": "update", "changes": {"sw_version": "1"}}, False),
        ("device_registry_updated", {"action": "update", "changes": {"area_id": "a"}}, True),
        ("device_registry_updated", {"action": "remove"}, True),
        ("service_registered", {"domain": "script", "service": "good_night"}, True),
        ("service_removed", {"domain": "light", "service": "turn_on"}, False),
        ("component_loaded", {"component": "weather"}, True),
        ("core_config_updated", {"time_zone": "Europe/Paris"}, True),
    ],
)
def test_what_changes_prompts(event_type: str, data: object, changes: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Names, areas, exposure and scripts do; what devices report of themselves does not."""
    assert changes_prompts({"event_type": event_type, "data": data}) is changes


@pytest.fixture
def in_real_time() -> People:
    """Return people on the real clock, whose pauses are short."""
    times = Times(pause=0.2, patience=0.4, look_for_quiet=0.01)
    found = People(time.monotonic, lambda: None, times)
    found.take({"a": {KITCHEN: {"s": "idle"}}})
    return found


async def test_round_waits_until_it_is_quiet(in_real_time: People) -> None:
    """The next question is asked when the satellite is idle again, and a pause later."""
    in_real_time.take({"c": {KITCHEN: {"+": {"s": "listening"}}}})
    waiting = asyncio.create_task(Courtesy(in_real_time, time.monotonic).ready(TARGET))
    await asyncio.sleep(0.1)
    assert not waiting.done()

    in_real_time.take({"c": {KITCHEN: {"+": {"s": "idle"}}}})
    idle_at = time.monotonic()
    await waiting
    assert time.monotonic() - idle_at >= 0.2


async def test_round_does_not_wait_for_ever(
    in_real_time: People, caplog: pytest.LogCaptureFixture
) -> None:
    """Who talks on and on is waited for, then it is said once and asked all the same."""
    courtesy = Courtesy(in_real_time, time.monotonic)
    in_real_time.take({"c": {KITCHEN: {"+": {"s": "listening"}}}})

    with caplog.at_level(logging.WARNING):
        await courtesy.ready(TARGET)
        await courtesy.ready(TARGET)

    assert caplog.messages == [
        "kitchen: there was talking for 0.4 s on end, it is asked all the same"
    ]


def test_round_that_goes_on() -> None:
    """Each sign of life sets the clock of the watchdog back."""
    now = [0.0]
    courtesy = Courtesy(People(lambda: now[0], lambda: None), lambda: now[0])
    signs: list[Callable[[], None]] = [
        lambda: courtesy.asking(TARGET, "warm-up"),
        lambda: courtesy.reading(TARGET, 0.5),
        lambda: courtesy.answered(TARGET, STEP),
    ]
    for sign in signs:
        now[0] += 100
        assert courtesy.idle == 100
        sign()
        assert courtesy.idle == 0
