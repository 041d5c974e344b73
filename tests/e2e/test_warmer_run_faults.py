"""The daemon while Home Assistant and the model server break, on the real things."""

import asyncio
from collections.abc import AsyncIterator
import signal

import pytest

from tests.e2e.daemon_scene import MODEL, OWN_WORDS, Scene, open_scene
from tests.rig.ollama import Fault, FaultKind
from tests.warmer.support.live_house import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]


@pytest.fixture(scope="module", name="scene")
async def _scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """One daemon for all tests of this file, which are the story of its life."""
    async with open_scene(tmp_path_factory.mktemp("daemon")) as scene:
        yield scene


async def test_model_is_lost(scene: Scene) -> None:
    """A model whose process has died is noticed, loaded and warmed before anybody asks."""
    async with scene.leads_to("model lost"):
        await scene.server.restart_backend(MODEL)

    assert (await scene.ask(scene.rooms[1], "Who is at the door?")).re_read_tokens <= OWN_WORDS


async def test_model_dies_in_mid_prefill(scene: Scene) -> None:
    """The target that was being read fails, and soon all are warm again."""
    before = len(scene.daemon.rounds)
    start = len(scene.server.records)
    await scene.server.restart_backend(MODEL)
    await until(lambda: len(scene.server.records) > start, seconds=30)
    await until(lambda: scene.server.runner(MODEL).server is not None)
    await asyncio.sleep(0.3)
    await scene.server.restart_backend(MODEL)
    await until(lambda: len(scene.daemon.rounds) > before + 1, seconds=60)
    await scene.warm_again(before + 1, "")

    assert scene.daemon.rounds[before]["verdict"] == "failed"
    assert (await scene.ask(scene.rooms[0], "Is it dark outside?")).re_read_tokens <= OWN_WORDS


async def test_home_assistant_restarts_in_mid_round(scene: Scene) -> None:
    """The round that it breaks is noted, and made again as soon as everything is there."""
    async with scene.leads_to("Home Assistant is back"):
        scene.server.fault = delay = Fault(FaultKind.DELAY, seconds=20, times=1)
        scene.daemon.signal(signal.SIGHUP)
        await until(lambda: delay.times == 0)
        await asyncio.sleep(0.5)
        await scene.house.restart()
        scene.server.fault = None

    assert "failed" in {it["verdict"] for it in scene.daemon.rounds}
    for room in scene.rooms:
        assert (await scene.ask(room, "Is the heating off?")).re_read_tokens <= OWN_WORDS


async def test_end(scene: Scene) -> None:
    """It goes within two seconds and says good-bye; none of its rounds is lost."""
    rounds = len(scene.daemon.rounds)
    code, seconds = await scene.daemon.end()

    assert code == 0
    assert seconds < 2
    await until(lambda: scene.systemd.heard("STOPPING=1"))
    assert len(scene.daemon.rounds) == rounds
    assert "mistake" not in scene.daemon.said
