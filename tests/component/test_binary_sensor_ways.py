"""That every kind of model is shown as warm once it is, in whichever way it was warmed."""

import pytest

from homeassistant.const import STATE_ON, STATE_UNKNOWN

from .support.house import House, turns
from .support.shown import shown, warm
from .support.zoo import KINDS, Path_, Zoo, set_up


@pytest.mark.parametrize(("memory", "path"), KINDS)
async def test_after_a_warm_up(house: House, zoo: Zoo, memory: str, path: Path_) -> None:
    """It is confirmed, and so is the first question in any room."""
    entry = await set_up(house, zoo, f"{memory}-{path}")
    assert warm(house.hass) == STATE_UNKNOWN
    for _ in range(2):
        await entry.runtime_data.warmth.async_warm("agent")
        assert warm(house.hass) == STATE_ON
    for room in ("kitchen", "bedroom", None):
        (turn,) = turns(await house.ask(f"What is on in the {room}?", room))
        assert warm(house.hass) == STATE_ON
        assert shown(house.hass, "re_read_tokens") == str(turn["re_read_tokens"])
    assert float(shown(house.hass, "warm_share")) == 100
