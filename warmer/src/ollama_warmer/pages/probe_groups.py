"""What the groups of builds do with a prompt that they have seen, and where that was measured.

The groups are kept apart by counts alone. What is behind them was read in llama.cpp (builds 9932
and 10050), in Ollama's scheduler and its MLX runner (0.33 to 0.35); the figures are from the
published measurements of seventeen builds with Ollama 0.34 and 0.35.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Group:
    """One group.

    Attributes:
        title: Its name for a person.
        about: How the server goes back to an earlier place in a prompt.
        seen: Which builds do that.
        verdict: The verdict whose colour the group has on the page.
    """

    title: str
    about: str
    seen: str
    verdict: str


_OTHERWISE = Group(
    title="No group",
    about=(
        "What a build does with a prompt that it has seen is known from three kinds of calls: "
        "prompts that are new, the first new conversation behind each of them, and the later ones. "
        "The counts of this run fit none of the known patterns, or are not complete."
    ),
    seen=(
        "Two builds of the same weights can be in different groups, so the name of a model says "
        "nothing: it has to be measured."
    ),
    verdict="unknown",
)
_GROUPS: Mapping[str, Group] = {
    "truncates anywhere": Group(
        title="Truncates anywhere",
        about=(
            "The memory of this build can be cut at any token. The server keeps the beginning that "
            "a new prompt has in common with the last one, and reads only what follows. So one "
            "question, whoever asks it, warms the prompt for everyone who has the same system "
            "text and tools; and all that stands behind something that changes is read again."
        ),
        seen=(
            "All builds with plain attention: 105 of 105 new conversations re-read 5 to 17 tokens. "
            "One with a sliding window, in 14 of 15. And a recurrent one whose prompt the model "
            "server itself makes from the template in the model file: it then knows where a "
            "message begins, and saves its state there."
        ),
        verdict="warm",
    ),
    "one batch back": Group(
        title="One batch back",
        about=(
            "This build carries a running state, which cannot be cut. The server can only go on "
            "from where it saved it: four tokens before the end of a prompt, and a batch before "
            "that. A new question parts from the old one in front of the last of these places, so "
            "the server takes the one before, and reads a batch again. How long the prompt is "
            "makes no difference; in a prompt shorter than a batch, everything is read."
        ),
        seen=(
            "Recurrent and hybrid models on llama-server whose prompt Ollama puts together itself, "
            "because it does not show the server where a message begins. Four builds re-read 1,024 "
            "or 1,025 tokens at each of 15 new conversations, of prompts from 1,549 to 4,812 "
            "tokens; 512 where Ollama had too little memory for a larger batch."
        ),
        verdict="partly warm",
    ),
    "once per system prompt": Group(
        title="Once per system prompt",
        about=(
            "This build carries a running state as well, and its server saves it where two prompts "
            "part, at the moment when they do. The first new conversation behind a system prompt "
            "finds nothing to go on from and reads everything. From the second one on only its own "
            "words are read. The same question twice parts nowhere, so it saves nothing."
        ),
        seen=(
            "Recurrent models on Ollama's MLX runner. Four builds found 4 to 16 tokens of 3,178 "
            "at the first new conversation, which took up to 37 seconds, and 3,166 to 3,168 at "
            "the later ones."
        ),
        verdict="partly warm",
    ),
    "no reuse": Group(
        title="No reuse",
        about=(
            "No new conversation went on from anything. Either the model is recurrent and the "
            "prompt shorter than a batch, so that no state was saved in front of the question; or "
            "the prompt did not fit into the window and its beginning was cut off, which changes "
            "it each time; or the cache was lost between two calls."
        ),
        seen=(
            "A recurrent build read all 1,009 tokens of a short prompt again, which took longer "
            "than reading it cold; with a prompt of 1,549 tokens the same build went one batch "
            "back."
        ),
        verdict="cold",
    ),
}


def group(name: str) -> Group:
    """Return the group that a run names."""
    return _GROUPS.get(name, _OTHERWISE)
