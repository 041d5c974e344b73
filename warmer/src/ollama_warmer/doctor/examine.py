"""The whole examination: visits the house and the model server, and collects what is found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ollama_warmer.config.config import Config, OllamaConfig
from ollama_warmer.doctor.findings import HOME_ASSISTANT, MEASUREMENT, OLLAMA, Finding
from ollama_warmer.doctor.herd import check_router
from ollama_warmer.doctor.house import House, visit
from ollama_warmer.doctor.house_checks import check_encryption, check_house
from ollama_warmer.doctor.keep import check_keep_alive, check_loaded, check_model
from ollama_warmer.doctor.log_checks import (
    Loads,
    check_clients,
    check_log,
    check_models,
    check_options,
    check_parallel,
    check_slots,
    others_options,
    overflows,
    path_by_log,
    sort_loads,
)
from ollama_warmer.doctor.log_tail import Tail, read_tail
from ollama_warmer.doctor.measurement import (
    Measurement,
    Say,
    measure,
    measured_size,
    remembered_size,
)
from ollama_warmer.doctor.measurement_checks import (
    Known,
    check_counts,
    check_measured,
    check_moving,
    check_new_conversation,
    check_window,
    fits_window,
)
from ollama_warmer.doctor.satellites import check_satellites
from ollama_warmer.doctor.server import Server, look_at
from ollama_warmer.doctor.setup import Setup
from ollama_warmer.doctor.template import (
    check_cloud,
    check_memory,
    check_modelfile,
    check_path,
    check_runner,
    check_template,
)
from ollama_warmer.doctor.versions import check_versions
from ollama_warmer.doctor.window import check_num_ctx, check_processor
from ollama_warmer.errors import OllamaError, TokenError, WarmerError
from ollama_warmer.history.state import StateError
from ollama_warmer.house.credentials import Token, load_token
from ollama_warmer.ollama.client import open_ollama


@dataclass(kw_only=True)
class _Seen:
    """What was seen, and what can be said of it at once."""

    findings: list[Finding] = field(default_factory=list)
    token: Token | None = None
    house: House | None = None
    before: Server | None = None
    server: Server | None = None
    measurement: Measurement | None = None
    tail: Tail = field(default_factory=Tail)
    loads: Loads = field(default_factory=Loads)


async def examine(setup: Setup, environ: Mapping[str, str], say: Say) -> tuple[Finding, ...]:
    """Return everything that can be said of a house and its model server.

    Whatever cannot be reached becomes a finding; nothing is raised for it.

    Args:
        setup: What to look at.
        environ: The environment of the process, where the token may be.
        say: Is told what is going on, while questions are asked.
    """
    seen = _Seen()
    if setup.config is not None:
        await _visit(setup.config, setup, environ, seen)
    seen.before = await _look(setup, seen)
    seen.server = seen.before
    if setup.measure and setup.config is not None:
        await _measure(setup.config, setup, seen, say)
    seen.tail = await read_tail(setup.counts)
    seen.loads = sort_loads(seen.tail, seen.server, datetime.now(UTC))
    return (
        *seen.findings,
        *_of_ollama(setup, seen),
        *_of_log(setup, seen),
        *_of_asking(setup, seen),
    )


async def _visit(config: Config, setup: Setup, environ: Mapping[str, str], seen: _Seen) -> None:
    """Look at Home Assistant, if there is a token for it and it lets us in."""
    seen.findings.append(check_encryption(config.home_assistant.url))
    try:
        seen.token = load_token(setup.token_file, environ)
    except TokenError as err:
        seen.findings.append(HOME_ASSISTANT.trouble("token", str(err)))
        return
    seen.findings.append(
        HOME_ASSISTANT.ok("token", "there is a token, and it is not open to others")
    )
    try:
        seen.house = await visit(config.home_assistant.url, seen.token)
    except WarmerError as err:
        seen.findings.append(HOME_ASSISTANT.trouble("home_assistant", str(err)))
        return
    seen.findings += check_house(config, seen.house)
    seen.findings += check_satellites(config, seen.house)


async def _measure(config: Config, setup: Setup, seen: _Seen, say: Say) -> None:
    """Ask the agents, and look at the model server once more afterwards."""
    if seen.house is None or seen.token is None:
        seen.measurement = Measurement(trouble="Home Assistant did not let us in")
        return
    seen.measurement = await measure(config, seen.token, setup.pause, say)
    if seen.before is not None:
        seen.server = await _look(setup, seen)


async def _look(setup: Setup, seen: _Seen) -> Server | None:
    """Look at the model server, if it is named and answers."""
    if setup.ollama is None:
        seen.findings.append(
            OLLAMA.unknown(
                "ollama",
                "the model server is not named, and nothing is known of it",
                "Write the table [ollama] into the configuration, or give --url and --model",
            )
        )
        return None
    try:
        async with open_ollama(setup.ollama.url) as ollama:
            return await look_at(ollama, setup.ollama.model)
    except OllamaError as err:
        seen.findings.append(OLLAMA.trouble("ollama", str(err)))
        return None


def _of_ollama(setup: Setup, seen: _Seen) -> Iterator[Finding]:
    """Yield what is found of the server and the model."""
    before, server, wanted = seen.before, seen.server, setup.ollama
    if before is None or server is None or wanted is None:
        return
    yield OLLAMA.ok("ollama", f"reached at {server.url}")
    known = _known(setup, seen)
    yield from check_versions(
        server.version, memory=known.memory, runner=server.runner, path=known.path
    )
    yield from check_router(
        server.fleet, model=server.model, num_ctx=wanted.num_ctx, interval=setup.interval
    )
    yield check_model(server)
    yield from check_loaded(before)
    yield from check_keep_alive(
        server,
        wanted,
        setup.interval,
        just_asked=seen.measurement is not None and seen.measurement.answered,
    )
    others = others_options(seen.loads, wanted.num_ctx)
    yield from check_num_ctx(server, wanted.num_ctx, explained=others is not None)
    yield from check_processor(server)
    yield from _of_model(server, wanted, seen)


def _of_model(server: Server, wanted: OllamaConfig, seen: _Seen) -> Iterator[Finding]:
    """Yield what is found of the model itself; the log knows better than its description."""
    if (shown := server.shown) is None:
        return
    last = seen.loads.last
    if last is not None and last.memory is not None:
        yield check_memory(last.memory, "by the log")
    elif server.memory is not None:
        yield check_memory(server.memory, "by its description")
    by_log = path_by_log(seen.tail, server.model)
    if by_log is not None:
        yield check_path(by_log, "by the log")
    elif server.path is not None:
        yield check_path(server.path, "by its template")
    yield check_runner(server.runner)
    yield check_template(shown)
    yield from check_modelfile(shown, wanted)
    yield from check_cloud(shown)


def _of_log(setup: Setup, seen: _Seen) -> Iterator[Finding]:
    """Yield what is found in the log."""
    yield check_log(seen.tail)
    if seen.tail.trouble is not None:
        return
    yield from check_models(seen.loads)
    yield from check_options(seen.loads, setup.ollama.num_ctx if setup.ollama else None)
    yield from check_slots(seen.loads)
    yield from check_parallel(seen.tail, seen.server)
    yield from check_clients(seen.tail)


def _of_asking(setup: Setup, seen: _Seen) -> Iterator[Finding]:
    """Yield what the answers show, and what the last round's showed."""
    if setup.config is None:
        return
    known = _known(setup, seen)
    measurement = seen.measurement
    yield check_measured(measurement)
    size = measured_size(measurement) if measurement else None
    if size is None and setup.state_files:
        try:
            size = remembered_size(setup.state_files)
        except StateError as err:
            yield MEASUREMENT.unknown("state", f"the last rounds are not known: {err}")
    fits = fits_window(measurement, size, known.window)
    yield check_window(
        size,
        known.window,
        overflows(seen.tail, known.window),
        fits=fits,
        measured=measurement is not None,
    )
    if measurement is not None:
        yield from check_counts(measurement, known)
        yield from check_moving(measurement, known, fits=fits)
        yield from _of_meeting(seen)
    agents = frozenset(target.agent for target in setup.config.targets)
    yield from check_new_conversation(measurement, known, agents, fits=fits)


def _of_meeting(seen: _Seen) -> Iterator[Finding]:
    """Yield whether the agent that answered uses the model and the server that were looked at."""
    server, measurement = seen.server, seen.measurement
    if server is None or measurement is None or server.model not in server.models:
        return
    if measurement.answered and server.entry is None:
        yield OLLAMA.problem(
            "agent_model",
            "the agent has answered, and its model is not in memory here",
            "Compare model and server of the agent with [ollama] in the configuration, and its "
            "keep_alive with 0",
        )


def _known(setup: Setup, seen: _Seen) -> Known:
    """Return what is known when answers are judged; the log knows better than descriptions."""
    server, last = seen.server, seen.loads.last
    loaded = server.entry.context if server and server.entry else None
    wanted = setup.ollama.num_ctx if setup.ollama else None
    by_log = path_by_log(seen.tail, server.model) if server else None
    return Known(
        memory=(last.memory if last else None) or (server.memory if server else None),
        path=by_log or (server.path if server else None),
        batch=last.batch if last else None,
        window=loaded or wanted,
        log_trouble=seen.tail.trouble is not None,
        ours=seen.house.ours if seen.house else frozenset(),
    )
