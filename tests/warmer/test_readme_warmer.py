"""What warmer/README.md tells people to type is what the programs understand."""

from pathlib import Path
import re
import subprocess

import click
import pytest

from ollama_warmer.cli import main
from ollama_warmer.config import CountsSource, load_config

ROOT = Path(__file__).parents[2]
README = (ROOT / "warmer/README.md").read_text()
HOUSE = """
agent = "conversation.house"
home_assistant = { url = "http://127.0.0.1:8123" }
targets = [{ name = "app" }]
"""


def options(help_text: str) -> set[str]:
    """Return the long options in a text."""
    return set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", help_text))


def usage(command: str) -> str:
    """Return what `--help` of a command says."""
    known = main.get_command(click.Context(main), command)
    assert known is not None, command
    return known.get_help(click.Context(known))


@pytest.mark.parametrize("command", ["discover", "status", "warm"])
def test_each_command_has_the_options_that_it_is_said_to_have(command: str) -> None:
    """The line that begins a command's section names each option, and no other."""
    (line,) = re.findall(rf"^`ollama-warmer {command} ([^`]*)`$", README, re.MULTILINE)

    assert options(line) == options(usage(command)) - {"--help"}


def test_each_command_line_can_be_typed() -> None:
    """In every example of a shell the options are ones of that command."""
    blocks = re.findall(r"^ *```(?:sh)?\n(.*?)```", README, re.DOTALL | re.MULTILINE)
    lines = " ; ".join(blocks).replace("\\\n", " ")
    lines += " ; ".join(re.findall(r"`(sudo [^`]*ollama-warmer [^`]*)`", README))
    typed = re.findall(
        r"ollama-warmer (discover|warm|run|status|doctor|clock|probe)\b([^;\n>]*)", lines
    )

    assert {command for command, _ in typed} >= {"discover", "warm", "run", "doctor", "clock"}
    for command, rest in typed:
        assert options(rest) <= options(usage(command)), (command, rest)


def test_by_hand_needs_neither_root_nor_systemd() -> None:
    """The way for everybody else asks for neither, and leads from nothing to a service."""
    section = README.partition("### By hand\n")[2].partition("\n## ")[0]
    typed = "\n".join(re.findall(r"```(?:sh)?\n(.*?)```", section, re.DOTALL))

    assert not re.search(r"sudo|systemctl|install-warmer|/etc/|/opt/", typed)
    for step in ("-m venv", "pip install", "discover --url", "warm --config", "run --config"):
        assert step in typed
    assert "5 * * * * " in typed


@pytest.mark.parametrize("script", ["install-warmer", "uninstall-warmer"])
def test_scripts_have_the_options_that_they_are_said_to_have(script: str) -> None:
    """Whatever stands behind their names."""
    said = subprocess.run(
        [ROOT / "script" / script, "--help"], capture_output=True, text=True, check=True
    )
    told = re.findall(rf"script/{script}((?: --?[\w-]+(?: [a-z]+:\S+)?)+)", README)

    assert told
    assert {option for each in told for option in options(each)} <= options(said.stdout)


def test_each_way_to_counts_is_a_configuration(tmp_path: Path) -> None:
    """Every example with [counts] is accepted beside a small house."""
    blocks = [
        re.sub(r"^ {3}", "", block, flags=re.MULTILINE)
        for block in re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
        if "[counts]" in block
    ]
    sources = []
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.toml"
        file.write_text(f"{HOUSE}\n{block}")
        sources.append(load_config(file).counts.source)

    assert set(sources) == {CountsSource.COMMAND, CountsSource.JOURNALD, CountsSource.DOCKER}
    commands = {
        word for file in tmp_path.glob("*.toml") for word in load_config(file).counts.command
    }
    assert {"ssh", "podman", "compose"} <= commands


def test_links_within_the_page_lead_somewhere() -> None:
    """Each names a heading."""
    headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}

    assert set(re.findall(r"\]\(#([^)]*)\)", README)) <= anchors
