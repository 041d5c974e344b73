"""What the end-to-end tests share: one Home Assistant, lived in by all of them."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.rig.home_assistant import HomeAssistant


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def home_assistant(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HomeAssistant]:
    """Give a running Home Assistant with our integration and the demonstration house.

    It lives in the session's event loop, so a test that uses it has to run there, too:
    `pytestmark = pytest.mark.asyncio(loop_scope="session")`.
    """
    async with HomeAssistant(tmp_path_factory.mktemp("home_assistant")) as house:
        yield house
