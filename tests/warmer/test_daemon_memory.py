"""What the daemon takes of a small machine's memory, with everything that it can do switched on."""

from pathlib import Path

import aiohttp
import pytest

from tests.warmer.support.daemon_process import running
from tests.warmer.support.house import open_house
from tests.warmer.support.live_house import APP, LiveHouse, until, write_config
from tests.warmer.test_daemon_metrics import free_port

MOST_MB = 60.0
FLAT_MB = 2.0


async def scrape(address: str) -> None:
    """Read the metrics as Prometheus does."""
    url = f"http://{address}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        assert "ollama_warmer_rounds_total" in await response.text()


@pytest.mark.timeout(180)
async def test_a_thousand_rounds(tmp_path: Path) -> None:
    """Below 60 MB after 1,000 rounds, and no more than after 100."""
    async with open_house(LiveHouse()) as live:
        ollama = f'[ollama]\nurl = "{live.url}"'
        address = f"127.0.0.1:{free_port()}"
        run = f'interval = 0.001\nlisten = "{address}"'
        config = write_config(tmp_path, live.url, run, ollama, targets=APP)
        async with running(config) as daemon:
            await until(lambda: daemon.said.count("Round (") >= 100, seconds=60)
            await scrape(address)
            after_100 = daemon.resident_mb
            await until(lambda: daemon.said.count("Round (") >= 1000, seconds=120)
            await scrape(address)
            after_1000 = daemon.resident_mb
            code, seconds = await daemon.end()

    assert after_1000 <= MOST_MB
    assert after_1000 - after_100 <= FLAT_MB, (after_100, after_1000)
    assert code == 0
    assert seconds < 2
