"""Looks at who talks to whom: the satellites of a house, their assistants and the agents."""

from collections.abc import Iterator

from ollama_warmer.config.config import Config
from ollama_warmer.doctor.findings import HOME_ASSISTANT, Finding
from ollama_warmer.doctor.house import House
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.house.discover import Discovered, Satellite
from ollama_warmer.words import listing, printable


@check(Part.HOUSE, 30)
def satellites(seen: Seen) -> Iterator[Finding]:
    """Yield what can be said of the satellites."""
    if seen.config is not None and seen.house is not None:
        yield from check_satellites(seen.config, seen.house)


def agents_of(satellite: Satellite, found: Discovered) -> frozenset[str] | None:
    """Return the agents that a satellite talks to; none if that cannot be known.

    A select without a state says nothing: the satellite is switched off.
    """
    assistants = found.assistants_of(satellite)
    if assistants is None or None in satellite.choices:
        return None
    return frozenset(assistant.agent for _, assistant in assistants)


def check_satellites(config: Config, house: House) -> Iterator[Finding]:
    """Yield which satellites there are, and which of them are warmed in vain or not at all."""
    satellites = [it for it in house.found.satellites if not it.disabled]
    talking = {it.entity: agents_of(it, house.found) for it in satellites}
    if not satellites:
        yield HOME_ASSISTANT.ok("satellites", "it has no voice satellites that can be seen")
        return
    yield _overview(satellites, talking)
    by_device = {it.device: it for it in satellites if it.device}
    yield _elsewhere(config, by_device, talking)
    yield _left_out(config, house, by_device, talking)


def _overview(satellites: list[Satellite], talking: dict[str, frozenset[str] | None]) -> Finding:
    """Say which satellites talk to which agent."""
    names: dict[str, list[str]] = {}
    silent = []
    for satellite in satellites:
        agents = talking[satellite.entity]
        if agents is None:
            silent.append(satellite.name)
        for agent in agents or ():
            names.setdefault(agent, []).append(satellite.name)
    reported = "; ".join(f"{printable(agent)}: {listing(names[agent])}" for agent in sorted(names))
    if silent:
        reported = "; ".join(filter(None, (reported, f"not known: {listing(silent)}")))
        return HOME_ASSISTANT.unknown(
            "satellites",
            f"which agent satellites talk to: {reported}",
            "Switch these satellites on and look again",
        )
    return HOME_ASSISTANT.ok("satellites", f"which agent satellites talk to: {reported}")


def _elsewhere(
    config: Config,
    by_device: dict[str, Satellite],
    talking: dict[str, frozenset[str] | None],
) -> Finding:
    """Say which targets warm a prompt that their satellite never uses."""
    wrong, unsure = [], []
    for target in config.targets:
        if (satellite := by_device.get(target.device or "")) is None:
            continue
        agents = talking[satellite.entity]
        if agents is None:
            unsure.append(target.name)
        elif target.agent not in agents:
            wrong.append(f"{printable(target.name)} ({', '.join(sorted(agents))})")
    if wrong:
        return HOME_ASSISTANT.problem(
            "satellite_agent",
            "the satellites of these targets talk to another agent than the target warms: "
            f"{', '.join(wrong)}",
            "Run `ollama-warmer discover` again, or let the satellite use the agent's assistant",
        )
    if unsure:
        return HOME_ASSISTANT.unknown(
            "satellite_agent", f"which agent the satellites of {listing(unsure)} talk to"
        )
    return HOME_ASSISTANT.ok(
        "satellite_agent", "every target with a satellite warms the agent that it talks to"
    )


def _left_out(
    config: Config,
    house: House,
    by_device: dict[str, Satellite],
    talking: dict[str, frozenset[str] | None],
) -> Finding:
    """Say which satellites talk to an agent of the configuration and are not warmed for it.

    Our own agent sends every room the same prompt, so that one target does for all.
    """
    warmed = {(target.device, target.agent) for target in config.targets}
    agents = {target.agent for target in config.targets} - house.ours
    missing = [
        satellite.name
        for device, satellite in by_device.items()
        for agent in talking[satellite.entity] or ()
        if agent in agents and (device, agent) not in warmed
    ]
    if missing:
        return HOME_ASSISTANT.advice(
            "satellites_left_out",
            f"no target warms these satellites' prompts: {listing(missing)}",
            "Run `ollama-warmer discover` again",
        )
    return HOME_ASSISTANT.ok("satellites_left_out", "no satellite of these agents is left out")
