"""The example of the contract that tests of both programs read, and the fields its page names."""

import json
from pathlib import Path
import re
from typing import Any

_PAGE = (Path(__file__).parents[2] / "docs" / "contract.md").read_text()
EXAMPLE: dict[str, Any] = json.loads(Path(__file__).with_name("reply.json").read_text())
"""What stands under `extra_data.ollama_warm` of a reply."""


def fields(heading: str) -> list[str]:
    """Return the fields of the page's table behind these words."""
    table = _PAGE.split(heading, 1)[1].split("\n\n", 2)[1]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


BLOCK_FIELDS = fields("carries\n`response")
TURN_FIELDS = fields("Each turn:")
