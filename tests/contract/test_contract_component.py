"""The integration sends what the contract's example shows, field for field."""

from typing import Any

import pytest

from custom_components.ollama_warm.const import CONTRACT_VERSION, WARM_UP_PREFIX
from custom_components.ollama_warm.turns.shown import turn_as_dict
from custom_components.ollama_warm.turns.turns import Reason, Turn, Verdict

from .example import BLOCK_FIELDS, EXAMPLE, TURN_FIELDS


def turn_of(sent: dict[str, Any]) -> Turn:
    """Return the turn that an entry of the example describes."""
    derived = ("re_read_tokens", "verdict", "reason")
    return Turn(
        **{name: value for name, value in sent.items() if name not in derived},
        verdict=Verdict(sent["verdict"]),
        reason=Reason(sent["reason"] or "nothing"),
    )


def test_the_block() -> None:
    """Version and turns, and nothing that the page does not name."""
    assert list(EXAMPLE) == BLOCK_FIELDS == ["version", "turns"]
    assert EXAMPLE["version"] == CONTRACT_VERSION
    assert WARM_UP_PREFIX == "ollama_warm."


@pytest.mark.parametrize("sent", EXAMPLE["turns"])
@pytest.mark.parametrize("quote", [False, True])
def test_a_turn(sent: dict[str, Any], quote: bool) -> None:  # noqa: FBT001 - a parameter
    """Each field, and no other; what is unknown is null."""
    assert turn_as_dict(turn_of(sent), quote=quote) == sent
    assert sorted(sent) == sorted(TURN_FIELDS)
