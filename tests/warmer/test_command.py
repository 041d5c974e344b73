"""The command as it is installed."""

from importlib.metadata import version
from pathlib import Path
import re
import runpy
import subprocess
import sys

import click
from click.testing import CliRunner
import pytest

from ollama_warmer import commands
from ollama_warmer.cli import main


def test_version() -> None:
    """`--version` says which one it is."""
    result = CliRunner().invoke(main, ["--version"])

    assert result.exit_code == 0
    assert result.stdout == f"ollama-warmer, version {version('ollama-warmer')}\n"


def test_help_names_the_exit_codes() -> None:
    """The help says what scripts need to know."""
    result = CliRunner().invoke(main, ["warm", "--help"])

    assert result.exit_code == 0
    for code in ("0 all warm", "1 something cold", "2 wrong", "3 Home Assistant", "4 it refused"):
        assert code in " ".join(result.stdout.split())


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_help_begins_with_what_comes_first(columns: int) -> None:
    """In the order of first use, and each command with the whole of its first sentence."""
    result = CliRunner().invoke(main, ["--help"], terminal_width=columns)

    listed = result.stdout.partition("Commands:\n")[2]
    names = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
    assert names[:3] == ["discover", "warm", "run"]
    assert sorted(names) == sorted(
        path.stem
        for path in Path(commands.__file__).parent.glob("[!_]*.py")
        if path.stem != "shared"
    )
    assert "..." not in listed
    said = " ".join(listed.split())
    for name in names:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        sentence = " ".join(str(command.help).split()).partition(". ")[0].removesuffix(".")
        assert f"{name} {sentence}" in said


@pytest.mark.parametrize(
    "command",
    [
        [str(Path(sys.executable).with_name("ollama-warmer"))],
        [sys.executable, "-m", "ollama_warmer"],
    ],
    ids=["script", "module"],
)
def test_installed_command(command: list[str], tmp_path: Path) -> None:
    """The installed command ends with the exit code and nothing but the sentence."""
    config = tmp_path / "none.toml"

    result = subprocess.run(
        [*command, "warm", "--config", str(config)], capture_output=True, text=True, check=False
    )

    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {config}: cannot be read: ")
    assert result.stderr.count("\n") == 1


def test_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m ollama_warmer` is the same command."""
    monkeypatch.setattr(sys, "argv", ["ollama_warmer", "--version"])

    with pytest.raises(SystemExit) as caught:
        runpy.run_module("ollama_warmer", run_name="__main__")

    assert caught.value.code == 0


def test_importing_the_module_runs_nothing() -> None:
    """Only running it does."""
    runpy.run_module("ollama_warmer.__main__", run_name="imported")
