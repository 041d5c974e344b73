"""A house with core's agent, a model server, and the daemon that keeps two of its rooms warm."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.rig.demo import demonstration, first_answer, served_models
from tests.rig.home_assistant import HomeAssistant, Room
from tests.rig.ollama import OllamaStandIn, Record
from tests.rig.warmer import configuration
from tests.warmer.support.daemon_process import DaemonProcess, Systemd, running
from tests.warmer.support.live_house import until

MODEL = "tiny-attention:latest"
# A question's own words, the marks of the template and the sentences that name the room.
OWN_WORDS = 20


@dataclass(frozen=True, slots=True)
class Scene:
    """A house with core's agent, a model server, and a daemon that keeps two rooms warm."""

    house: HomeAssistant
    server: OllamaStandIn
    agent: str
    daemon: DaemonProcess
    systemd: Systemd

    @property
    def rooms(self) -> list[Room]:
        """The rooms that are kept warm."""
        return kept(self.house)

    @asynccontextmanager
    async def leads_to(self, occasion: str) -> AsyncIterator[None]:
        """What is done inside leads to a round with this occasion, which ends warm."""
        before = len(self.daemon.rounds)
        yield
        await self.warm_again(before, occasion)

    async def warm_again(self, before: int, occasion: str) -> None:
        """Wait for a warm round with an occasion after the first so many rounds, and for quiet."""

        def found() -> bool:
            rounds = self.daemon.rounds[before:]
            wanted = any(occasion in it["occasion"] and it["verdict"] == "warm" for it in rounds)
            return wanted and self.daemon.said.count("Round begins") == len(self.daemon.rounds)

        try:
            await until(found, seconds=60)
        except TimeoutError:
            raise AssertionError(f"No warm round for {occasion}:\n{self.daemon.said}") from None

    async def ask(self, room: Room, words: str) -> Record:
        """Ask in a room, and return what the model server did for it."""
        start = len(self.server.records)
        reply = await self.house.ask(words, agent=self.agent, device=room)
        assert reply.error_code is None
        return first_answer(self.server, start)


def kept(house: HomeAssistant) -> list[Room]:
    """Return the rooms that the daemon keeps warm."""
    return [house.room("Kitchen"), house.room("Office")]


@asynccontextmanager
async def open_scene(folder: Path) -> AsyncIterator[Scene]:
    """Start everything, and wait until the daemon's first round is over."""
    async with demonstration(folder, served_models("tiny")[:1]) as (house, server):
        agent = await house.add_core_ollama(server.url, model=MODEL, name="Core")
        # The log is there once the model has been loaded.
        await house.ask("Hello", agent=agent)
        config = folder / "home.toml"
        text = configuration(house.url, agent, kept(house), server.log_path(MODEL))
        config.write_text(f'{text}\n[ollama]\nurl = "{server.url}"\nmodel = "tiny-attention"\n')
        systemd = Systemd(folder)
        environ = {**systemd.environ, "HA_TOKEN": house.warmer_token, "WATCHDOG_USEC": "2000000"}
        async with running(config, environ=environ) as daemon:
            scene = Scene(house, server, agent, daemon, systemd)
            await scene.warm_again(0, "start")
            yield scene
            assert house.warmer_token not in daemon.said + daemon.state.read_text()
            assert "mistake" not in daemon.said
        systemd.close()
