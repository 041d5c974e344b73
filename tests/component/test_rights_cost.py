"""What it costs when people with own tools and others ask in turn, counted by llama.cpp."""

import pytest

from homeassistant.core import Context
from tests.rig.models import Memory

from .support.house import House
from .support.people import API_ID, People, add_person
from .support.zoo import KINDS, Zoo, set_up

MANY = {f"m_{number:02}": f"Does thing {number} somewhere in the house" for number in range(40)}
OWN = {f"{start}_safe": f"Opens Ada's safe {start}" for start in "abz"}
"""About 220 tokens; some come before the shared ones in the alphabet, some behind them."""
_BATCH = 1024


@pytest.fixture
def ollama(zoo: Zoo) -> Zoo:
    """Return the server with all models."""
    return zoo


@pytest.mark.parametrize(("memory", "path"), KINDS)
@pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")
async def test_people_in_turn(house: House, ollama: Zoo, memory: Memory, path: str) -> None:
    """After one warm-up each reads what is their own, from the very first question on.

    A recurrent memory has no checkpoint where the own tools begin, so it goes a batch back. The
    figures are in `docs/decisions/0007-tools-of-one-person.md`.
    """
    people = People(house.hass)
    ada, bob = (add_person(house.hass, name) for name in ("Ada", "Bob"))
    people.offers = {None: MANY, ada.user_id: MANY | OWN}
    entry = await set_up(house, ollama, f"{memory}-{path}", llm_hass_api=["assist", API_ID])
    await entry.runtime_data.warm_ups["agent"].async_warm("en")
    recurrent = memory is Memory.RECURRENT
    for number, who in enumerate((ada, bob, ada, bob, ada, Context())):
        ollama.records.clear()
        await house.ask(f"Question {number}", context=who)
        read = ollama.read()
        cost = sum(record.re_read_tokens for record in read)
        assert max(record.prompt_tokens or 0 for record in read) > 6000
        if recurrent:
            # The first one comes behind the checkpoints of two questions of the warm-up.
            assert cost <= _BATCH + (64 if number else 320), (number, cost)
        else:
            assert cost <= (300 if who is ada else 80), (number, cost)
