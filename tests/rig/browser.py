"""A real browser without a screen, which reaches nothing but this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
import json
from pathlib import Path
import shutil
import subprocess
from urllib.parse import urlsplit

from playwright.async_api import (
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    Route,
    WebSocket,
    async_playwright,
    expect,
)

from .hass_api import Json
from .hass_config import LOCALHOST
from .models import cache_folder

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # root has none, and only our own pages are shown
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {LOCALHOST}",
)
SIZE = (1280, 800)
# Home Assistant fetches the pictures of its integrations from the internet; ours are in its folder.
FETCHED_PICTURES = "/api/brands/"
# The interface asks for these in a house without a recorder or a dashboard of its own, too.
NOT_HERE = ("recorder/info", "lovelace/config")
ANSWER_SECONDS = 15
MISSING = "no Chromium was found: install one, or run script/lib/debian_chromium.sh on a Debian"


def find_browser() -> Path | None:
    """Return a browser that starts: the machine's own, or the one in the cache folder."""
    candidates = [*map(shutil.which, NAMES), cache_folder() / "chromium" / "start"]
    return next((Path(path) for path in candidates if path and _starts(Path(path))), None)


def _starts(path: Path) -> bool:
    """Return whether a program is there and can run; some are only a hint to install one."""
    try:
        subprocess.run([path, "--version"], check=True, capture_output=True, timeout=30)
    except OSError, subprocess.SubprocessError:
        return False
    return True


@dataclass
class Complaints:
    """What went wrong in a page, and what it wanted from elsewhere."""

    errors: list[str] = field(default_factory=list)
    """JavaScript's errors, and requests that Home Assistant could not answer."""
    elsewhere: list[str] = field(default_factory=list)
    """Requests to other machines; none of them was sent."""

    async def watch(self, page: Page) -> None:
        """Listen to everything that happens in a page."""
        page.on("pageerror", self._failed)
        page.on("console", self._heard)
        page.on("response", self._answered)
        page.on("websocket", self._connected)
        await page.route(lambda url: not _is_here(url), self._refuse)

    def _failed(self, error: Error) -> None:
        """Note an error that nobody caught; a refused command is noted with its name."""
        if str(error) != "Object":
            self.errors.append(str(error))

    def _heard(self, message: ConsoleMessage) -> None:
        """Note what is printed as an error; a failed request is noted with its address."""
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(f"{message.text} {message.location}")

    def _connected(self, socket: WebSocket) -> None:
        """Note the commands that Home Assistant refuses."""
        self._check(socket.url)
        commands: dict[int, str] = {}

        def sent(frame: bytes | str) -> None:
            commands.update({one["id"]: one["type"] for one in _messages(frame) if "id" in one})

        def received(frame: bytes | str) -> None:
            for one in _messages(frame):
                if one.get("success") is False and (name := commands[one["id"]]) not in NOT_HERE:
                    self.errors.append(f"{name}: {one['error']}")

        socket.on("framesent", sent)
        socket.on("framereceived", received)

    def _answered(self, response: Response) -> None:
        """Note a failed request, except for the pictures of other integrations."""
        address = urlsplit(response.url)
        others = address.path.startswith(FETCHED_PICTURES) and "ollama_warm" not in address.path
        if response.status >= HTTPStatus.BAD_REQUEST and not others:
            self.errors.append(f"{response.status} {address.path}")

    async def _refuse(self, route: Route, request: Request) -> None:
        """Send a request nowhere."""
        self._check(request.url)
        await route.abort()

    def _check(self, url: str) -> None:
        if not _is_here(url):
            self.elsewhere.append(url)


def _messages(frame: bytes | str) -> list[Json]:
    """Return the messages that were sent together."""
    content = json.loads(frame)
    return content if isinstance(content, list) else [content]


def _is_here(url: str) -> bool:
    """Return whether an address is on this machine, or inside the page."""
    address = urlsplit(url)
    return address.scheme in ("data", "blob") or address.hostname == LOCALHOST


@asynccontextmanager
async def open_page(browser: Path) -> AsyncIterator[tuple[Page, Complaints]]:
    """Start a browser with an empty profile, and open an empty page in it."""
    async with async_playwright() as playwright:
        program = await playwright.chromium.launch(executable_path=browser, args=FLAGS)
        try:
            context = await program.new_context(
                viewport={"width": SIZE[0], "height": SIZE[1]},
                color_scheme="light",
                reduced_motion="reduce",
                locale="en-GB",
                timezone_id="Europe/Paris",
                service_workers="block",
            )
            context.set_default_timeout(ANSWER_SECONDS * 1000)
            expect.set_options(timeout=ANSWER_SECONDS * 1000)
            page = await context.new_page()
            complaints = Complaints()
            await complaints.watch(page)
            yield page, complaints
        finally:
            await program.close()
