"""What is remembered of conversations, apart from any Home Assistant."""

from custom_components.ollama_warm.messages import Replay, Replays


def test_a_conversation_goes_on() -> None:
    """The tails of earlier questions stay, and so does what was left out."""
    replay = Replay()
    for ordinal in range(4):
        replay.begin(ordinal, f"tail {ordinal}")
    replay.dropped = 2
    replay.begin(4, "tail 4")
    assert replay.tails == {ordinal: f"tail {ordinal}" for ordinal in range(5)}
    assert replay.dropped == 2


def test_a_conversation_begins_anew() -> None:
    """A position that was there already is one of another conversation, or of a failure."""
    replay = Replay(tails={0: "kitchen", 1: "kitchen", 2: "kitchen"}, dropped=2)
    replay.begin(2, "bedroom")
    assert replay.tails == {0: "kitchen", 1: "kitchen", 2: "bedroom"}
    replay.begin(0, "hall")
    assert (replay.tails, replay.dropped) == ({0: "hall"}, 0)


def test_how_many_are_remembered() -> None:
    """The conversation that nobody went on with for longest is forgotten first."""
    replays = Replays()
    first = replays.of("0")
    for number in range(1, 64):
        replays.of(str(number))
    assert replays.of("0") is first
    replays.of("64")
    assert replays.of("0") is first
    assert replays.of("1") == Replay()


def test_what_was_unexposed_takes_its_history_along() -> None:
    """An earlier answer may name it, so earlier rounds are no longer told."""
    replay = Replay()
    replay.begin(0, "", frozenset({"lamp", "fan"}))
    replay.begin(1, "", frozenset({"lamp", "fan", "new"}))
    assert replay.dropped == 0
    replay.begin(2, "", frozenset({"lamp"}))
    assert replay.dropped == 2
    replay.begin(3, "", frozenset({"lamp"}))
    assert replay.dropped == 2
