"""docs/claims.md and the tests are of one mind: every claim once, every test there."""

import ast
from dataclasses import dataclass
import re

from .repository import ROOT, parsed, sources

TESTS = ROOT / "tests"
CLAIMS = range(1, 112 + 1)
PAGE = (ROOT / "docs" / "claims.md").read_text()
NOT_HERE = "not testable here: "


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    number: int
    says: str
    stands: str
    tests: tuple[str, ...]


def rows() -> list[Row]:
    """Return the rows of all tables, as they stand."""
    found = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \| (.*?) ?\|$", PAGE, re.MULTILINE)
    return [
        Row(int(number), says, stands, tuple(re.findall(r"`([^`]+)`", tests)))
        for number, says, stands, tests in found
    ]


def existing() -> set[str]:
    """Return every test as `e2e/test_file.py::test_name`."""
    return {
        f"{path.relative_to(TESTS).as_posix()}::{node.name}"
        for path in sources(TESTS)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def numbers(test: str) -> list[int]:
    """Return the claims that a test has in its name."""
    found = re.match(r"test_claim((?:_\d+)+)_", test.partition("::")[2])
    return [int(number) for number in found[1].split("_")[1:]] if found else []


def test_every_claim_once() -> None:
    """From 1 to 112, in order."""
    assert [row.number for row in rows()] == list(CLAIMS)


def test_every_row_says_how_it_stands() -> None:
    """It names a test, or why there can be none."""
    assert all(row.says and row.stands for row in rows())
    assert [row.number for row in rows() if not row.tests and NOT_HERE not in row.stands] == []


def test_every_test_is_there() -> None:
    """What the table names can be run."""
    named = {test for row in rows() for test in row.tests}
    assert len(named) > 50
    assert named - existing() == set()


def test_every_test_of_a_claim_is_in_its_row() -> None:
    """A number in a test's name is the number of a row that names the test."""
    listed = {row.number: row.tests for row in rows()}
    missing = [
        (number, test)
        for test in sorted(existing())
        for number in numbers(test)
        if test not in listed.get(number, ())
    ]
    assert missing == []


def test_the_sum_is_right() -> None:
    """The page says how many claims are tested here."""
    tested = [row for row in rows() if row.tests and not row.stands.startswith(NOT_HERE)]
    stated = re.search(r"(\d+) of them are tested here", PAGE)
    assert stated is not None
    assert int(stated[1]) == len(tested)
