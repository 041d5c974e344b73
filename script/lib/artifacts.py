"""What a release consists of: the integration as a zip, the warmer as a wheel and a source archive.

All three are built from the files under version control without fetching anything, and the same
files give the same bytes each time, on any day and in any folder.
"""

import argparse
import hashlib
import json
import os
from pathlib import Path
import subprocess
import sys
import tarfile
import tempfile
from typing import Final
import zipfile

from script.lib.project import COMPONENT, ROOT, committed, read

# A zip knows no earlier day, and a wheel of hatchling's bears its own fixed one.
_NO_DAY: Final = (1980, 1, 1, 0, 0, 0)
_READABLE: Final = 0o100644 << 16
LICENCE: Final = "LICENSE"
SUMS: Final = "SHA256SUMS"


class ArtifactError(Exception):
    """What was built is not what a release has to be; the message says how."""


def build(root: Path, output: Path) -> list[Path]:
    """Build everything from a checkout into a folder, check it, and return the files.

    Raises ArtifactError if one of them is not as it should be.
    """
    output.mkdir(parents=True, exist_ok=True)
    name = json.loads((root / "hacs.json").read_text())["filename"]
    component = component_zip(root, output / name)
    wheel, sdist = (_hatch(root / "warmer", kind, output) for kind in ("wheel", "sdist"))
    files = [component, wheel, sdist]
    _check_component(root, component)
    _check_warmer(root, wheel, sdist)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (output / SUMS).write_text("".join(sums))
    return [*files, output / SUMS]


def component_files(root: Path) -> dict[str, Path]:
    """Return what HACS unpacks into the component's folder: each name there, and the file here."""
    folder = root / COMPONENT
    inside = [path for path in committed(root) if path.is_relative_to(folder)]
    return {LICENCE: root / LICENCE} | {
        path.relative_to(folder).as_posix(): path for path in inside
    }


def component_zip(root: Path, path: Path) -> Path:
    """Write the component as HACS wants it: its files at the top, and the licence beside them."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, source in sorted(component_files(root).items()):
            entry = zipfile.ZipInfo(name, _NO_DAY)
            entry.create_system = 3  # Unix, wherever it is built
            entry.external_attr = _READABLE
            archive.writestr(entry, source.read_bytes(), zipfile.ZIP_DEFLATED, compresslevel=9)
    return path


def _hatch(folder: Path, kind: str, output: Path) -> Path:
    """Build the warmer's wheel or sdist as pip would; return the file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(output.resolve())]
    # A day from the environment would be another one each time.
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    ran = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if ran.returncode:
        raise ArtifactError(f"the {kind} of the warmer could not be built:\n{ran.stderr}")
    suffix = {"wheel": "*.whl", "sdist": "*.tar.gz"}[kind]
    return max(output.glob(suffix), key=lambda path: path.stat().st_mtime_ns)


def _check_component(root: Path, path: Path) -> None:
    """Check that Home Assistant can load what is in the zip, and that nothing else is in it."""
    wanted = component_files(root)
    with zipfile.ZipFile(path) as archive:
        if damaged := archive.testzip():
            raise ArtifactError(f"{path.name}: {damaged} is damaged")
        held = {name: archive.read(name) for name in archive.namelist()}
    if held != {name: source.read_bytes() for name, source in wanted.items()}:
        raise ArtifactError(f"{path.name} does not hold the component's files")
    version = json.loads(held["manifest.json"])["version"]
    if version != read(root).version:
        raise ArtifactError(f"{path.name} has version {version}, not {read(root).version}")
    for name, content in held.items():
        if name.endswith(".py"):
            try:
                compile(content, name, "exec")
            except SyntaxError as error:
                raise ArtifactError(f"{path.name}: {error}") from error


def _check_warmer(root: Path, wheel: Path, sdist: Path) -> None:
    """Check that the wheel runs, has the licence, and that the source archive makes the same."""
    version = read(root).version
    for path in (wheel, sdist):
        if f"-{version}" not in path.name:
            raise ArtifactError(f"{path.name} is not of version {version}")
    with zipfile.ZipFile(wheel) as archive:
        licences = [name for name in archive.namelist() if Path(name).name == LICENCE]
        if [archive.read(name) for name in licences] != [(root / LICENCE).read_bytes()]:
            raise ArtifactError(f"{wheel.name} has no licence")
    said = _version_of(wheel)
    if said != f"ollama-warmer, version {version}":
        raise ArtifactError(f"{wheel.name} does not run: {said}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        again = _hatch(source, "wheel", Path(folder))
        if again.read_bytes() != wheel.read_bytes():
            raise ArtifactError(f"{sdist.name} makes another wheel than {wheel.name}")


def _version_of(wheel: Path) -> str:
    """Return what the program in a wheel says to --version, or why it does not run."""
    words = (
        f"import sys; sys.path.insert(0, {str(wheel.resolve())!r}); "
        "from ollama_warmer.cli import main; main(['--version'], prog_name='ollama-warmer')"
    )
    command = [sys.executable, "-I", "-c", words]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    return (ran.stdout or ran.stderr).strip()


def main() -> int:
    """Build what a release consists of from this checkout."""
    parser = argparse.ArgumentParser(prog="script/build", description=main.__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder (dist)")
    parser.add_argument("--tag", help="fail unless this tag, such as v1.2.3, is of the version")
    options = parser.parse_args()
    version = read(ROOT).version
    if options.tag and options.tag != f"v{version}":
        print(f"error: the tag {options.tag} is not of version {version}", file=sys.stderr)
        return 1
    try:
        print(*build(ROOT, options.output), sep="\n")
    except ArtifactError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
