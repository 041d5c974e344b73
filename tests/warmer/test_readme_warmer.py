"""What warmer/README.md and docs/warmer.md say to type is what the programs understand."""

from pathlib import Path
import re
import subprocess

import click
import pytest

from ollama_warmer.cli import main
from ollama_warmer.config.config import CountsSource, load_config
from ollama_warmer.daemon.occasions import Occasion

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "warmer/README.md", ROOT / "docs/warmer.md")
README = PAGES[0].read_text()
ALL = "\n".join(page.read_text() for page in PAGES)
# The wheel's README stands on a package index, too, where no file of the repository is beside it.
REPOSITORY = "https://github.com/ollama-warm/ollama-warm/blob/main/"
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
    (line,) = re.findall(rf"^`ollama-warmer {command} ([^`]*)`$", ALL, re.MULTILINE)

    assert options(line) == options(usage(command)) - {"--help"}


def test_each_command_line_can_be_typed() -> None:
    """In every example of a shell, on both pages, the options are ones of that command."""
    blocks = re.findall(r"^ *```(?:sh)?\n(.*?)```", ALL, re.DOTALL | re.MULTILINE)
    lines = " ; ".join(blocks).replace("\\\n", " ")
    lines += " ; ".join(re.findall(r"`(sudo [^`]*ollama-warmer [^`]*)`", ALL))
    typed = re.findall(
        r"ollama-warmer (discover|warm|run|status|doctor|clock|probe)\b([^;\n>]*)", lines
    )

    assert {command for command, _ in typed} >= {"discover", "warm", "run", "doctor", "clock"}
    for command, rest in typed:
        assert options(rest) <= options(usage(command)), (command, rest)


def test_by_hand_needs_neither_root_nor_systemd() -> None:
    """The way for everyone else asks for neither, and leads from nothing to a service."""
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
    told = re.findall(rf"script/{script}((?: --?[\w-]+(?: [a-z]+:\S+)?)+)", ALL)

    assert told
    assert {option for each in told for option in options(each)} <= options(said.stdout)


def test_each_way_to_counts_is_a_configuration(tmp_path: Path) -> None:
    """Every example with [counts] is accepted beside a small house."""
    blocks = [
        re.sub(r"^ {3}", "", block, flags=re.MULTILINE)
        for block in re.findall(r"```toml\n(.*?)```", ALL, re.DOTALL)
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


def links(page: Path) -> set[str]:
    """Return what a page points to, in the text or in a list of references at its end."""
    text = page.read_text()
    named = dict(re.findall(r"^\[([^]]+)\]: (\S+)$", text, re.MULTILINE))
    used = set(re.findall(r"\]\[([^]]+)\]", text))
    assert used == named.keys()
    return {*re.findall(r"\]\(([^)]+)\)", text), *named.values()}


def anchors(page: Path) -> set[str]:
    """Return the names by which the headings of a page can be pointed at."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {heading.lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each names a file of the repository, with the heading that is named."""
    found = links(page)

    assert len(found) > 4
    for link in found:
        name, _, anchor = link.partition("#")
        if name.startswith(REPOSITORY):
            target = ROOT / name.removeprefix(REPOSITORY)
        else:
            target = page.parent / name if name else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_needs_no_file_beside_it() -> None:
    """On a package index its links work, too."""
    assert [link for link in links(PAGES[0]) if not link.startswith((REPOSITORY, "#"))] == []


def test_every_command_is_listed_and_has_a_section() -> None:
    """The list is in the README, the section on the other page."""
    commands = {*main.list_commands(click.Context(main))}

    assert {*re.findall(r"^\| \[`(\w+)`\]", README, re.MULTILINE)} == commands
    assert commands <= anchors(PAGES[1])


def test_every_occasion_is_explained() -> None:
    """As it stands in log and state."""
    table = ALL.partition("| occasion in log and state |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)

    said = {name for row in rows for name in row.split(", ")}
    assert said == {str(occasion) for occasion in Occasion}
