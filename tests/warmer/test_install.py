"""script/install-warmer and its inverse, below a folder and without the network."""

import asyncio
from collections.abc import Callable, Iterator
import functools
import os
from pathlib import Path
import pty
import select
import shutil
import stat
import subprocess
import sys
import sysconfig
import termios
import tomllib

import pytest

from ollama_warmer.config.config import load_config
from tests.warmer.support.house import TOKEN as HOUSE_TOKEN, House
from tests.warmer.test_credentials import WRAPPED
from tests.warmer.test_discover import Lived

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "project.toml").read_text())["version"]
TOKEN = "a.token-of.nobody"
CONFIG = """
agent = "conversation.house"
home_assistant = { url = "http://127.0.0.1:8123" }
[[targets]]
name = "app"
"""
ETC = "etc/ollama-warmer"
UNITS = "etc/systemd/system"
DAEMON = "multi-user.target.wants/ollama-warmerd.service"
TIMER = "timers.target.wants/ollama-warmer@home.timer"

pytestmark = pytest.mark.skipif(
    shutil.which("systemctl") is None, reason="this machine has no systemctl"
)
Script = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a machine whose environment is as --offline wants it: with pip and all requirements.

    The Python of these tests may have no pip to give to it, so another may have to serve.
    """
    for python in filter(None, (sys._base_executable, shutil.which("python3"))):  # type: ignore[attr-defined]
        machine = tmp_path_factory.mktemp("machine")
        folder = machine / "opt/ollama-warmer"
        made = subprocess.run([python, "-m", "venv", folder], check=False, capture_output=True)
        fits = subprocess.run([folder / "bin/python", "-c", "import pip, tomllib"], check=False)
        if made.returncode == fits.returncode == 0:
            (packages(folder) / "prepared.pth").write_text(sysconfig.get_path("purelib"))
            return machine
    pytest.skip("no Python from 3.11 here makes environments with pip")


@pytest.fixture(scope="module")
def installed(prepared: Path) -> Path:
    """Install for real, into that environment."""
    run(prepared, "install-warmer", "--offline")
    return prepared


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what Python compiles: another Python would compile all requirements again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("compiled")))
        yield


@pytest.fixture
def machine(tmp_path: Path, installed: Path) -> Path:
    """Return a machine of which only the environment is left; there pip has nothing to do."""
    folder = tmp_path / "opt/ollama-warmer"
    shutil.copytree(
        installed / "opt/ollama-warmer",
        folder,
        symlinks=True,
        ignore=shutil.ignore_patterns("pip", "pip-*", "setuptools*", "__pycache__"),
    )
    (packages(folder) / "pip.py").touch()
    return tmp_path


def packages(environment: Path) -> Path:
    """Return where an environment has its packages."""
    (folder,) = environment.glob("lib/python3.*/site-packages")
    return folder


def run(
    machine: Path, name: str, *options: object, token: str = TOKEN, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run one of the two scripts on a machine; fail unless it ends as it should."""
    ran = subprocess.run(
        [ROOT / "script" / name, "--destdir", machine, *map(str, options)],
        input=token,
        # A network that is there would hide that something is fetched.
        env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    assert token not in ran.stdout + ran.stderr or not token.strip()
    return ran


@pytest.fixture
def script(machine: Path) -> Script:
    """Return a way to run one of the two scripts on that machine."""
    return functools.partial(run, machine)


def install(script: Script, *options: object, token: str = TOKEN, code: int = 0) -> str:
    """Run script/install-warmer offline; return what it said."""
    return script("install-warmer", "--offline", *options, token=token, code=code).stderr


def configure(machine: Path, name: str = "home") -> Path:
    """Write a configuration, as a person does."""
    file = machine / ETC / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CONFIG)
    return file


def enabled(machine: Path) -> set[str]:
    """Return what the machine starts of itself."""
    units = machine / UNITS
    return {str(link.relative_to(units)) for link in units.glob("*.wants/*")}


def test_what_is_installed_runs(installed: Path) -> None:
    """The program is the checkout's, in an environment of its own, and answers."""
    program = installed / "opt/ollama-warmer/bin"
    version = subprocess.run(
        [program / "ollama-warmer", "--version"], capture_output=True, text=True, check=True
    )
    where = subprocess.run(
        [program / "python", "-c", "import ollama_warmer; print(ollama_warmer.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=installed,
    )

    assert version.stdout == f"ollama-warmer, version {VERSION}\n"
    assert where.stdout.startswith(str(installed))


def test_an_upgrade_replaces_the_program(installed: Path) -> None:
    """What is not the checkout's any more is gone after the next run; that is for real, too."""
    module = packages(installed / "opt/ollama-warmer") / "ollama_warmer/history/state.py"
    module.write_text("raise SystemExit('old')")

    said = run(installed, "install-warmer", "--offline").stderr

    assert module.read_text() == (ROOT / "warmer/src/ollama_warmer/history/state.py").read_text()
    assert f"Installed: ollama-warmer, version {VERSION}" in said


def test_token_is_for_root_alone(machine: Path, script: Script) -> None:
    """The token is 0600 from the start; the configuration beside it is for the services, too."""
    before = os.umask(0)
    try:
        install(script)
    finally:
        os.umask(before)

    token = machine / ETC / "home.token"
    assert token.read_text() == f"{TOKEN}\n"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE((machine / ETC).stat().st_mode) == 0o755
    assert list((machine / ETC).iterdir()) == [token]


def test_without_a_configuration_nothing_is_started(machine: Path, script: Script) -> None:
    """A service that can only fail is not enabled; the script says what is missing."""
    assert "Write /etc/ollama-warmer/home.toml" in install(script)
    assert enabled(machine) == set()
    configure(machine)
    install(script)

    assert enabled(machine) == {DAEMON}


def test_timer_or_daemon(machine: Path, script: Script) -> None:
    """Each takes the other's place, and an upgrade changes nothing about it."""
    configure(machine)
    install(script, "--timer")
    assert enabled(machine) == {TIMER}
    install(script)
    assert enabled(machine) == {TIMER}
    install(script, "--daemon")
    assert enabled(machine) == {DAEMON}
    install(script)

    assert enabled(machine) == {DAEMON}


def test_an_upgrade_keeps_configuration_and_token(machine: Path, script: Script) -> None:
    """They stay as they are, though another token and an address are offered."""
    file = configure(machine)
    install(script)
    said = install(script, "--discover", "http://127.0.0.1:1", token="another.token.of-nobody")

    assert file.read_text() == CONFIG
    assert (machine / ETC / "home.token").read_text() == f"{TOKEN}\n"
    assert "home.toml is kept" in said


async def test_discover_writes_the_configuration(machine: Path, house: House) -> None:
    """With the address of Home Assistant alone everything is set up and started."""
    Lived(house).satellite("kitchen", "preferred")
    options = ("--offline", "--discover", house.url)
    await asyncio.to_thread(run, machine, "install-warmer", *options, token=HOUSE_TOKEN)

    file = machine / ETC / "home.toml"
    assert [target.name for target in load_config(file).targets] == ["app", "kitchen"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert enabled(machine) == {DAEMON}


def test_a_new_token_takes_the_old_ones_place(machine: Path, script: Script) -> None:
    """If it is asked for; a line end of Windows is no part of it."""
    install(script)
    (machine / "token").write_bytes(b"a.newer.token\r\n")
    install(script, "--token-file", machine / "token")

    assert (machine / ETC / "home.token").read_text() == "a.newer.token\n"


@pytest.mark.parametrize(
    "token", ["", "\n", "two words", "a\tb", *(it for it, _ in WRAPPED.values())]
)
def test_what_is_no_token(machine: Path, script: Script, token: str) -> None:
    """Nothing is written or shown, and the script says where tokens come from."""
    said = script("install-warmer", "--offline", token=token, code=1).stderr

    assert "Long-lived access tokens" in said
    assert list((machine / ETC).iterdir()) == []


def test_what_is_no_token_in_a_file(machine: Path, script: Script, tmp_path: Path) -> None:
    """It is looked at in the same way, whatever a shell would make of its bytes."""
    offered = tmp_path / "offered"
    for content in (f'"{TOKEN}"', f"HA_TOKEN={TOKEN}", f"{TOKEN}\nmore", "\0".join(TOKEN)):
        offered.write_text(content)
        said = script("install-warmer", "--offline", "--token-file", offered, code=1).stderr

        assert f"something else than a token in the token file {offered}: " in said
    assert list((machine / ETC).iterdir()) == []


@pytest.mark.parametrize(("pasted", "is_kept"), [(TOKEN, True), (f'"{TOKEN}"', False)])
def test_a_token_is_asked_for_on_a_terminal(machine: Path, pasted: str, is_kept: bool) -> None:  # noqa: FBT001 - a column of a table
    """What is pasted is not shown, and looked at before it is kept."""
    ours, its = pty.openpty()
    try:
        process = subprocess.Popen(
            [ROOT / "script/install-warmer", "--destdir", machine, "--offline"],
            stdin=its,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout is not None
        said = b""
        while b"Paste a long-lived access token" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        # Not before: the terminal would still show what is typed.
        while termios.tcgetattr(its)[3] & termios.ECHO:
            pass
        os.write(ours, f"{pasted}\n".encode())
        said += process.communicate()[0]
        shown = os.read(ours, 65536) if select.select([ours], [], [], 0)[0] else b""
    finally:
        os.close(ours)
        os.close(its)

    assert TOKEN.encode() not in said + shown
    assert (process.returncode == 0) is is_kept
    assert (machine / ETC / "home.token").exists() is is_kept


def test_what_nobody_sees_is_not_kept(machine: Path, script: Script, tmp_path: Path) -> None:
    """A file of Windows' editor becomes a token that every program can read."""
    offered = tmp_path / "offered"
    offered.write_bytes(f"{TOKEN}\r\n".encode("utf-16"))
    install(script, "--token-file", offered)

    assert (machine / ETC / "home.token").read_text() == f"{TOKEN}\n"


def test_units_name_what_is_there(machine: Path, script: Script) -> None:
    """Another prefix and another name of the configuration are in the units that are installed."""
    other = machine / "srv/warm"
    other.parent.mkdir()
    (machine / "opt/ollama-warmer").rename(other)
    configure(machine, "cabin")
    install(script, "--prefix", "/srv/warm", "--instance", "cabin", "--daemon")

    unit = (machine / UNITS / "ollama-warmerd.service").read_text()
    command = "/srv/warm/bin/ollama-warmer run --config /etc/ollama-warmer/cabin.toml"
    assert f"\nExecStart={command}\n" in unit
    assert "\nLoadCredential=ha-token:/etc/ollama-warmer/cabin.token\n" in unit
    assert "\nConflicts=ollama-warmer@cabin.timer\n" in unit
    assert "home." not in unit
    install(script, "--prefix", "/srv/warm", "--daemon", code=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prefix", "/run/user/1/warmer"], "the services see nothing under /run/user/1/warmer"),
        (["--prefix", "warmer"], "--prefix has to be a full path"),
        (["--instance", "my house"], "--instance may have letters"),
        (["--agent", "conversation.house"], "--agent belongs to --discover"),
        (["--token"], "--token is no option"),
        (["--prefix"], "--prefix needs a value"),
        (["--python", "false"], "false is not Python 3.11 or newer"),
    ],
)
def test_mistakes_are_named(machine: Path, script: Script, options: list[str], words: str) -> None:
    """Before anything is changed."""
    assert words in install(script, *options, code=1)
    assert not (machine / "etc").exists()


def test_a_folder_of_somebody_else_is_left_alone(machine: Path, script: Script) -> None:
    """A prefix that holds something else is neither cleared nor removed."""
    other = machine / "srv/photos"
    other.mkdir(parents=True)
    (other / "one.jpg").touch()

    said = script("install-warmer", "--prefix", "/srv/photos", code=1).stderr
    assert "has something else in it" in said
    said = script("uninstall-warmer", "--prefix", "/srv/photos", code=1).stderr
    assert "is left alone" in said
    assert (other / "one.jpg").exists()


def test_removal_is_the_inverse(machine: Path, script: Script) -> None:
    """Program and units go, and are named; configuration, token and history stay."""
    file = configure(machine)
    install(script, "--timer")
    install(script, "--daemon")
    said = script("uninstall-warmer").stderr

    assert enabled(machine) == set()
    assert [path for path in (machine / UNITS).iterdir() if path.is_file()] == []
    assert not (machine / "opt/ollama-warmer").exists()
    assert file.exists()
    assert (machine / ETC / "home.token").exists()
    assert "Removed: " in said
    assert "Kept: " in said
    assert script("uninstall-warmer").returncode == 0


def test_purge_removes_everything(machine: Path, script: Script) -> None:
    """Nothing with the token or the history in it is left, nor a change to a unit."""
    configure(machine)
    install(script)
    history = machine / "var/lib/private/ollama-warmer"
    history.mkdir(parents=True)
    (machine / "var/lib/ollama-warmer").symlink_to("private/ollama-warmer")
    (machine / UNITS / "ollama-warmer@home.service.d").mkdir()
    script("uninstall-warmer", "--purge")

    assert [path for path in machine.rglob("*") if "warmer" in path.name] == []


def test_help_names_every_option(script: Script) -> None:
    """What the script takes and what it says of itself are the same."""
    for name in ("install-warmer", "uninstall-warmer"):
        text = (ROOT / "script" / name).read_text()
        taken = text[text.index("case $1 in") : text.index("esac")]
        options = {word.strip('")') for word in taken.split() if word.startswith("--")}
        said = script(name, "--help").stdout
        assert [option for option in options - {"--help"} if option not in said] == []
