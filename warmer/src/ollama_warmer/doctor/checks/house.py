"""Looks at Home Assistant: the way to it, its version, the token's rights, agents and devices."""

from collections.abc import Iterator
import re

from ollama_warmer.config.addresses import leaves_unencrypted
from ollama_warmer.config.config import Config
from ollama_warmer.doctor.findings import HOME_ASSISTANT, Finding
from ollama_warmer.doctor.house import House
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.house.client import BUILT_IN, NO_MODEL
from ollama_warmer.house.discover import NO_AGENT
from ollama_warmer.words import listing, printable

# The releases that this warmer is tested with.
_OLDEST, _NEWEST = (2026, 10), (2026, 11)


@check(Part.HOUSE, 10)
def the_way(seen: Seen) -> Iterator[Finding]:
    """Yield whether the way to Home Assistant is safe, and whether there is a token for it."""
    if seen.config is None:
        return
    yield check_encryption(seen.config.home_assistant.url)
    if seen.token_trouble is not None:
        yield HOME_ASSISTANT.trouble("token", seen.token_trouble)
        return
    yield HOME_ASSISTANT.ok("token", "there is a token, and it is not open to others")


@check(Part.HOUSE, 20)
def the_house(seen: Seen) -> Iterator[Finding]:
    """Yield all that can be said of Home Assistant itself."""
    if seen.house_trouble is not None:
        yield HOME_ASSISTANT.trouble("home_assistant", seen.house_trouble)
    if seen.config is not None and seen.house is not None:
        yield from check_house(seen.config, seen.house)


def check_house(config: Config, house: House) -> Iterator[Finding]:
    """Yield all that can be said of a Home Assistant that was reached."""
    yield HOME_ASSISTANT.ok("home_assistant", f"reached at {config.home_assistant.url}")
    yield check_version(house)
    yield check_administrator(house)
    yield check_agents(config, house)
    yield check_devices(config, house)
    yield from check_rights(house)


def check_encryption(url: str) -> Finding:
    """Say whether the token can be read on its way."""
    if leaves_unencrypted(url):
        return HOME_ASSISTANT.advice(
            "encryption",
            f"{url} is not encrypted: whoever listens in the network can read the token",
            "Use https where Home Assistant offers it",
        )
    return HOME_ASSISTANT.ok("encryption", "the token cannot be read on its way")


def check_version(house: House) -> Finding:
    """Say whether this release builds prompts as the ones that were tested.

    Home Assistant put the time into every prompt until autumn 2025: at its top until March 2025,
    at its end until a tool took its place.
    """
    match = re.match(r"(\d{4})\.(\d{1,2})\b", house.version or "")
    if match is None:
        return HOME_ASSISTANT.unknown(
            "home_assistant_version", "it does not report its version, or not as a release"
        )
    shown, release = printable(house.version), (int(match[1]), int(match[2]))
    if release < _OLDEST:
        return HOME_ASSISTANT.advice(
            "home_assistant_version",
            f"version {shown} is older than 2026.10, the oldest that is tested, and before "
            "autumn 2025 it put the time into every prompt",
            "Update Home Assistant",
        )
    if release > _NEWEST:
        return HOME_ASSISTANT.unknown(
            "home_assistant_version",
            f"version {shown} is newer than 2026.11, the newest that is tested",
            "Confirm with --measure that prompts are warm",
        )
    return HOME_ASSISTANT.ok("home_assistant_version", f"version {shown} is one that is tested")


def check_administrator(house: House) -> Finding:
    """Say whether the token may do more than it has to."""
    if house.administrator is None:
        return HOME_ASSISTANT.unknown(
            "administrator", "it does not say whether the token's user is an administrator"
        )
    if house.administrator:
        return HOME_ASSISTANT.advice(
            "administrator",
            "the token's user is an administrator: who finds the token owns the house",
            "Make a user without administrator rights, and a token as that user",
        )
    return HOME_ASSISTANT.ok("administrator", "the token's user is not an administrator")


def check_agents(config: Config, house: House) -> Finding:
    """Say which agents there are, and which of the configuration's are not."""
    known = house.found.agents
    wanted = {target.agent for target in config.targets}
    if BUILT_IN in wanted:
        models = house.found.models
        return HOME_ASSISTANT.problem(
            "agents",
            NO_MODEL,
            f"Name an agent that asks a model in the configuration: there are {listing(models)}"
            if models
            else NO_AGENT,
        )
    if known is None:
        return HOME_ASSISTANT.unknown(
            "agents", "it does not say which conversation agents there are"
        )
    if gone := wanted - known:
        return HOME_ASSISTANT.problem(
            "agents",
            f"it has no conversation agent {listing(gone)}: it has {listing(known)}",
            "Correct `agent` in the configuration, or run `ollama-warmer discover` again",
        )
    return HOME_ASSISTANT.ok("agents", f"it has the agents of all targets: {listing(wanted)}")


def check_devices(config: Config, house: House) -> Finding:
    """Say which devices of the configuration there are not.

    Home Assistant takes any device id without a word, and warms the prompt of no device then.
    """
    wanted = {target.device: target.name for target in config.targets if target.device}
    if house.devices is None:
        return HOME_ASSISTANT.unknown("devices", "it does not say which devices there are")
    if gone := [name for device, name in wanted.items() if device not in house.devices]:
        return HOME_ASSISTANT.problem(
            "devices",
            f"the devices of these targets do not exist: {listing(gone)}",
            "Run `ollama-warmer discover` again",
        )
    return HOME_ASSISTANT.ok(
        "devices", f"it has the devices of all targets with one ({len(wanted)})"
    )


def check_rights(house: House) -> Iterator[Finding]:
    """Yield what the token's user may not see."""
    for number, missing in enumerate(house.found.missing, start=1):
        yield HOME_ASSISTANT.unknown(f"rights_{number}", missing)
