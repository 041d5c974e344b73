"""What runs only on GitHub: workflows, forms, and the scripts that publish."""

from collections.abc import Iterator
from itertools import pairwise
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
from typing import Any

import probatio
import pytest

from homeassistant.util.yaml import parse_yaml
from script.lib.project import read

from .copies import checkout
from .repository import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
LINTERS = Path(sys.executable).parent
VERSION = read(ROOT).version
PUSHED = f"sha256:{'0123456789abcdef' * 4}"
TEXT = {
    "label": str,
    probatio.Optional("description"): str,
    probatio.Optional("placeholder"): str,
    probatio.Optional("render"): str,
}
FIELD = {"id": probatio.Match(r"\w+$"), probatio.Optional("validations"): {"required": bool}}
# https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests
FORM = probatio.Schema(
    {
        "name": str,
        "description": str,
        "labels": [str],
        "body": [
            probatio.Any(
                {"type": "markdown", "attributes": {"value": str}},
                {"type": probatio.Any("input", "textarea"), "attributes": TEXT, **FIELD},
                {"type": "dropdown", "attributes": {**TEXT, "options": [str]}, **FIELD},
            )
        ],
    },
    required=True,
)


def parsed(path: Path) -> dict[str, Any]:
    """Return what a YAML file says."""
    data: Any = parse_yaml(path.read_text())
    return dict(data)


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each step of each job, with the names of workflow and job."""
    for path in WORKFLOWS:
        for name, job in parsed(path)["jobs"].items():
            for step in job["steps"]:
                yield f"{path.stem}: {name}", step


def test_there_is_a_workflow_for_each_thing() -> None:
    """hassfest, HACS, all tests, a release, links."""
    used = " ".join(step.get("uses", "") + step.get("run", "") for _, step in steps())
    for wanted in (
        "home-assistant/actions/hassfest@",
        "hacs/action@",
        ".ci/run",
        "script/links --web",
        "script/test",
        "script/build",
        "script/publish",
        "script/image --push",
        "actions/attest-build-provenance@",
    ):
        assert wanted in used, wanted


def test_what_a_step_runs_can_be_run_here() -> None:
    """Each command is a script of ours, apart from what hands a result on to the next step."""
    for where, step in steps():
        for line in step.get("run", "").splitlines():
            words = line.split()
            if words[0] == "printf":
                continue
            script = ROOT / words[words[0] == "bash"]
            assert script.is_file(), (where, line)
            assert os.access(script, os.X_OK) or words[0] == "bash", (where, line)


def test_actions_are_pinned_to_commits() -> None:
    """A tag can be moved; the version stands behind it for Dependabot and for people."""
    for path in WORKFLOWS:
        for line in re.findall(r"uses: (.*)", path.read_text()):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # (v\d+\.\d+\.\d+|master|main)", line), line
    pinned = {step["uses"].partition("@")[::2] for _, step in steps() if "uses" in step}
    assert len({action for action, _ in pinned}) == len(pinned)


def test_rights_are_the_least() -> None:
    """A workflow has none, a job says its own, and only a release may write."""
    for path in WORKFLOWS:
        workflow = parsed(path)
        assert workflow["permissions"] == {}, path.name
        for name, job in workflow["jobs"].items():
            writes = {right for right, how in job["permissions"].items() if how == "write"}
            assert not writes or (path.stem == "release" and name != "build"), (path.name, name)
    for where, step in steps():
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, where


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the linters of what does not run here, in a folder."""
    command = [folder / "script" / "lib" / "lint_github.sh", LINTERS]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_linters_find_nothing() -> None:
    """actionlint, zizmor and hadolint."""
    ran = lint(ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("name", "before", "after", "found"),
    [
        ("workflows/test.yml", "runs-on:", "runs-in:", "runs-in"),
        ("workflows/test.yml", "bash .ci/run", "echo ${{ github.event.pull_request.title }}", ""),
        ("workflows/test.yml", "persist-credentials: false", "fetch-depth: 1", "artipacked"),
        ("workflows/release.yml", "@a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32", "@v4", "unpinned"),
        ("dependabot.yml", "interval: monthly", "interval: sometimes", "sometimes"),
        ("../warmer/Containerfile", "python:3.13-slim", "python", "DL3006"),
        ("../warmer/Containerfile", "# hadolint ignore=DL3008", "", "DL3008"),
    ],
)
def test_linters_find_faults(
    tmp_path: Path, name: str, before: str, after: str, found: str
) -> None:
    """Each of them is asked, and its finding is an error."""
    copy = checkout(tmp_path)
    path = copy / ".github" / name
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))

    ran = lint(copy)

    assert ran.returncode != 0
    assert found in ran.stdout + ran.stderr


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms(path: Path) -> None:
    """A form is as GitHub wants it, and asks for diagnostics."""
    form = parsed(path)
    if path.stem == "config":
        assert form["blank_issues_enabled"] is False
        assert [link["url"] for link in form["contact_links"]] == [
            f"{read(ROOT).repository}/security/advisories/new",
            f"{read(ROOT).repository}/discussions",
        ]
        return
    FORM(form)
    fields = {part["id"]: part for part in form["body"] if "id" in part}
    assert len(fields) == sum("id" in part for part in form["body"])
    assert "*Download diagnostics*" in " ".join(
        fields["diagnostics"]["attributes"]["description"].split()
    )
    wanted = fields["diagnostics"].get("validations", {}).get("required", False)
    assert wanted == (path.stem != "idea")


@pytest.fixture(name="programs")
def _programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that are not here write down what they are asked, one argument a line."""
    folder = tmp_path / "programs"
    folder.mkdir()
    record = f"printf '%s\\n' \"$@\" >'{folder}'/${{0##*/}}.asked\n"
    metadata = (
        'while [ $# -gt 0 ]; do [ "$1" != --metadata-file ] ||'
        f' printf \'{{\\n  "containerimage.digest": "{PUSHED}"\\n}}\' >"$2"; shift; done\n'
    )
    for name in ("docker", "gh", "podman"):
        (folder / name).write_text(f"#!/bin/sh\n{record}{metadata if name == 'docker' else ''}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def run(folder: Path, script: str, *arguments: str, code: int = 0) -> str:
    """Run a script of a checkout; fail unless it ends so; return what it said as an error."""
    command = [str(folder / "script" / script), *arguments]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == code, ran.stderr
    return ran.stderr


def asked(programs: Path, name: str) -> list[str]:
    """Return what a program was asked."""
    return (programs / f"{name}.asked").read_text().splitlines()


def tags(arguments: list[str]) -> list[str]:
    """Return what an image is to be called."""
    return [value for name, value in pairwise(arguments) if name == "--tag"]


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_an_image_for_this_machine(programs: Path, engine: str) -> None:
    """The context is the repository; podman's own format would lose the health check."""
    if engine == "docker":
        if shutil.which("podman", path=os.environ["PATH"].partition(":")[2]):
            pytest.skip("there is a podman here, which comes first")
        (programs / "podman").unlink()

    run(ROOT, "image", "--build-arg", "PACKAGES=openssh-client")

    arguments = asked(programs, engine)
    assert arguments[0] == "build"
    assert arguments[-3:] == ["--build-arg", "PACKAGES=openssh-client", "."]
    assert tags(arguments) == [f"ollama-warmer:{VERSION}", "ollama-warmer:latest"]
    assert "warmer/Containerfile" in arguments
    assert ("docker" in arguments) == (engine == "podman")
    assert f"org.opencontainers.image.source={read(ROOT).repository}" in arguments


@pytest.mark.parametrize(("version", "latest"), [(VERSION, True), ("77.0.0b1", False)])
def test_an_image_for_everyone(
    programs: Path, tmp_path: Path, version: str, *, latest: bool
) -> None:
    """Both machines, with provenance; a beta is not what people get who name no version."""
    copy = checkout(tmp_path / "copy")
    path = copy / "project.toml"
    path.write_text(path.read_text().replace(VERSION, version))

    run(
        copy, "image", "--push", "registry.example/someone/warmer", "--digest", f"{tmp_path}/digest"
    )

    arguments = asked(programs, "docker")
    assert arguments[:2] == ["buildx", "build"]
    assert "linux/amd64,linux/arm64" in arguments
    assert "mode=max" in arguments
    wanted = [version, "latest"] if latest else [version]
    assert tags(arguments) == [f"registry.example/someone/warmer:{tag}" for tag in wanted]
    assert (tmp_path / "digest").read_text().strip() == PUSHED


def test_a_release_has_the_change_log_s_words(programs: Path, tmp_path: Path) -> None:
    """And all that was built; the tag has to be there already."""
    copy = checkout(tmp_path / "copy")
    (copy / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.2.3b1 (2026-12-24)\n\n- News.\n- More.\n"
    )
    (tmp_path / "dist").mkdir()
    for name in ("a.zip", "b.whl"):
        (tmp_path / "dist" / name).touch()

    run(copy, "publish", "v1.2.3b1", str(tmp_path / "dist"))
    said = run(copy, "publish", "v1.2.4", str(tmp_path / "dist"), code=1)

    arguments = asked(programs, "gh")
    assert arguments[:3] == ["release", "create", "v1.2.3b1"]
    assert {"--verify-tag", "--prerelease"} <= {*arguments}
    assert "- News.\n- More." in "\n".join(arguments)
    assert arguments[-2:] == [f"{tmp_path}/dist/a.zip", f"{tmp_path}/dist/b.whl"]
    assert "no section 1.2.4" in said
