"""What a person does with a browser, from the login page to an answer.

The tests are one visit: each goes on where the one before it has ended.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
import re

from playwright.async_api import expect
import pytest

from tests.rig.browser import MISSING, Complaints, find_browser, open_page
from tests.rig.browser_owner import Owner
from tests.rig.demo import demonstration, served_models
from tests.rig.hass_api import Json
from tests.rig.home_assistant import HomeAssistant
from tests.rig.ollama import OllamaStandIn, Scripted

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

QUESTION = "Is the lamp in the office on?"
ANSWER = "No, the lamp in the office is off."
NUM_CTX = 16384


@dataclass(frozen=True, slots=True)
class Visit:
    """A house, its model server, and the owner in front of the screen."""

    house: HomeAssistant
    server: OllamaStandIn
    owner: Owner
    complaints: Complaints


@pytest.fixture(scope="module", name="visit")
async def _visit(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visit]:
    """A house with an agent of Home Assistant's own, and the owner, who has logged in."""
    browser = find_browser()
    if browser is None:
        pytest.skip(MISSING)
    models = served_models("tiny")[:1]
    async with demonstration(tmp_path_factory.mktemp("browser"), models) as (house, server):
        await house.add_core_ollama(
            server.url, model=models[0].full_name, name="Old agent", num_ctx=NUM_CTX
        )
        server.script = _answer
        async with open_page(browser) as (page, complaints):
            owner = Owner(page, house)
            await owner.log_in()
            yield Visit(house, server, owner, complaints)


def _answer(body: Json) -> Scripted | None:
    """Return an answer with sense to the one question that is asked; the tiny model has none."""
    asked = QUESTION in body["messages"][-1]["content"] if body.get("messages") else False
    return Scripted(content=[f"{word} " for word in ANSWER.split()]) if asked else None


async def test_a_server_and_an_agent_are_added(visit: Visit) -> None:
    """From the list of integrations to an agent, through the form's sections."""
    owner = visit.owner
    await owner.begin_set_up()
    await owner.add_server(visit.server.url)

    await owner.begin_agent("Add a new agent")
    await owner.name_it("House")
    await expect(owner.dialog).to_contain_text("tiny-attention")
    await expect(owner.section("Instructions")).to_be_visible()
    await owner.section("Performance").click()
    await owner.number("Context window size").fill(str(NUM_CTX))
    await owner.submit()
    await owner.finish(f"of the {NUM_CTX} tokens in its context window", "Finish")
    await expect(owner.agent_row("House")).to_contain_text("Conversation agent")


async def test_an_agent_is_taken_over_and_changed(visit: Visit) -> None:
    """An agent of Home Assistant's own integration gets a twin; a change of it is kept."""
    owner = visit.owner
    await owner.begin_agent("Take over an existing Ollama agent")
    await expect(owner.dialog).to_contain_text("Old agent (tiny-attention:latest)")
    await owner.name_it("Twin")
    await owner.submit()
    await owner.finish("The agent is ready.", "Finish")

    await owner.change_agent("Twin")
    await owner.section("Performance").click()
    await expect(owner.number("Context window size")).to_have_value(str(NUM_CTX))
    await owner.number("Remembered questions").fill("7")
    await owner.submit()
    await owner.finish("The agent was changed.", "Close")
    await owner.change_agent("Twin")
    await owner.section("Performance").click()
    await expect(owner.number("Remembered questions")).to_have_value("7")


async def test_moving_instructions_are_pointed_at(visit: Visit) -> None:
    """The form says what in the instructions keeps changing, and where; one may insist."""
    owner = visit.owner
    await owner.change_agent("Twin")
    await owner.write_first("It is {{ now() }}. ")
    await owner.submit()
    await expect(owner.dialog).to_contain_text("Parts of these instructions keep changing")
    await expect(owner.dialog.locator("textarea")).to_have_value("1:10  now()")
    await owner.keep_as_it_is()
    await owner.submit()
    await owner.finish("The agent was changed.", "Close")


async def test_the_button_warms(visit: Visit) -> None:
    """The device page shows the sensors, and that the agent is warm once the button is pressed."""
    owner = visit.owner
    await owner.open_device("House")
    await visit.server.restart_backend("tiny-attention")
    before = len(visit.server.records)
    await owner.warm_now()
    await owner.sees({"Warm": "Yes", "Last warm-up": "second"})
    assert len(visit.server.records) > before


async def test_assist_answers(visit: Visit) -> None:
    """A question in the dialog is answered, and the device page tells what it cost."""
    owner = visit.owner
    await owner.use_as_assistant("House")
    await owner.open_assist()
    await expect(await owner.ask(QUESTION)).to_have_text(ANSWER)

    await owner.open_device("House")
    await owner.sees({"Warm": "Yes", "Last reason": "Nothing was lost", "Re-read tokens": "tokens"})
    assert re.search(r"\d+\stokens", await owner.entity("Re-read tokens").inner_text())
    await owner.sees({"Warm in 24 hours": "100", "Time to first token": "s"})


async def test_nothing_went_wrong(visit: Visit) -> None:
    """No error in the browser or in the log, and nothing wanted from another machine."""
    assert visit.complaints.errors == []
    assert visit.complaints.elsewhere == []
    assert visit.house.unexpected_errors() == []
