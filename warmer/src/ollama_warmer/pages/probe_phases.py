"""The probe's nine phases in words; their ids and order are those of the published run files."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One phase.

    Attributes:
        id: Its name in a run file.
        title: What it is about.
        about: What is sent, and what it imitates.
    """

    id: str
    title: str
    about: str


PHASES = (
    Phase(
        id="identical-repeat",
        title="The same request twice",
        about="A prompt that the server has never seen, then the very same again: the best case.",
    ),
    Phase(
        id="new-question",
        title="The first new conversation",
        about="Another question behind the same system prompt, for the first time.",
    ),
    Phase(
        id="growing-conversation",
        title="A conversation that grows",
        about="Three turns; each sends everything that was said before.",
    ),
    Phase(
        id="interleaved",
        title="Someone else in between",
        about="Another system prompt, then the first request again: does it survive the switch?",
    ),
    Phase(
        id="retry-after-abort",
        title="A retry after giving up",
        about=(
            "A new prompt whose asker hangs up after 0.4 seconds, and five seconds later the same "
            "again: does the retry wait behind the call that was given up?"
        ),
    ),
    Phase(
        id="ordering",
        title="What went before",
        about="New conversations straight after a repeat, a new conversation, and a second turn.",
    ),
    Phase(
        id="first-divergence",
        title="Two fresh system prompts",
        about=(
            "Each is read cold, followed by three new conversations; the second one is repeated "
            "word for word in between, to see whether that helps."
        ),
    ),
    Phase(
        id="interleaved-conversations",
        title="Two people at once",
        about="Two conversations behind one system prompt take turns.",
    ),
    Phase(
        id="second-branch",
        title="Back to an earlier question",
        about="Two questions, the first one again, and a third: are several branches kept?",
    ),
)
