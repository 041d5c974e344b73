"""What is known of things that may no longer be named, apart from any Home Assistant."""

from custom_components.ollama_warm.agent import permits
from custom_components.ollama_warm.agent.names import Name
from custom_components.ollama_warm.agent.permits import Things


def test_things_that_come_and_go_for_ever() -> None:
    """The newest losses are known, and what is there; memory does not grow without end."""
    things = Things()
    here = {"lamp": (Name("Lamp"),)}
    most = permits._MOST_GONE
    for number in range(3):
        fleeting = {f"{number} {one}": (Name(f"Beacon {number} {one}"),) for one in range(most)}
        things.look(here | fleeting)
        things.look(here)
    gone = {name.text for name, _ in things.gone()}
    assert gone == {f"Beacon 2 {one}" for one in range(most)}
    assert [name.text for name in things.here()] == ["Lamp"]
    things.call({key: (Name("Other"),) for key in things.gone_keys()})
    things.look({})
    assert "Lamp" in {name.text for name, _ in things.gone()}
    assert len(list(things.gone_keys())) == most
