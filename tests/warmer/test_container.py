"""The Containerfile, as far as it can be checked without building it, and its health check."""

import asyncio
from collections.abc import Iterator
import json
from pathlib import Path
import re
import shutil
import socket
import subprocess
import sys
import tomllib

import click
import pytest

from ollama_warmer.cli import main
from ollama_warmer.config.run import Address, RunConfig
from ollama_warmer.daemon import health
from ollama_warmer.daemon.board import Board
from ollama_warmer.daemon.serving import Serving
from ollama_warmer.house.credentials import CREDENTIAL

ROOT = Path(__file__).parents[2]
WARMER = ROOT / "warmer"
CONFIG = "/etc/ollama-warmer/home.toml"
HOUSE = """
agent = "conversation.house"
home_assistant = { url = "http://127.0.0.1:8123" }
targets = [{ name = "app" }]
"""
KNOWN = {
    *("FROM", "COPY", "RUN", "ARG", "ENV", "VOLUME", "USER", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
}


def instructions() -> Iterator[tuple[str, str]]:
    """Yield each instruction and what follows it; lines that go on are one."""
    lines = [
        line for line in (WARMER / "Containerfile").read_text().splitlines() if line[:1] != "#"
    ]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            yield name, rest.strip()


def last(name: str) -> str:
    """Return what follows the last instruction of that name."""
    return [rest for each, rest in instructions() if each == name][-1]


def first(name: str) -> str:
    """Return what follows the first instruction of that name."""
    return next(rest for each, rest in instructions() if each == name)


def test_every_instruction_is_known() -> None:
    """There is no line that a build would stumble over by its first word."""
    assert {name for name, _ in instructions()} == KNOWN


def copies() -> Iterator[tuple[list[str], Path]]:
    """Yield what is copied from the repository, and where to."""
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            *paths, target = rest.split()
            yield paths, Path(target)


def test_what_is_copied_is_there() -> None:
    """Each path exists, and nothing but that gets into the build."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    copied = {path for paths, _ in copies() for path in paths}

    assert "*" in ignored
    assert copied == let_in
    assert [path for path in copied if not (ROOT / path).exists()] == []


def wheel(project: Path, folder: Path) -> bytes:
    """Build a wheel as pip would, without fetching anything; return what is in it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built.read_bytes()


def test_what_is_copied_is_all_that_the_program_is_built_from(tmp_path: Path) -> None:
    """From it alone the same program comes about as from the checkout, with what is linked."""
    for paths, target in copies():
        for path in paths:
            source, copy = ROOT / path, tmp_path / target.relative_to("/")
            if source.is_dir():
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, copy, symlinks=True, ignore=ignore)
            else:
                copy.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy, follow_symlinks=False)
    (project,) = re.findall(r"pip install \S+ /(\S+)$", first("RUN"))

    built = wheel(tmp_path / project, tmp_path / "from_copy")

    assert built == wheel(WARMER, tmp_path / "from_checkout")


def test_python_is_new_enough() -> None:
    """Both stages have the same one, which the package accepts."""
    images = {rest.split()[0] for name, rest in instructions() if name == "FROM"}

    (image,) = images
    version = tuple(map(int, re.findall(r"\d+", image)[:2]))
    project = tomllib.loads((WARMER / "pyproject.toml").read_text())["project"]
    assert version >= tuple(map(int, re.findall(r"\d+", project["requires-python"])))


def test_it_runs_the_daemon_as_nobody_special() -> None:
    """The entry point is the program, `run` is what it does, and it is not root."""
    project = tomllib.loads((WARMER / "pyproject.toml").read_text())["project"]
    (program,) = json.loads(last("ENTRYPOINT"))
    command, *arguments = json.loads(last("CMD"))

    known = main.get_command(click.Context(main), command)
    assert program in project["scripts"]
    assert known is not None
    assert arguments == ["--config", CONFIG]
    assert "--config" in {option for each in known.params for option in each.opts}
    assert last("USER") == "1973:1973"


def test_secrets_and_state_are_where_the_program_looks() -> None:
    """The engine's secrets stand in for systemd's credentials; docs/warmer.md names the secret."""
    assert "CREDENTIALS_DIRECTORY=/run/secrets" in last("ENV")
    assert f"STATE_DIRECTORY={last('VOLUME')}" in last("ENV")
    assert f"--secret {CREDENTIAL}" in (WARMER.parent / "docs" / "warmer.md").read_text()


def test_health_check_is_a_module_of_the_program() -> None:
    """It is asked about the same configuration as the daemon."""
    command = json.loads(last("HEALTHCHECK").partition("CMD ")[2])

    assert command == ["python", "-m", health.__name__, CONFIG]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration that has the daemon listen on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = tmp_path / "home.toml"
    path.write_text(f'{HOUSE}\n[run]\nlisten = "127.0.0.1:{port}"\n')
    return path


def port_of(config: Path) -> int:
    """Return the port in a configuration."""
    return int(tomllib.loads(config.read_text())["run"]["listen"].rpartition(":")[2])


def checked(config: Path) -> subprocess.CompletedProcess[str]:
    """Run the health check as the container does."""
    command = [sys.executable, "-m", health.__name__, str(config)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


async def asked(config: Path, board: Board) -> subprocess.CompletedProcess[str]:
    """Run the health check while the daemon's own listener answers from this board."""
    serving = Serving(board)
    await serving.change(Address("127.0.0.1", port_of(config)))
    try:
        return await asyncio.to_thread(checked, config)
    finally:
        await serving.change(None)


@pytest.fixture
async def board() -> Board:
    """Return what a daemon knows that was just started."""
    return Board(RunConfig(), started=asyncio.get_running_loop().time())


async def test_a_daemon_that_is_well(config: Path, board: Board) -> None:
    """Exit code 0."""
    board.connected = True

    ran = await asked(config, board)

    assert (ran.returncode, ran.stdout) == (0, "The daemon is well\n"), ran.stderr


async def test_a_daemon_that_is_not_well(config: Path, board: Board) -> None:
    """Exit code 1, and the daemon's own reason."""
    ran = await asked(config, board)

    assert ran.returncode == 1
    assert ran.stderr == "The daemon is not well: Home Assistant has not been reached yet\n"


def test_a_daemon_that_is_not_there(config: Path) -> None:
    """Exit code 1."""
    ran = checked(config)

    assert ran.returncode == 1
    assert "The daemon does not answer: " in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_daemon_that_listens_nowhere(config: Path) -> None:
    """No one has asked for a health check, and the container is not called sick."""
    config.write_text(HOUSE)

    ran = checked(config)

    assert ran.returncode == 0
    assert "Nothing can be asked" in ran.stdout


def test_a_wrong_configuration_is_not_healthy(config: Path) -> None:
    """The sentence is the daemon's."""
    config.write_text("agent = 1")

    ran = checked(config)

    assert ran.returncode == 1
    assert "home_assistant" in ran.stderr
