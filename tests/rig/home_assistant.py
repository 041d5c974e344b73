"""A real Home Assistant with a demonstration house, for tests and the demonstration."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .hass_accounts import Accounts, onboard, until_it_answers
from .hass_api import CommandError, HassError, Json, Reply, RestError, until
from .hass_client import Room
from .hass_config import LOCALHOST, free_port, write_configuration
from .hass_process import HassProcess
from .hass_settings import HassSettings
from .house_scripts import SCRIPTS

__all__ = [
    "DEMO_HOUSE",
    "OURS",
    "CommandError",
    "HassError",
    "HomeAssistant",
    "Json",
    "Reply",
    "RestError",
    "Room",
]

OURS = Path(__file__).parents[2] / "custom_components" / "ollama_warm"
DEMO_HOUSE = Path(__file__).parent / "custom_components" / "demo_house"
START_SECONDS = 90.0


class HomeAssistant(HassSettings):
    """Starts `hass` in a folder and moves in; `async with` ends it again.

    The folder may be used again: the same people, tokens and port are found in it. All of it
    belongs to the event loop that it was started in.
    """

    def __init__(  # noqa: PLR0913 (all but the folder are named)
        self,
        config_dir: Path,
        *,
        components: Sequence[Path] = (OURS, DEMO_HOUSE),
        extra_entities: int = 0,
        timezone: str = "Europe/Paris",
        hass_executable: Path | None = None,
        configuration: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe the house, with what its configuration.yaml has beside the usual.

        Nothing is started yet.
        """
        self._folder = config_dir
        self._notes: dict[str, Any] = _read_notes(config_dir)
        self._port: int = self._notes.get("port") or free_port()
        self._components = components
        self._extra_entities = extra_entities
        self._timezone = timezone
        self._configuration = configuration or {}
        self._process = HassProcess(config_dir, hass_executable)
        accounts = self._notes.get("accounts")
        super().__init__(
            f"http://{LOCALHOST}:{self._port}", Accounts(**accounts) if accounts else None
        )
        self._servers.update(self._notes.get("servers", {}))

    @property
    def log_path(self) -> Path:
        """The log of the present run; the one before has `.1` behind its name."""
        return self._process.log_path

    def log_records(self, level: str = "ERROR") -> list[str]:
        """Return the first lines of the present run's log records of one level."""
        return self._process.log_records(level)

    def unexpected_errors(self) -> list[str]:
        """Return the present run's errors, except those that every house of ours logs."""
        return self._process.unexpected_errors()

    async def __aenter__(self) -> Self:
        """Start."""
        try:
            await self.start()
        except BaseException:
            await self._process.kill()
            await self._api.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop; what went wrong inside is told together with the end of the log."""
        if error is not None:
            error.add_note(f"The end of Home Assistant's log:\n{self._process.tail()}")
        try:
            await self.stop()
        finally:
            await self._api.close()

    async def start(self) -> None:
        """Start, move in the first time, and wait until everything is set up."""
        write_configuration(
            self._folder,
            port=self._port,
            components=self._components,
            extra_entities=self._extra_entities,
            timezone=self._timezone,
            more=self._configuration,
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._process.start()
                await self._until_ready()
        except (TimeoutError, HassError) as error:
            raise HassError(self._process.explain(f"did not start ({error!r})")) from error

    async def stop(self) -> None:
        """End Home Assistant in an orderly way."""
        self._write_notes()
        await self._api.hang_up()
        await self._process.stop()

    async def restart(self) -> None:
        """Stop and start: the same folder, tokens and port."""
        await self.stop()
        await self.start()

    async def kill(self) -> None:
        """End Home Assistant at once, as a power cut would; `start` works again afterwards."""
        self._write_notes()
        await self._process.kill()
        await self._api.hang_up()

    async def _until_ready(self) -> None:
        """Wait for the server, the owner, the start-up and the house, in this order."""
        answers = asyncio.create_task(until_it_answers(self._api))
        died = asyncio.create_task(self._process.wait())
        await asyncio.wait({answers, died}, return_when=asyncio.FIRST_COMPLETED)
        if died.done():
            answers.cancel()
            raise HassError(f"exit status {died.result()}")
        died.cancel()
        is_new = self._known_accounts is None
        if is_new:
            self._known_accounts = await onboard(self._api)
            self._write_notes()
        await until(self._is_running)
        if DEMO_HOUSE in self._components:
            self.rooms = await until(self._find_rooms)
        if is_new:
            for script in SCRIPTS:
                await self.expose(f"script.{script}", exposed=True)

    async def _is_running(self) -> bool:
        return bool((await self.command("get_config"))["state"] == "RUNNING")

    def _write_notes(self) -> None:
        """Keep what a later start in the same folder has to know."""
        notes = {"port": self._port, "servers": self._servers}
        if self._known_accounts is not None:
            notes["accounts"] = asdict(self._known_accounts)
        (self._folder / "rig.json").write_text(json.dumps(notes))


def _read_notes(folder: Path) -> dict[str, Any]:
    path = folder / "rig.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}
