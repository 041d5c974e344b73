"""Who may use a server now: people at once, warm-ups one at a time and when it is quiet."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.ollama.errors import CannotConnectError
from custom_components.ollama_warm.ollama.turnstile import QUIET_S, Turnstile

KITCHEN, OFFICE = "an agent", "another agent"
# Seconds since 1970 are so many that adding to them is not exact.
A_BIT = 0.01


class Request:
    """A request to a server that takes as long as a test wants."""

    def __init__(self) -> None:
        """Count how often it is sent and broken off."""
        self.sent = self.broken_off = 0
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def send(self) -> str:
        """Send it, and wait for its answer."""
        self.sent += 1
        try:
            return await asyncio.shield(self.answer)
        except asyncio.CancelledError:
            self.broken_off += 1
            raise


class Person:
    """Someone who asks an agent, and is answered when a test wants."""

    def __init__(self, turnstile: Turnstile, agent: str) -> None:
        """Go through the turnstile."""
        self._through = False
        self._answered = asyncio.Event()
        self.task = asyncio.create_task(self._ask(turnstile, agent))

    async def _ask(self, turnstile: Turnstile, agent: str) -> None:
        async with turnstile.person(agent):
            self._through = True
            await self._answered.wait()

    def let_through(self) -> bool:
        """Return whether the question is at the server."""
        return self._through

    async def answered(self) -> None:
        """Have the person answered."""
        self._answered.set()
        await self.task
        await settle()


async def settle() -> None:
    """Let everything happen that needs no time."""
    for _ in range(20):
        await asyncio.sleep(0)


async def pass_time(freezer: FrozenDateTimeFactory, seconds: float) -> None:
    """Let time pass, for the event loop as well."""
    freezer.tick(timedelta(seconds=seconds))
    await settle()


async def ask(turnstile: Turnstile, agent: str) -> Person:
    """Let someone ask an agent."""
    person = Person(turnstile, agent)
    await settle()
    return person


@asynccontextmanager
async def warming(
    turnstile: Turnstile, agent: str, *requests: Request
) -> AsyncGenerator[asyncio.Task[list[str]]]:
    """Warm an agent with these requests, one after the other; ended at the end."""

    async def warm_up() -> list[str]:
        async with turnstile.warm_up(agent):
            return [await turnstile.request(request.send) for request in requests]

    task = asyncio.create_task(warm_up())
    await settle()
    yield task
    task.cancel()
    await asyncio.wait([task])


@pytest.fixture
def turnstile(freezer: FrozenDateTimeFactory) -> Turnstile:
    """Return a turnstile that no one went through yet; its time stands still."""
    return Turnstile()


async def test_one_warm_up_at_a_time(turnstile: Turnstile) -> None:
    """The next agent's warm-up begins when the one before it is over."""
    first, second = Request(), Request()
    async with (
        warming(turnstile, KITCHEN, first) as kitchen,
        warming(turnstile, OFFICE, second) as office,
    ):
        assert (first.sent, second.sent) == (1, 0)
        first.answer.set_result("warm")
        assert await kitchen == ["warm"]
        await settle()
        assert second.sent == 1
        second.answer.set_result("warm, too")
        assert await office == ["warm, too"]
    assert not turnstile.warming


async def test_someone_elses_warm_up_gives_way(
    turnstile: Turnstile, freezer: FrozenDateTimeFactory
) -> None:
    """A person is let through at once; the request is broken off, and sent again when it is quiet.

    It is sent again as often as it is broken off.
    """
    request = Request()
    async with warming(turnstile, KITCHEN, request) as warm_up:
        for times in (1, 2):
            person = await ask(turnstile, OFFICE)
            assert person.let_through()
            assert (request.sent, request.broken_off) == (times, times)
            await pass_time(freezer, 60)
            await person.answered()
            await pass_time(freezer, QUIET_S - 0.1)
            assert request.sent == times
            await pass_time(freezer, 0.1 + A_BIT)
            assert request.sent == times + 1
        request.answer.set_result("warm")
        assert await warm_up == ["warm"]


async def test_ones_own_warm_up_is_waited_for(
    turnstile: Turnstile, freezer: FrozenDateTimeFactory
) -> None:
    """A person waits for the request that reads the own prefix, but not for the next one."""
    first, second = Request(), Request()
    async with warming(turnstile, KITCHEN, first, second):
        person = await ask(turnstile, KITCHEN)
        assert not person.let_through()
        await pass_time(freezer, 30)
        assert not person.let_through()
        first.answer.set_result("read")
        await settle()
        assert person.let_through()
        assert (first.broken_off, second.sent) == (0, 0)
        await person.answered()
        await pass_time(freezer, QUIET_S + A_BIT)
        assert second.sent == 1


async def test_a_warm_up_that_only_waits_is_not_waited_for(turnstile: Turnstile) -> None:
    """No one waits for a warm-up that has not sent anything."""
    request = Request()
    first = await ask(turnstile, OFFICE)
    async with warming(turnstile, KITCHEN, request):
        second = await ask(turnstile, KITCHEN)
        assert second.let_through()
        assert request.sent == 0
        await first.answered()
        await second.answered()


async def test_a_request_that_is_just_over_is_not_waited_for(turnstile: Turnstile) -> None:
    """An answer that arrives as a person comes belongs to the warm-up all the same."""
    request = Request()
    async with warming(turnstile, KITCHEN, request) as warm_up:
        request.answer.set_result("warm")
        sent = turnstile._request
        assert sent
        for _ in range(20):
            if sent.done():
                break
            await asyncio.sleep(0)
        async with turnstile.person(OFFICE):
            assert turnstile._request is sent
        assert await warm_up == ["warm"]
    assert request.broken_off == 0


async def test_no_one_waits_for_what_a_third_one_broke_off(turnstile: Turnstile) -> None:
    """Who waits for the own prefix goes on at once when someone else breaks its warm-up off."""
    request = Request()
    async with warming(turnstile, KITCHEN, request):
        waits = await ask(turnstile, KITCHEN)
        assert not waits.let_through()
        hurries = await ask(turnstile, OFFICE)
        assert hurries.let_through()
        assert waits.let_through()
        await waits.answered()
        await hurries.answered()


async def test_several_people(turnstile: Turnstile, freezer: FrozenDateTimeFactory) -> None:
    """It is quiet five seconds after the last of several people was answered, not earlier."""
    assert QUIET_S == 5
    request = Request()
    first, second = await ask(turnstile, KITCHEN), await ask(turnstile, KITCHEN)
    async with warming(turnstile, KITCHEN, request):
        await first.answered()
        await pass_time(freezer, 2 * QUIET_S)
        assert request.sent == 0
        await second.answered()
        await pass_time(freezer, QUIET_S - 1)
        third = await ask(turnstile, OFFICE)
        await third.answered()
        await pass_time(freezer, QUIET_S - 1)
        assert request.sent == 0
        await pass_time(freezer, 1 + A_BIT)
        assert request.sent == 1


async def test_what_it_says_of_itself(turnstile: Turnstile, freezer: FrozenDateTimeFactory) -> None:
    """It knows whether a person was here a moment ago, and whether a warm-up is going on."""
    assert (turnstile.recently_used, turnstile.warming) == (False, False)
    person = await ask(turnstile, KITCHEN)
    await pass_time(freezer, 60)
    assert turnstile.recently_used
    await person.answered()
    assert turnstile.recently_used
    request = Request()
    async with warming(turnstile, KITCHEN, request):
        assert turnstile.warming
        await pass_time(freezer, QUIET_S + A_BIT)
        assert (turnstile.recently_used, turnstile.warming) == (False, True)
        assert request.sent == 1
    assert not turnstile.warming


async def test_a_person_who_goes_away(turnstile: Turnstile, freezer: FrozenDateTimeFactory) -> None:
    """A question that is given up, also while it waits, holds nothing up."""
    request = Request()
    async with warming(turnstile, KITCHEN, request) as warm_up:
        person = await ask(turnstile, KITCHEN)
        person.task.cancel()
        await asyncio.wait([person.task])
        assert (person.let_through(), request.broken_off) == (False, 0)
        request.answer.set_result("warm")
        assert await warm_up == ["warm"]
    await pass_time(freezer, QUIET_S + A_BIT)
    assert not turnstile.recently_used


async def test_an_error_goes_to_the_warm_up(turnstile: Turnstile) -> None:
    """What a request fails with is raised where it was asked for, and nothing is held up.

    A person who waited for it is let through.
    """
    request = Request()
    async with warming(turnstile, KITCHEN, request) as warm_up:
        person = await ask(turnstile, KITCHEN)
        request.answer.set_exception(CannotConnectError(url="http://gone"))
        await settle()
        assert person.let_through()
        assert isinstance(warm_up.exception(), CannotConnectError)
        assert not turnstile.warming
        await person.answered()


@pytest.mark.parametrize("when", ["running", "waiting for quiet", "waiting for another"])
async def test_a_warm_up_that_is_given_up(turnstile: Turnstile, when: str) -> None:
    """It ends at once, with its request, and the next one may begin."""
    request, other = Request(), Request()
    person = await ask(turnstile, OFFICE) if when == "waiting for quiet" else None
    async with warming(turnstile, OFFICE, *([other] if "another" in when else [])):
        async with warming(turnstile, KITCHEN, request) as warm_up:
            assert request.sent == (when == "running")
            warm_up.cancel()
            await settle()
            assert warm_up.cancelled()
        assert request.broken_off == request.sent
        assert turnstile.warming == (when == "waiting for another")
    assert not turnstile.warming
    if person:
        await person.answered()


async def test_given_up_and_broken_off_at_once(turnstile: Turnstile) -> None:
    """A warm-up that is given up just as a person breaks it off is not sent again."""
    request = Request()
    async with warming(turnstile, KITCHEN, request) as warm_up:
        person = Person(turnstile, OFFICE)
        await asyncio.sleep(0)
        warm_up.cancel()
        await settle()
        assert warm_up.cancelled()
        assert (request.sent, request.broken_off) == (1, 1)
        await person.answered()
