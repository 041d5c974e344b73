"""Sentences that point where the fault is: a proxy, the mode Home Assistant is in, or the token."""

from collections.abc import Callable
from http import HTTPStatus
import json
from pathlib import Path
import re
import threading

from click.testing import CliRunner
import pytest
from websockets.exceptions import ConnectionClosed

from ollama_warmer.cli import main
from ollama_warmer.doctor.findings import HOME_ASSISTANT
from ollama_warmer.house import connecting, refusals
from ollama_warmer.house.client import HomeAssistant
from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import TOKEN, CommandError, Cut, Goodbye, House, Message, reply
from tests.warmer.test_discover import Discover, discover  # noqa: F401 - a fixture

UPGRADE = 'No WebSocket UPGRADE hdr: None\n Can "Upgrade" only to "WebSocket".'
NGINX = "<center>The plain HTTP request was sent to HTTPS port</center>"
BEHIND = "a proxy is there, and Home Assistant behind it is not"
LOCKED = "a proxy in front of Home Assistant asks for a password of its own"


@pytest.mark.parametrize(
    ("status", "body", "words", "never"),
    [
        (400, "400: Bad Request", "at trusted_proxies under `http:`", "ip_bans"),
        (400, UPGRADE, "passes WebSockets on", "trusted_proxies"),
        (400, NGINX, "wants https", "trusted_proxies"),
        (401, "", LOCKED, "trusted_proxies"),
        (407, "", LOCKED, "trusted_proxies"),
        (403, "", "ip_bans.yaml", LOCKED),
        (500, "", "a mistake in what answers there", BEHIND),
        (502, "", BEHIND, "passes WebSockets on"),
        (503, "", BEHIND, "passes WebSockets on"),
        (504, "", BEHIND, "passes WebSockets on"),
        (404, "", "Home Assistant's own address", BEHIND),
        (429, "", "limits how often it is asked", "passes WebSockets on"),
        (403, "", "a proxy in front of Home Assistant keeps this machine out", LOCKED),
        (304, "", "instead of opening a WebSocket", "sends visitors on"),
    ],
)
async def test_http_answers(  # noqa: PLR0913, PLR0917 - columns of a table
    house: House, run: Run, status: int, body: str, words: str, never: str
) -> None:
    """Each says who gave it and what to do there, and that it is not the token that was refused."""
    house.http_status, house.http_body = HTTPStatus(status), body

    result = await run(house.url)

    assert result.exit_code == 3
    assert f"{house.url} answered HTTP {status}" in result.stderr
    assert words in result.stderr
    assert never not in result.stderr


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://127.0.0.1/api/websocket", "on to https://127.0.0.1 (HTTP 302): put that address"),
        ("https://127.0.0.1:8443/", "on to https://127.0.0.1:8443 (HTTP 302): put that address"),
        ("http://127.0.0.1:1/api", "on to http://127.0.0.1:1 (HTTP 302): put that address"),
        ("https://login.example/?rd=x", "on to https://login.example, and the token is not"),
        ("https://me:secret@login.example/", "on to https://login.example, and the token is not"),
        ("https://[2001:db8::1]:8123/x", "on to https://[2001:db8::1]:8123, and the token is not"),
        ("//login.example/", "on to http://login.example, and the token is not"),
        ("javascript:void", "on to javascript:void, and the token is not"),
        ("/api/websocket", "round in a circle"),
        ("", "round in a circle"),
        ("https://[wrong", "https://[wrong"),
    ],
)
async def test_redirects_say_where_to(house: House, run: Run, location: str, words: str) -> None:
    """Also to https and to a login, neither of which is followed; no password is shown."""
    house.location = location

    result = await run(house.url)

    assert result.exit_code == 3
    assert words in result.stderr
    assert "secret" not in result.stderr
    assert not house.logins


async def test_a_redirect_without_a_place(house: House, run: Run) -> None:
    """It is said that it lacks one."""
    house.http_status = HTTPStatus.TEMPORARY_REDIRECT

    result = await run(house.url)

    assert "answered HTTP 307, which sends visitors on, and does not say where to" in result.stderr


async def test_recovery_mode(house: House, run: Run, discover: Discover) -> None:  # noqa: F811
    """In it Home Assistant knows no command of its agents: that is nothing of the token's user."""
    house.overrides["get_config"] = lambda _: {"state": "RUNNING", "recovery_mode": True}
    for kind in ("conversation/agent/list", "config/device_registry/list"):
        house.overrides[kind] = _refuse("unknown_command", "Unknown command.")

    for result in (await run(house.url), await discover(house.url)):
        assert result.exit_code == 3
        assert "Home Assistant runs in recovery mode" in result.stderr
        assert "user" not in result.stderr


async def test_safe_mode(house: House, run: Run) -> None:
    """Without custom integrations our agent is missing, and not because it was removed."""
    house.overrides["get_config"] = lambda _: {"state": "RUNNING", "safe_mode": True}
    house.agents = ["conversation.home_assistant"]

    result = await run(house.url)

    assert "It runs in safe mode, in which no custom integration is loaded" in result.stdout
    assert not house.questions


@pytest.mark.parametrize(
    ("code", "blamed"), [("unauthorized", True), ("unknown_command", False), ("odd", False)]
)
async def test_who_is_blamed_for_a_list_that_is_not_told(
    house: House,
    run: Run,
    code: str,
    blamed: bool,  # noqa: FBT001 - a column of a table
) -> None:
    """The token's user only where it lacks a right."""
    house.overrides["conversation/agent/list"] = _refuse(code, "No.")

    result = await run(house.url)

    assert ("the user of this token" in result.stdout) is blamed
    assert f"No ({code})" in result.stdout


@pytest.mark.parametrize("how", [Cut, Goodbye])
@pytest.mark.parametrize("question", [1, 2, 3, 4])
async def test_a_token_that_is_deleted_meanwhile(
    house: House, run: Run, how: type[Exception], question: int
) -> None:
    """At whichever question, the last one too: it is the token, with its exit code."""
    asked = 0

    def answer(_: Message) -> object:
        nonlocal asked
        asked += 1
        if asked == question:
            house.token = "a.new.one"
            raise how
        return reply()

    house.overrides["conversation/process"] = answer

    result = await run(house.url, "--json")

    assert result.exit_code == 4
    assert "Error: Home Assistant refused the token: " in result.stderr
    last = parsed(result)["targets"][-1]
    assert last["verdict"] == "failed"
    assert "refused the token" in last["reason"]


async def test_a_connection_that_is_cut_for_its_silence(
    house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy's limit is named where nothing came for a while, and not where it did."""
    house.overrides["conversation/process"] = _cut

    assert "proxy" not in (await run(house.url)).stdout
    monkeypatch.setattr(refusals, "_SILENT", 0.0)
    said = (await run(house.url)).stdout

    assert "broke: see whether it restarted; if it did not, a proxy in front of it may cut" in said
    assert "proxy_read_timeout of nginx" in said


async def test_a_home_assistant_that_hangs(
    house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no ping is answered no one has restarted anything."""
    monkeypatch.setattr(connecting, "_PING_INTERVAL", 0.05)
    monkeypatch.setattr(connecting, "_PING_TIMEOUT", 0.05)
    given_up = threading.Event()
    broken = HomeAssistant._broken

    def noticed(self: HomeAssistant, err: ConnectionClosed) -> str:
        given_up.set()
        return broken(self, err)

    monkeypatch.setattr(HomeAssistant, "_broken", noticed)

    def hang(_: Message) -> object:
        # The whole house stands still meanwhile, as it runs in one loop.
        given_up.wait(10)
        raise Cut

    house.overrides["conversation/process"] = hang

    result = await run(house.url, "--target", "app")

    assert "is not heard any more, it has answered no ping" in result.stdout


async def test_a_mistake_that_home_assistant_owns_up_to(house: House, run: Run) -> None:
    """It closes with the same code as this side does when no ping is answered."""

    def fail(_: Message) -> object:
        raise Goodbye(1011)

    house.overrides["conversation/process"] = fail

    result = await run(house.url, "--target", "app")

    assert "no ping" not in result.stdout
    assert "The connection to Home Assistant broke: see whether it restarted" in result.stdout


@pytest.mark.parametrize(
    "words", ["Unauthorized.", "User is not active...", "No", "Why?", "Stop!", "x" * 400, "."]
)
async def test_no_sentence_ends_twice(
    house: House,
    run: Run,
    discover: Discover,  # noqa: F811
    words: str,
) -> None:
    """Whatever others put behind their words."""
    two = re.compile(r"\.\s*\.|\. \(")
    house.overrides["config/area_registry/list"] = _refuse("odd", words)
    house.overrides["conversation/process"] = _refuse("odd", words)
    for result in (await run(house.url), await discover(house.url)):
        assert not two.search(result.output.replace(words, "")), result.output
    house.refusal["message"] = words
    two = re.compile(rf"{two.pattern}|[?!…]\.")
    assert not two.search((await run(house.url, token="an.old.token")).stderr)
    finding = HOME_ASSISTANT.problem("x", words, f"Do {words}")
    assert not finding.words.endswith(".")
    assert not str(finding.advice).endswith(".")


def test_a_status_without_rounds_names_no_file_that_is_not_there(tmp_path: Path) -> None:
    """It says where rounds were looked for; with one it says where it is from."""
    config = tmp_path / "home.toml"
    config.write_text(
        'home_assistant = {url = "http://127.0.0.1:9"}\n[[targets]]\nname = "a"\nagent = "b"'
    )
    arguments = ["status", "--config", str(config)]

    said = CliRunner().invoke(main, arguments, env={"HA_TOKEN": TOKEN}).stdout

    own = tmp_path / "state/ollama-warmer/home.json"
    assert "From " not in said
    assert (
        f"No round is kept yet: there is no /var/lib/ollama-warmer/home.json and no {own}" in said
    )
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"version": 1, "rounds": []}))
    assert f"From {own}" in CliRunner().invoke(main, arguments).stdout


def _refuse(code: str, words: str) -> Callable[[Message], object]:
    def handler(_: Message) -> object:
        raise CommandError(code, words)

    return handler


def _cut(_: Message) -> object:
    raise Cut
