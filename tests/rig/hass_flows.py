"""Configuration flows as the frontend walks through them, over REST."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from http import HTTPStatus
from typing import Any

from .hass_api import GLANCE_SECONDS, HassError, Json, RestError, until

type Rest = Callable[..., Coroutine[Any, Any, Any]]
type Command = Callable[..., Coroutine[Any, Any, Any]]

FLOW = "/api/config/config_entries/flow"
SUBENTRY_FLOW = "/api/config/config_entries/subentries/flow"
ATTEMPTS = 5
LOAD_SECONDS = 30.0
CALM_GLANCES = 3


class Flows:
    """Walks through flows with the rights of an administrator."""

    def __init__(self, rest: Rest, command: Command) -> None:
        """Take the two ways of talking to Home Assistant."""
        self._rest = rest
        self._command = command

    async def config_flow(self, handler: str, *steps: Json, expect: str | None) -> Json:
        """Set an integration up; the new entry is loaded when this returns."""
        result = await self._walk(FLOW, {"handler": handler}, steps)
        _check(result, handler, expect)
        if result["type"] == "create_entry":
            await self.wait_loaded(result["result"]["entry_id"])
        return result

    async def subentry_flow(
        self,
        entry_id: str,
        subentry_type: str,
        *steps: Json,
        expect: str | None,
        subentry_id: str | None = None,
    ) -> Json:
        """Add a subentry, or reconfigure one; the entry is loaded again when this returns."""
        start: Json = {"handler": [entry_id, subentry_type]}
        if subentry_id:
            start["subentry_id"] = subentry_id
        for attempt in range(ATTEMPTS):
            await self.wait_loaded(entry_id)
            try:
                result = await self._walk(SUBENTRY_FLOW, start, steps)
            except RestError as error:
                # A reload of the entry ends its flows. It follows on every new subentry, a little
                # later than the entry says that it is loaded.
                if error.status != HTTPStatus.NOT_FOUND or attempt == ATTEMPTS - 1:
                    raise
            else:
                if result.get("reason") != "entry_not_loaded" or attempt == ATTEMPTS - 1:
                    break
            await asyncio.sleep(0.5)
        _check(result, subentry_type, expect)
        await self._wait_settled(entry_id)
        return result

    async def entry(self, entry_id: str) -> Json:
        """Return what Home Assistant tells of an entry."""
        answer = await self._command("config_entries/get_single", entry_id=entry_id)
        entry: Json = answer["config_entry"]
        return entry

    async def subentries(self, entry_id: str) -> list[Json]:
        """Return the subentries of an entry."""
        answer: list[Json] = await self._command(
            "config_entries/subentries/list", entry_id=entry_id
        )
        return answer

    async def wait_loaded(self, entry_id: str, seconds: float = LOAD_SECONDS) -> None:
        """Wait until the entry is set up."""
        try:
            async with asyncio.timeout(seconds):
                await until(partial(self._is_loaded, entry_id))
        except TimeoutError:
            entry = await self.entry(entry_id)
            raise HassError(f"{entry['domain']} is {entry['state']}: {entry['reason']}") from None

    async def _is_loaded(self, entry_id: str) -> bool:
        return bool((await self.entry(entry_id))["state"] == "loaded")

    async def _wait_settled(self, entry_id: str) -> None:
        """Wait until a reload that has not begun yet is over."""
        for _ in range(CALM_GLANCES):
            await asyncio.sleep(GLANCE_SECONDS)
            await self.wait_loaded(entry_id)

    async def _walk(self, path: str, start: Json, steps: tuple[Json, ...]) -> Json:
        """Start a flow and answer its forms one after the other."""
        result: Json = await self._rest("POST", path, json=start)
        for step in steps:
            if result["type"] not in ("form", "menu"):
                break
            if ("next_step_id" in step) != (result["type"] == "menu"):
                # A choice from a menu, or a second look at a form, that is not offered this time.
                continue
            result = await self._rest("POST", f"{path}/{result['flow_id']}", json=step)
            while result["type"] in ("progress", "progress_done", "external_done"):
                await asyncio.sleep(0.2)
                result = await self._rest("GET", f"{path}/{result['flow_id']}")
        return result


def _check(result: Json, what: str, expect: str | None) -> None:
    if expect is not None and result["type"] != expect:
        told = {key: result[key] for key in ("reason", "errors", "step_id") if result.get(key)}
        raise HassError(f"The flow of {what} ended as {result['type']}, not {expect}: {told}")
