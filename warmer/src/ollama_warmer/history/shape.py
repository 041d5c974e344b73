"""Checks what is in a state file, because anything may have happened to it."""

from datetime import UTC, datetime
import json
from typing import Any

import voluptuous as vol

from ollama_warmer.round.verdicts import Verdict

VERSION = 1
# A machine without a clock of its own starts in 1970; the ends of the calendar cannot be shown in
# every time zone.
_YEARS = range(1970, 9000)
_LONGEST = 1e9


class DamagedError(Exception):
    """The content is nothing that this program wrote; the text says why."""


class NewerError(Exception):
    """A later release wrote the content in a way of its own; the text says so."""


def parse(content: bytes) -> list[dict[str, Any]]:
    """Return the rounds that a state file holds.

    Raises:
        DamagedError: It is cut off, or something else than a state file.
        NewerError: It has a later version.
    """
    try:
        state = json.loads(content)
    except (ValueError, RecursionError) as err:
        raise DamagedError("it is empty" if not content.strip() else "it is not JSON") from err
    version = state.get("version") if isinstance(state, dict) else None
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise NewerError(f"has version {version}, and this program knows version {VERSION}")
    try:
        checked: dict[str, Any] = _STATE(state)
    except vol.Invalid as err:
        raise DamagedError("it is not the shape of a state file") from err
    rounds: list[dict[str, Any]] = checked["rounds"]
    return rounds


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise vol.Invalid("is no number")
    # Python's JSON knows NaN, 1e999 and numbers that no float can hold; comparing stops them all.
    if not 0 <= value <= _LONGEST:
        raise vol.Invalid("is no time")
    return value


def _count(value: object) -> object:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise vol.Invalid("is no count")


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise vol.Invalid("is no text")
    try:
        value.encode()
    except UnicodeEncodeError as err:
        # JSON can hold half of a character, which nothing can print.
        raise vol.Invalid("is no text") from err
    return value


def _moment(value: object) -> object:
    if not isinstance(value, str):
        raise vol.Invalid("is no time")
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None or moment.astimezone(UTC).year not in _YEARS:
            raise vol.Invalid("is no time with a zone")
    except (ValueError, OverflowError) as err:
        raise vol.Invalid("is no time") from err
    return value


def _objects(keys: dict[str, object]) -> list[vol.Schema]:
    """Return the shape of a list of objects; a later release may say more, but never less."""
    return [vol.Schema(keys, required=True, extra=vol.ALLOW_EXTRA)]


_VERDICT = vol.In([str(verdict) for verdict in Verdict])
_STEP: dict[str, object] = {
    "step": _text,
    "prompt": _count,
    "cached": _count,
    "re_read": _count,
    "seconds": _number,
}
_TARGET: dict[str, object] = {
    "name": _text,
    "agent": _text,
    "device": vol.Any(None, _text),
    "verdict": _VERDICT,
    "reason": _text,
    "steps": _objects(_STEP),
}
_ROUND: dict[str, object] = {
    "at": _moment,
    "occasion": _text,
    "seconds": _number,
    "verdict": _VERDICT,
    "targets": _objects(_TARGET),
}
_STATE = vol.Schema(
    {"version": VERSION, "rounds": _objects(_ROUND)}, required=True, extra=vol.ALLOW_EXTRA
)
