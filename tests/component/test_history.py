"""Which earlier rounds of a conversation are sent again when the house has changed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.chat_session import async_get_chat_session
from homeassistant.setup import async_setup_component
from tests.rig.ollama import Scripted

from .support.house import AGENT, House, add_server, speech
from .support.scripts import call, calls, in_turn, says
from .support.server import Ollama

ON = "intent__HassTurnOn"
LIVE = "homeassistant__GetLiveContext"


def heard(ollama: Ollama) -> list[str]:
    """Return what people said in the last request, without what rode with it."""
    return [
        message["content"].rsplit("\n\n", 1)[-1]
        for message in ollama.messages
        if message["role"] == "user"
    ]


def sent(ollama: Ollama) -> str:
    """Return the last request as one text."""
    return str(ollama.body)


async def tick(freezer: FrozenDateTimeFactory) -> None:
    """Let a moment pass, so that what was before can be distinguished from what is after."""
    freezer.tick(1)
    await asyncio.sleep(0)


def registry(house: House) -> er.EntityRegistry:
    """Return the registry of entities."""
    return er.async_get(house.hass)


async def settled(house: House) -> None:
    """Wait until the house has changed."""
    await house.hass.async_block_till_done()


MOVING = {
    "temperature": "- Temperature: {{ states('sensor.outside') }}",
    "time": "- Time: {{ now().strftime('%H:%M:%S') }}",
    "date and time": "It is:\n- {{ now() }}\n- day {{ now().day }}",
    "what is on": "{% for s in states.light if s.state == 'on' %}- {{ s.name }}\n{% endfor %}",
    "how many are on": "- On: {{ states.light | selectattr('state', 'eq', 'on') | list | count }}",
    "shopping": "{% for i in states('sensor.outside').split(',') %}- {{ i }}\n{% endfor %}",
    "yaml": "- names: {{ states('sensor.outside') }}\n  domain: sensor",
    "nested": "- House\n  - {{ states('sensor.outside') }}",
    "state of a device": "- Ceiling is {{ states('light.ceiling') }}",
    "goes": "{% if states('sensor.outside') == '20' %}- names: Ghost{% endif %}",
    "who is asking": "- {{ user_name or states('sensor.outside') }}",
    "star": "* {{ states('sensor.outside') }}",
}


@pytest.mark.parametrize("instructions", MOVING.values(), ids=MOVING)
async def test_lists_of_the_instructions(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory, instructions: str
) -> None:
    """Whatever changes in them or goes from them, the conversation is sent again in full."""
    house.hass.states.async_set("sensor.outside", "20")
    await house.set_up(add_server(house.hass, ollama.url, prompt=f"Be brief.\n{instructions}"))
    ollama.stand_in.script = calls(call(ON, name="Ceiling"))
    await house.ask("turn it on", conversation_id="talk")
    for state in ("21", "milk,eggs", "unknown"):
        house.hass.states.async_set("sensor.outside", state)
        await tick(freezer)
        await house.ask(f"and {state}", conversation_id="talk")
    ollama.stand_in.script = says("Yes.")
    await house.ask("turn it back on again", conversation_id="talk")
    assert heard(ollama)[0] == "turn it on"
    assert len(heard(ollama)) == 5


async def rename(house: House) -> None:
    """Give the lamp that was talked of another name."""
    registry(house).async_update_entity("light.ceiling", name="Big Lamp")


async def rename_id(house: House) -> None:
    """Give it another id."""
    registry(house).async_update_entity("light.ceiling", new_entity_id="light.big")


async def add_alias(house: House) -> None:
    """Give it an alias."""
    registry(house).async_update_entity("light.ceiling", aliases=["Sun", er.COMPUTED_NAME])


async def move(house: House) -> None:
    """Put it into an area."""
    area = ar.async_get(house.hass).async_get_or_create("Attic")
    registry(house).async_update_entity("light.ceiling", area_id=area.id)


async def expose_more(house: House) -> None:
    """Expose another one."""
    house.expose("light.porch")


async def hide_another(house: House) -> None:
    """Hide one that was not talked of."""
    house.expose("light.bedside", exposed=False)


async def hide_and_expose(house: House) -> None:
    """Hide it, and show it again before anyone asks."""
    house.expose("light.ceiling", exposed=False)
    await asyncio.sleep(0)
    house.expose("light.ceiling")


async def hide_a_part_of_its_name(house: House) -> None:
    """Hide one whose name is a word of its name."""
    registry(house).async_update_entity("light.ceiling", name="Bedside Ceiling")
    await house.hass.async_block_till_done()
    house.expose("light.bedside", exposed=False)


async def hide_one_of_the_same_name(house: House) -> None:
    """Hide another one that has the same name."""
    registry(house).async_update_entity("light.bedside", name="Ceiling")
    await house.hass.async_block_till_done()
    await house.ask("hello", conversation_id="other")
    house.expose("light.bedside", exposed=False)


KEEPS = [
    rename,
    rename_id,
    add_alias,
    move,
    expose_more,
    hide_another,
    hide_and_expose,
    hide_a_part_of_its_name,
    hide_one_of_the_same_name,
]


@pytest.mark.parametrize("change", KEEPS)
async def test_a_device_that_may_be_named(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    change: Callable[[House], Awaitable[None]],
) -> None:
    """Whatever happens to it or around it, what was said of it is sent again."""
    ollama.stand_in.script = calls(call(ON, name="Ceiling"))
    await house.ask("turn the ceiling on", conversation_id="talk")
    await tick(freezer)
    await change(house)
    await settled(house)
    await tick(freezer)
    for question in ("turn it back on again", "and off"):
        await house.ask(question, conversation_id="talk")
        assert heard(ollama)[0] == "turn the ceiling on"


NAMING: dict[str, tuple[str, dict[str, Any]]] = {
    "words": ("turn the BEDSIDE on", {"content": "Done."}),
    "an alias in words": ("turn the Night Light on", {"content": "Done."}),
    "its older name in words": ("turn the old lamp on", {"content": "Done."}),
    "an id in words": ("toggle light.bedside", {"content": "Done."}),
    "an answer": ("turn it on", {"content": "The bedside is on."}),
    "an alias in an answer": ("turn it on", {"content": "night-light: on"}),
    "a thought": ("turn it on", {"thinking": "They mean Bedside.", "content": "Done."}),
    "a call": ("turn it on", {"tool_calls": [call(ON, name="Bedside")]}),
    "a call by an alias": ("turn it on", {"tool_calls": [call(ON, name="night light")]}),
    "a call in vain": ("turn it on", {"tool_calls": [call(ON, area="Bedside")]}),
    "a list in a call": ("turn it on", {"tool_calls": [call(ON, name=["Bedside"])]}),
    "a result": ("turn all on", {"tool_calls": [call(ON, domain=["light"])]}),
    "a state": ("what is on", {"tool_calls": [call(LIVE)]}),
}


def hide(house: House) -> None:
    """Un-expose it."""
    house.expose("light.bedside", exposed=False)


def hide_with_another_name(house: House) -> None:
    """Rename it, and un-expose it before anyone asks."""
    registry(house).async_update_entity("light.bedside", name="Something")
    hide(house)


def disable(house: House) -> None:
    """Disable it, which takes it out of the house."""
    registry(house).async_update_entity("light.bedside", disabled_by=er.RegistryEntryDisabler.USER)


def remove(house: House) -> None:
    """Remove it."""
    registry(house).async_remove("light.bedside")


GOES = [hide, hide_with_another_name, disable, remove]


async def bedside(house: House) -> None:
    """Have the light by the bed in the house with an older name and an alias."""
    registry(house).async_update_entity("light.bedside", name="Old lamp")
    await settled(house)
    await house.ask("hello", conversation_id="another")
    registry(house).async_update_entity(
        "light.bedside", name=None, aliases=[er.COMPUTED_NAME, "Night light"]
    )
    await settled(house)


async def rounds(house: House, ollama: Ollama, freezer: FrozenDateTimeFactory, case: str) -> None:
    """Have a conversation of three rounds, the second of which names the light by the bed."""
    words, answer = NAMING[case]
    ollama.stand_in.script = says("Sure.")
    await house.ask("hello there", conversation_id="talk")
    await tick(freezer)
    ollama.stand_in.script = in_turn(Scripted(**answer), Scripted(content="Good."))
    await house.ask(words, conversation_id="talk")
    await tick(freezer)
    ollama.stand_in.script = says("Sure.")
    await house.ask("thank you", conversation_id="talk")
    await tick(freezer)


@pytest.mark.parametrize("change", GOES)
@pytest.mark.parametrize("case", NAMING)
async def test_a_device_that_may_no_longer_be_named(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    case: str,
    change: Callable[[House], None],
) -> None:
    """The round that names it is no longer sent, and the others are; the prefix moves once."""
    await bedside(house)
    await rounds(house, ollama, freezer, case)
    assert len(heard(ollama)) == 3
    change(house)
    await settled(house)
    await tick(freezer)
    asked = ["hello there", "thank you"]
    before = None
    for question in ("and now", "and then"):
        await house.ask(question, conversation_id="talk")
        asked.append(question)
        assert heard(ollama) == asked
        text = sent(ollama).casefold()
        assert not any(name in text for name in ("bedside", "night light", "old lamp"))
        assert before is None or ollama.messages[: len(before)] == before
        before = ollama.messages
    # What is exposed again moves nothing.
    async_expose_entity(house.hass, "conversation", "light.bedside", should_expose=True)
    await house.ask("and again", conversation_id="talk")
    assert heard(ollama) == [*asked, "and again"]


EVERYDAY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a kind in words": ("Light", "is there any light?", {}),
    "a kind in a call": ("Light", "on", call(ON, name="Ceiling", domain=["light"])),
    "a kind in a state": ("Light", "what is on there", call(LIVE, area="Kitchen")),
    "a room in words": ("Kitchen", "is the kitchen warm?", {}),
    "a room in a call": ("Kitchen", "on there", call(ON, name="Ceiling", area="Kitchen")),
    "a room in a result": ("Kitchen", "all on there", call(ON, area="Kitchen")),
    "a room in a state": ("Kitchen", "what is on", call(LIVE, area="Kitchen")),
    "the house": ("House", "is anybody in the house?", {}),
    "a word of the instructions": ("Voice", "your voice is nice", {}),
}


@pytest.mark.parametrize(("name", "words", "called"), EVERYDAY.values(), ids=EVERYDAY)
async def test_a_name_that_is_an_everyday_word(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    name: str,
    words: str,
    called: dict[str, Any],
) -> None:
    """What the prompt still says by itself gives nothing away, but where a device is named."""
    kitchen = ar.async_get(house.hass).async_get_or_create("Kitchen")
    registry(house).async_update_entity("light.ceiling", area_id=kitchen.id)
    registry(house).async_update_entity("light.bedside", name=name)
    await settled(house)
    answers = [Scripted(tool_calls=[called])] if called else []
    ollama.stand_in.script = in_turn(*answers, *[Scripted(content="Well.")] * 3)
    await house.ask(words, "kitchen", conversation_id="talk")
    await tick(freezer)
    hide(house)
    await settled(house)
    await house.ask("and now", "kitchen", conversation_id="talk")
    assert heard(ollama) == [words, "and now"]


@pytest.mark.parametrize("called", [call(ON, name="light"), call(ON, domain=["light"]), call(LIVE)])
async def test_an_everyday_word_where_a_device_is_named(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    called: dict[str, Any],
) -> None:
    """In calls and results it is the device."""
    registry(house).async_update_entity("light.bedside", name="Light", new_entity_id="light.light")
    await settled(house)
    house.expose("light.light")
    ollama.stand_in.script = in_turn(
        Scripted(tool_calls=[called]), *[Scripted(content="Well.")] * 2
    )
    await house.ask("which is it", conversation_id="talk")
    await tick(freezer)
    house.expose("light.light", exposed=False)
    await settled(house)
    await house.ask("and now", conversation_id="talk")
    assert heard(ollama) == ["and now"]


async def evict(house: House, entry: ConfigEntry) -> None:
    """Have more conversations than are remembered."""
    for number in range(70):
        entry.runtime_data.agents["agent"]._replays.of(str(number))


async def reload(house: House, entry: ConfigEntry) -> None:
    """Set the agent up again."""
    await house.hass.config_entries.async_reload(entry.entry_id)


async def unload(house: House, entry: ConfigEntry) -> None:
    """Set the agent up again, and have something hidden while it is away."""
    await house.hass.config_entries.async_unload(entry.entry_id)
    hide(house)
    await settled(house)
    await house.hass.config_entries.async_setup(entry.entry_id)


@pytest.mark.parametrize("back", [1, 3600, 365 * 24 * 3600])
async def test_a_clock_that_was_put_back(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory, back: int
) -> None:
    """What was said before something was hidden is known for that, though its time is later."""
    await rounds(house, ollama, freezer, "words")
    freezer.tick(-back)
    hide(house)
    await settled(house)
    for asked in (["and now"], ["and now", "and then"]):
        await tick(freezer)
        await house.ask(asked[-1], conversation_id="talk")
        assert heard(ollama) == ["hello there", "thank you", *asked]


@pytest.mark.parametrize("forget", [evict, reload, unload])
@pytest.mark.parametrize("first", [True, False])
async def test_a_conversation_that_was_forgotten(  # noqa: PLR0913 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    forget: Callable[[House, ConfigEntry], Awaitable[None]],
    *,
    first: bool,
) -> None:
    """Home Assistant still keeps it, so what it names is known all the same."""
    await rounds(house, ollama, freezer, "words")
    if first:
        await forget(house, agent)
        await tick(freezer)
    hide(house)
    await settled(house)
    if not first:
        await tick(freezer)
        await forget(house, agent)
    await house.ask("and now", conversation_id="talk")
    assert heard(ollama) == ["hello there", "thank you", "and now"]
    assert "bedside" not in sent(ollama).casefold()


async def test_a_round_of_another_agent(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """What Home Assistant's own agent did in the conversation counts like ours."""
    house.expose("light.porch")
    await settled(house)
    await house.ask("turn on porch", agent_id=None, conversation_id="talk")
    await tick(freezer)
    house.expose("light.porch", exposed=False)
    await settled(house)
    await house.ask("hello", conversation_id="talk")
    assert heard(ollama) == ["hello"]
    assert "porch" not in sent(ollama).casefold()


async def test_what_a_local_answer_named_stays(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """Its calls are of tools that the model was never offered; that alone is no reason."""
    await house.ask("turn on ceiling", agent_id=None, conversation_id="talk")
    await tick(freezer)
    await house.ask("turn it back off", conversation_id="talk")
    assert heard(ollama) == ["turn on ceiling", "turn it back off"]


async def test_what_was_never_exposed(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A person's word for something that the model never read of is a word like any other."""
    await house.ask("is the porch wet?", conversation_id="talk")
    await tick(freezer)
    await house.ask("and now?", conversation_id="talk")
    assert heard(ollama) == ["is the porch wet?", "and now?"]


async def test_words_after_it_was_hidden(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """What a person says of it later gives nothing away that came from Home Assistant."""
    hide(house)
    await settled(house)
    await house.ask("hello", conversation_id="talk")
    await tick(freezer)
    await house.ask("is the bedside on?", conversation_id="talk")
    await tick(freezer)
    await house.ask("turn it on", conversation_id="talk")
    assert heard(ollama) == ["hello", "is the bedside on?", "turn it on"]


async def test_a_tail_that_names_it(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A round that only named a new device stays without that, and with its room."""
    ollama.stand_in.script = says("Sure.")
    registry(house).async_update_entity("light.bedside", name="Kitchen")
    await settled(house)
    await house.ask("hello", "kitchen", conversation_id="talk")
    house.expose("light.porch")
    await settled(house)
    await tick(freezer)
    await house.ask("what is new", "kitchen", conversation_id="talk")
    assert "Porch" in sent(ollama)
    await tick(freezer)
    house.expose("light.porch", exposed=False)
    hide(house)
    await settled(house)
    await house.ask("and now", "kitchen", conversation_id="talk")
    assert heard(ollama) == ["hello", "what is new", "and now"]
    assert "Porch" not in sent(ollama)
    assert "Additional devices" not in sent(ollama)
    assert "You are in area Kitchen" in ollama.messages[1]["content"]


async def test_a_script_that_is_hidden(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A tool that may no longer be named takes along the rounds that called it."""
    script = {"good_night": {"alias": "Sleep well", "sequence": []}}
    assert await async_setup_component(house.hass, "script", {"script": script})
    house.expose("script.good_night")
    await house.set_up(add_server(house.hass, ollama.url))
    ollama.stand_in.script = in_turn(
        Scripted(content="Hello."),
        Scripted(tool_calls=[call("script__good_night")]),
        Scripted(content="Good."),
        Scripted(content="Yes."),
    )
    await house.ask("hello", conversation_id="talk")
    await tick(freezer)
    await house.ask("we go to bed", conversation_id="talk")
    assert "script__good_night" in sent(ollama)
    await tick(freezer)
    house.expose("script.good_night", exposed=False)
    await settled(house)
    await house.ask("are you there", conversation_id="talk")
    assert heard(ollama) == ["hello", "are you there"]
    assert "good_night" not in sent(ollama)
    assert "Sleep well" not in sent(ollama)


async def test_a_conversation_that_begins_with_an_announcement(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """Words that Home Assistant spoke by itself belong to the first question, and go with it."""
    with (
        async_get_chat_session(house.hass, "talk") as session,
        conversation.async_get_chat_log(house.hass, session) as chat_log,
    ):
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(agent_id=AGENT, content="The bedside is on.")
        )
    await house.ask("thank you", conversation_id="talk", context=Context())
    await tick(freezer)
    hide(house)
    await settled(house)
    assert speech(await house.ask("and now", conversation_id="talk"))
    assert heard(ollama) == ["and now"]
