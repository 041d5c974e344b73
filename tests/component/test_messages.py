"""What is remembered of conversations, apart from any Home Assistant."""

from custom_components.ollama_warm.agent.messages import Replay, Replays


def test_a_conversation_goes_on() -> None:
    """The tails of earlier questions stay, and so does what was left out."""
    replay = Replay()
    for ordinal in range(4):
        replay.begin(ordinal, f"tail {ordinal}")
    replay.dropped = 2
    replay.begin(4, "tail 4")
    assert replay.tails == {ordinal: f"tail {ordinal}" for ordinal in range(5)}
    assert replay.dropped == 2


def test_a_conversation_begins_again() -> None:
    """A position that was there already is one of another conversation, or of a failure."""
    replay = Replay(tails={0: "kitchen", 1: "kitchen", 2: "kitchen"}, dropped=2, unsaid={1, 2})
    replay.begin(2, "bedroom")
    assert replay.tails == {0: "kitchen", 1: "kitchen", 2: "bedroom"}
    assert replay.unsaid == {1}
    replay.begin(0, "hall")
    assert (replay.tails, replay.dropped, replay.unsaid) == ({0: "hall"}, 0, set())


def test_how_many_are_remembered() -> None:
    """The conversation that no one went on with for longest is forgotten first."""
    replays = Replays()
    first = replays.of("0")
    for number in range(1, 64):
        replays.of(str(number))
    assert replays.of("0") is first
    replays.of("64")
    assert replays.of("0") is first
    assert replays.of("1") == Replay()
