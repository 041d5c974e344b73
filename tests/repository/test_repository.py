"""What HACS and hassfest ask of the repository, checked without them; and its own promises."""

import json
from pathlib import Path
import re
import sys

import hass_frontend
import probatio
import pytest

from .repository import COMPONENT, ROOT, WARMER, committed, imports, loaded, sources

LONGEST_FILE = 350
VERSION = re.compile(r"\d+\.\d+\.\d+(b\d+)?")
REPOSITORY = re.compile(r"https://github\.com/[\w-]+/[\w-]+")
MANIFEST = probatio.Schema(
    {
        "domain": "ollama_warm",
        "name": "Ollama Warm",
        probatio.Optional("after_dependencies"): [str],
        "codeowners": probatio.All([probatio.Match(r"@[\w-]+")], probatio.Length(min=1)),
        "config_flow": True,
        "dependencies": [str],
        "documentation": probatio.Match(REPOSITORY),
        "integration_type": "service",
        "iot_class": "local_polling",
        "issue_tracker": probatio.Match(rf"{REPOSITORY.pattern}/issues"),
        "requirements": probatio.Length(max=0),
        "version": probatio.Match(VERSION),
    },
    required=True,
)
HACS = probatio.Schema(
    {
        "name": "Ollama Warm",
        "homeassistant": probatio.Match(r"\d{4}\.\d{1,2}\.\d+$"),
        "filename": "ollama_warm.zip",
        "zip_release": True,
        # Without a release there is no zip, so the main branch can't be installed.
        "hide_default_branch": True,
        probatio.Optional("hacs"): str,
        probatio.Optional("content_in_root"): False,
        probatio.Optional("country"): [str],
        probatio.Optional("persistent_directory"): str,
    },
    required=True,
)
# Written so that this file does not hold what it looks for.
MACHINE_PATHS = re.compile(r"(?<![\w.~$}\-])/(?:home|root|work|Users)/[\w.]")
HOSTS = re.compile(
    "|".join(
        rf"{name}\.{end}"
        for end, names in {
            "org": ("pypi", "pythonhosted", "npmjs", r"deb\.debian"),
            "io": ("ghcr", "docker"),
        }.items()
        for name in names
    )
)
# What a component may import without a requirement: Home Assistant, and what it brings along.
BROUGHT_ALONG = {"homeassistant", "aiohttp", "jinja2", "probatio", "yarl"}


def test_manifest() -> None:
    """The manifest has every key that hassfest and HACS want, in hassfest's order, no other."""
    manifest = loaded(COMPONENT / "manifest.json")
    MANIFEST(manifest)
    assert list(manifest) == ["domain", "name", *sorted(manifest.keys() - {"domain", "name"})]
    assert manifest["domain"] == COMPONENT.name


def test_dependencies() -> None:
    """Every other integration that is imported is named, and no named one is superfluous."""
    manifest = loaded(COMPONENT / "manifest.json")
    named = {*manifest["dependencies"], *manifest.get("after_dependencies", [])}
    imported = {
        name.split(".")[2]
        for path in sources(COMPONENT)
        for name in imports(path)
        if name.startswith("homeassistant.components.")
    }
    # Home Assistant itself is always there, and so is who looks for a platform of that name.
    platforms = {name for name in imported if (COMPONENT / f"{name}.py").exists()}
    assert imported - platforms - {"homeassistant", "websocket_api"} <= named


def test_hacs() -> None:
    """HACS finds one integration, and what it shows."""
    HACS(loaded(ROOT / "hacs.json"))
    folders = [path for path in (ROOT / "custom_components").iterdir() if path.is_dir()]
    assert [path for path in folders if (path / "manifest.json").exists()] == [COMPONENT]
    assert (ROOT / "README.md").read_text().startswith("# ")


def test_icons() -> None:
    """Home Assistant has each icon, and a state's is not that of all states, as hassfest asks."""
    text = (COMPONENT / "icons.json").read_text()
    listed = json.loads((Path(hass_frontend.__path__[0]) / "static/mdi/iconList.json").read_text())
    assert {*re.findall(r'"mdi:(.*?)"', text)} <= {icon["name"] for icon in listed}
    same = [
        f"{platform}.{key}.{state}"
        for platform, keys in json.loads(text)["entity"].items()
        for key, icons in keys.items()
        for state, icon in icons.get("state", {}).items()
        if icon == icons["default"]
    ]
    assert same == []


def test_licence() -> None:
    """The licence is one that GitHub knows."""
    words = (ROOT / "LICENSE").read_text().split()
    assert words[:2] == ["MIT", "License"]
    assert "Permission is hereby granted, free of charge," in " ".join(words)


@pytest.mark.parametrize("name", ["unit", "e2e"])
def test_requirements(name: str) -> None:
    """Each package has an exact version and hashes, and none says where it comes from."""
    for line in (ROOT / "requirements" / f"{name}.in").read_text().splitlines():
        assert not line or line.startswith("#") or re.match(r"[\w.\[\]-]+==[\w.]+", line), line
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    options = [line for line in map(str.strip, text.splitlines()) if line.startswith("-")]
    assert all(option.startswith("--hash=sha256:") for option in options)
    assert "://" not in text
    blocks = re.split(r"\n(?=\S)", text.strip())
    packages = [block for block in blocks if not block.startswith("#")]
    assert len(packages) > 50
    for package in packages:
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==[\w.!+]+( ; .+?)? \\\n", package), package
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package), package


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, HOSTS], ids=["machine paths", "registries"])
def test_no_trace_of_a_machine(pattern: re.Pattern[str]) -> None:
    """No file names a folder of whoever wrote it, or where its packages came from."""
    found = []
    for path in committed():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in pattern.finditer(text)]
    assert not found


def test_the_patterns_find_something() -> None:
    """The patterns above do see what they are for, and leave addresses of the web alone."""
    for folder in ("home", "root", "work"):
        assert MACHINE_PATHS.search(f'"/{folder}/someone"')
        assert not MACHINE_PATHS.search(f"https://example.org/{folder}/someone")
    assert HOSTS.search("https://{}.org/simple".format("pypi"))


def test_prefix_logic_is_pure() -> None:
    """The prefix package knows nothing above it: itself, the standard library, and Jinja."""
    for path in sources(COMPONENT / "prefix"):
        for name in imports(path):
            assert not name.startswith(".."), (path.name, name)
            if not name.startswith("."):
                first = name.partition(".")[0]
                assert first in sys.stdlib_module_names | {"jinja2"}, (path.name, name)


def test_the_component_needs_nothing() -> None:
    """What the component imports is there in every Home Assistant, or its own."""
    for path in sources(COMPONENT):
        for name in imports(path):
            first = name.partition(".")[0]
            assert not first or first in sys.stdlib_module_names | BROUGHT_ALONG, (path.name, name)


def test_the_warmer_stands_alone() -> None:
    """The warmer shares no code with the component or with Home Assistant."""
    for path in sources(WARMER / "src"):
        for name in imports(path):
            assert name.partition(".")[0] not in {"homeassistant", "custom_components"}, path.name


@pytest.mark.parametrize("folder", [COMPONENT, WARMER / "src"], ids=["component", "warmer"])
def test_no_file_is_long(folder: Path) -> None:
    """Every file can be read in one go."""
    lengths = {path.name: len(path.read_text().splitlines()) for path in sources(folder)}
    assert {name: count for name, count in lengths.items() if count > LONGEST_FILE} == {}
