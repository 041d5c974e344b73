"""The warmer's package holds the facts that it shares with the integration, however it is built."""

from collections.abc import Callable
from pathlib import Path
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = Path(__file__).parents[2]
FACTS = ROOT / "custom_components/ollama_warm/ollama/facts.py"


def built(project: Path, target: str, to: Path) -> Path:
    """Build a wheel or an sdist of a folder as pip would, without fetching anything."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", to, "-t", target]
    subprocess.run([*map(str, command)], cwd=project, check=True, capture_output=True)
    return next(iter(to.iterdir()))


def from_checkout(tmp_path: Path) -> Path:
    """Build a wheel in a checkout, as script/install-warmer does."""
    return built(ROOT / "warmer", "wheel", tmp_path / "wheel")


def from_git(tmp_path: Path) -> Path:
    """Build a wheel in a clone of what is committed, as an install from git does."""
    clone = tmp_path / "clone"
    command = ["git", "clone", "-q", "--depth=1", ROOT.as_uri(), clone]
    subprocess.run([*map(str, command)], check=True)
    return built(clone / "warmer", "wheel", tmp_path / "wheel")


def from_sdist(tmp_path: Path) -> Path:
    """Build a wheel from the source archive alone, far from any checkout."""
    archive = built(ROOT / "warmer", "sdist", tmp_path / "sdist")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "source", filter="data")
    return built(next((tmp_path / "source").iterdir()), "wheel", tmp_path / "wheel")


@pytest.mark.parametrize("build", [from_checkout, from_git, from_sdist])
def test_the_wheel_holds_the_facts(build: Callable[[Path], Path], tmp_path: Path) -> None:
    """The very file of the integration is in the wheel, and can be imported from it."""
    wheel = build(tmp_path)
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.rpartition("/")[2] == "facts.py"]
        assert [opened.read(name) for name in names] == [FACTS.read_bytes()]
    module = names[0].removesuffix(".py").replace("/", ".")
    words = f"import sys; sys.path[:0] = {[str(wheel)]!r}; from {module} import memory_of"
    subprocess.run(
        [sys.executable, "-I", "-c", words], check=True, cwd=tmp_path, capture_output=True
    )
