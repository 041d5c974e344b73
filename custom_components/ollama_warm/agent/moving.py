"""Moving parts of instructions, and those that a person wants to keep as they are."""

from collections.abc import Mapping
from functools import lru_cache
import hashlib
from typing import Any, Final

from homeassistant.const import CONF_PROMPT

from ..prefix.lint import Finding, Mover, Severity, lint

CONF_KEPT_MOVING: Final = "kept_moving"
"""In the data of a subentry: the key of the moving parts that are to stay as they are."""


@lru_cache(maxsize=32)
def _warnings(prompt: str) -> tuple[Finding, ...]:
    """Return what is worth a change, once for each text: it is looked at after every turn."""
    return tuple(found for found in lint(prompt) if found.severity is Severity.WARNING)


def moving_parts(prompt: str) -> list[Finding]:
    """Return what moves in instructions and costs something."""
    return [found for found in _warnings(prompt) if found.mover is not Mover.SYNTAX]


def unreadable_at(prompt: str) -> Finding | None:
    """Return where Home Assistant cannot read instructions as a template, None if it can."""
    return next((found for found in _warnings(prompt) if found.mover is Mover.SYNTAX), None)


def moving_key(prompt: str) -> str:
    """Return a name for what moves in instructions, wherever it stands in them."""
    parts = sorted(f"{found.mover.value} {found.expression}" for found in moving_parts(prompt))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def are_kept(data: Mapping[str, Any]) -> bool:
    """Return whether what moves in an agent's instructions is to stay as it is."""
    return bool(data.get(CONF_KEPT_MOVING) == moving_key(data.get(CONF_PROMPT) or ""))
