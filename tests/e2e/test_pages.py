"""The reports' pages in a real browser: on a phone and a desk, in light and dark, and on their own.

Pictures of figures are compared with those in `references`; with UPDATE_REFERENCES=1 in the
environment they are written anew, to be looked at.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import os
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright
import pytest
import pytest_asyncio

from tests.rig.bench import report
from tests.rig.bench.__main__ import arguments, main
from tests.rig.bench.cells import CORE, Kind, Measured
from tests.rig.browser import FLAGS, MISSING, find_browser
from tests.rig.models import Memory
from tests.warmer.support.pages import NAMES, hostile, page as made, sample

from .page_checks import (
    COLLIDING,
    PLACES,
    SHAPES,
    STICKING_OUT,
    WORDS,
    contrast,
    difference,
    keep,
    picture,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

type Scheme = Literal["light", "dark"]

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
WIDTHS = (390, 1280)
REFERENCES = Path(__file__).parent / "references"
# A figure of each kind.
FIGURES = {
    "probe": ("glance", "phase-5", "sweep"),
    "clock": ("place-2",),
    "status": ("target-4",),
    "bench": ("setting-1",),
}


class Seen:
    """A page in the browser, and everything that it did beside being shown."""

    def __init__(self, page: Page) -> None:
        """Listen to a page that is still empty."""
        self.page = page
        self.noise: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.noise.append(message.text))
        page.on("pageerror", lambda error: self.noise.append(str(error)))
        page.on("dialog", lambda dialog: self.noise.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))

    async def unfold(self) -> None:
        """Open all tables that are folded up."""
        await self.page.locator("details").evaluate_all(
            "all => all.forEach(one => one.open = true)"
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="browser")
async def _browser() -> AsyncIterator[Browser]:
    """A browser, or no test."""
    path = find_browser()
    if path is None:
        pytest.skip(MISSING)
    async with async_playwright() as playwright:
        program = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield program
        await program.close()


@pytest.fixture(scope="module", name="files")
def _files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of each sample."""
    folder = tmp_path_factory.mktemp("pages")
    files = {name: folder / f"{name}.html" for name in NAMES}
    for name, path in files.items():
        path.write_text(made(name))
    return files


@asynccontextmanager
async def shown(browser: Browser, path: Path, scheme: Scheme, width: int) -> AsyncIterator[Seen]:
    """Open a page from the disk, as somebody does who was sent it."""
    context = await browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 844}, reduced_motion="reduce"
    )
    try:
        seen = Seen(await context.new_page())
        await seen.page.goto(path.as_uri())
        yield seen
        assert seen.noise == []
        assert seen.requests == [path.as_uri()]
    finally:
        await context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
async def test_everything_fits(
    browser: Browser, files: dict[str, Path], name: str, width: int
) -> None:
    """Nothing sticks out of the page, and no words lie on others; with all tables unfolded, too."""
    async with shown(browser, files[name], "light", width) as seen:
        assert await seen.page.evaluate(COLLIDING) == []
        assert await seen.page.evaluate(STICKING_OUT) == []
        # Wider letters than those of any font for screens.
        await seen.page.evaluate("document.body.style.fontFamily = 'monospace'")
        assert await seen.page.evaluate(COLLIDING) == []
        assert await seen.page.evaluate(STICKING_OUT) == []
        await seen.unfold()
        assert await seen.page.locator("details[open]").count() > 0
        assert await seen.page.evaluate(STICKING_OUT) == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NAMES)
async def test_everything_can_be_read(
    browser: Browser, files: dict[str, Path], name: str, scheme: Scheme
) -> None:
    """All words, those in figures too, have the contrast of WCAG 2.2 AA to their ground."""
    async with shown(browser, files[name], scheme, 390) as seen:
        words = await seen.page.evaluate(WORDS)
        assert len(words) > 100
        faint = [one for one in words if contrast(one[1], one[2]) < 4.5]
        assert faint == []


@pytest.mark.parametrize("name", NAMES)
async def test_dark_is_light_in_other_colours(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    """Everything is in the same place, and the shapes of the figures have other colours."""
    places, shapes = [], []
    for scheme in SCHEMES:
        async with shown(browser, files[name], scheme, 390) as seen:
            places.append(await seen.page.evaluate(PLACES))
            shapes.append(set(await seen.page.evaluate(SHAPES)))
    assert places[0] == places[1]
    assert len(shapes[0]) == len(shapes[1]) >= 3
    assert shapes[0] & shapes[1] == set()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NAMES)
async def test_figures_look_as_they_did(
    browser: Browser, files: dict[str, Path], scheme: Scheme, name: str
) -> None:
    """Their shapes are those of the references; the letters are each machine's own."""
    async with shown(browser, files[name], scheme, 390) as seen:
        for figure in FIGURES[name]:
            drawn = await picture(seen.page, figure)
            reference = REFERENCES / f"{name}-{figure}-{scheme}.png"
            if os.environ.get("UPDATE_REFERENCES"):
                keep(drawn, reference)
            with Image.open(reference) as stored:
                assert difference(drawn, stored.convert("RGB")) < 0.001, figure


async def test_a_broken_figure_would_be_seen(browser: Browser, files: dict[str, Path]) -> None:
    """Without its styles, without a bar, or without its pattern, a figure is another one."""
    breaks = (
        "document.querySelector('style').remove()",
        "document.querySelectorAll('svg path')[6].remove()",
        "document.querySelectorAll('pattern path').forEach(one => one.remove())",
    )
    for broken in breaks:
        async with shown(browser, files["probe"], "light", 390) as seen:
            before = await picture(seen.page, "glance")
            await seen.page.evaluate(broken)
            assert difference(before, await picture(seen.page, "glance")) > 0.001, broken


@pytest.mark.parametrize("name", NAMES)
async def test_figures_have_names(browser: Browser, files: dict[str, Path], name: str) -> None:
    """Somebody who listens hears what each figure shows, and gets at its numbers by keyboard."""
    async with shown(browser, files[name], "light", 1280) as seen:
        figures = await seen.page.locator("svg").count()
        assert figures == await seen.page.get_by_role("img").count() > 0
        titles = await seen.page.locator("svg > title").all_text_contents()
        assert len(titles) == len(set(titles)) == figures
        await seen.page.locator("summary").first.focus()
        await seen.page.keyboard.press("Enter")
        table = seen.page.locator("figure table").first
        assert await table.is_visible()
        # The box around a table takes the focus, so that the arrow keys scroll it.
        await seen.page.keyboard.press("Tab")
        assert await seen.page.locator(".scroll:focus table").count() == 1


@pytest.mark.parametrize("name", NAMES)
async def test_hostile_words_do_nothing(browser: Browser, tmp_path: Path, name: str) -> None:
    """Nothing runs, nothing is asked for, and a word of 3,000 letters does not widen the page."""
    path = tmp_path / "hostile.html"
    path.write_text(made(name, hostile(sample(name))))
    async with shown(browser, path, "light", 390) as seen:
        assert await seen.page.locator("script").count() == 0
        assert "<script>alert(1)</script>" in await seen.page.locator("body").inner_text()
        await seen.unfold()
        assert await seen.page.evaluate(STICKING_OUT) == []


async def test_the_bench_writes_what_the_page_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own object has the shape of the sample; and a bad place is said before it starts."""
    one = Measured(scenario="rooms", kind=Kind(CORE, Memory.ATTENTION, "native"))
    bench = report.as_object([one])
    assert set(sample("bench")) == set(bench)
    assert set(sample("bench")["rows"][0]) <= set(bench["rows"][0])
    assert "Six rooms, one warm-up" in made("bench", bench)

    path = tmp_path / "gone" / "page.html"
    monkeypatch.setattr("sys.argv", ["bench", "--report", str(path)])
    assert arguments().report == path
    assert main() == 2
