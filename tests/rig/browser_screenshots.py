"""The pictures for the README: the pages that matter, of a house like in the demonstration."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
import sys
import tempfile

from PIL import Image
from playwright.async_api import Page, expect

from .browser import MISSING, find_browser, open_page
from .browser_owner import Owner
from .demo import demonstration, served_models
from .hass_api import Json
from .ollama import Scripted

AGENT = "House"
CONVERSATION = (
    ("Is the lamp in the office on?", "No, the lamp in the office is off."),
    ("And is the front door locked?", "Yes, the front door is locked."),
)
COLORS = 256
STILL_SECONDS = 1.5


def answer(body: Json) -> Scripted | None:
    """Return an answer with sense, as the tiny model has none."""
    asked = body["messages"][-1]["content"] if body.get("messages") else ""
    answers = (said for question, said in CONVERSATION if question in asked)
    return next((Scripted(content=said) for said in answers), None)


async def take(page: Page, path: Path) -> None:
    """Take a picture of what is on the screen, once it no longer moves."""
    await page.mouse.move(0, 0)
    await asyncio.sleep(STILL_SECONDS)
    picture = Image.open(BytesIO(await page.screenshot()))
    picture.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


async def visit(owner: Owner, url: str, picture: Callable[[str], Awaitable[None]]) -> None:
    """Walk through the pages, and take a picture of each."""
    await owner.begin_set_up()
    await owner.add_server(url)

    await owner.begin_agent("Add a new agent")
    await owner.name_it(AGENT)
    await picture("agent_form")
    await owner.section("Basics").click()
    await owner.section("Performance").click()
    await owner.number("Context window size").fill("16384")
    await owner.number("Keep alive").scroll_into_view_if_needed()
    await picture("agent_form_performance")
    await owner.submit()
    await owner.finish("The agent is ready.", "Finish")

    await owner.change_agent(AGENT)
    await owner.write_first("It is {{ now() }}. ")
    await owner.submit()
    await owner.dialog.get_by_text("Keep it as it is").scroll_into_view_if_needed()
    await picture("agent_instructions")

    await owner.open_device(AGENT)
    await owner.warm_now()
    await owner.sees({"Warm": "Yes"})
    await owner.use_as_assistant(AGENT)
    await owner.open_assist()
    for question, said in CONVERSATION:
        await expect(await owner.ask(question)).to_have_text(said)
    await picture("assist")

    await owner.open_device(AGENT)
    await owner.sees({"Warm": "Yes", "Re-read tokens": "tokens"})
    await picture("agent_device")
    await owner.open_device(url)
    await owner.sees({"Loaded model": "tiny-attention"})
    await picture("server_device")


async def run(browser: Path, folder: Path, house_folder: Path) -> None:
    """Take all pictures."""
    models = served_models("tiny")[:1]
    async with demonstration(house_folder, models) as (house, server):
        await house.add_core_ollama(server.url, model=models[0].full_name, name="Old agent")
        # What this house does without is no matter of these pages.
        await house.call_action("persistent_notification", "dismiss_all")
        server.script = answer
        async with open_page(browser) as (page, _):

            async def picture(name: str) -> None:
                await take(page, folder / f"{name}.png")

            owner = Owner(page, house)
            await owner.log_in()
            await visit(owner, server.url, picture)


def main() -> int:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(prog="script/screenshots", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures are put")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        parser.error(MISSING)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ollama-warm-pictures-") as folder:
        asyncio.run(run(browser, options.folder, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
