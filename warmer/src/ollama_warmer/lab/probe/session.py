"""One run of the probe from what someone asked for to the file it leaves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.lab.probe import machine as probe_machine
from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.files import (
    differences,
    log_path,
    read_result,
    result_path,
    write_result,
)
from ollama_warmer.lab.probe.log import LogSlice, reported_by
from ollama_warmer.lab.probe.plan import Phase, with_needed
from ollama_warmer.lab.probe.prompts import SystemSource
from ollama_warmer.lab.probe.record import Conditions, Record
from ollama_warmer.lab.probe.runner import NUM_CTX, Observer, Probe, Settings
from ollama_warmer.lab.probe.survey import Survey
from ollama_warmer.ollama.client import Ollama

GLOSSARY = "glossary"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What someone asked for.

    Attributes:
        source: Where the system texts come from.
        num_ctx: The window in tokens.
        phases: The phases; those that they need come by themselves.
        lengths: Glossary lengths of the sweep.
        output: A folder, or a file called `.json`.
        machine: What it is measured on, in words; None for what can be seen of it.
        overwrite: Whether a file that is there may be overwritten.
    """

    source: SystemSource
    num_ctx: int = NUM_CTX
    phases: tuple[Phase, ...] = tuple(Phase)
    lengths: tuple[int, ...] = ()
    output: Path
    machine: str | None = None
    overwrite: bool = False


@dataclass(frozen=True, kw_only=True)
class Session:
    """A run that can begin.

    Attributes:
        record: What is known so far.
        settings: What is sent.
        path: The file.
        note: A sentence about what is kept of an earlier run; None for a new one.
    """

    record: Record
    settings: Settings
    path: Path
    note: str | None = None


def new_session(order: Order, survey: Survey, url: str, environ: Mapping[str, str]) -> Session:
    """Return a run that begins from nothing.

    Raises:
        ConfigError: The file is there already.
    """
    record = Record(
        conditions=_conditions(survey, order.source, order.num_ctx),
        machine=order.machine or probe_machine.machine(url),
        measured_at=date.today().isoformat(),  # noqa: DTZ011 - the date where the probe runs
        environment=probe_machine.settings(environ),
        memory=survey.memory,
        runner=survey.runner,
        wanted=with_needed(order.phases),
        lengths=order.lengths,
    )
    path = result_path(order.output, record, order.machine or probe_machine.place(url))
    if path.exists() and not order.overwrite:
        raise ConfigError(
            f"{path} is there already: go on with it by --resume, overwrite it with --force, or "
            "name another place with --output"
        )
    return Session(
        record=record, settings=_settings(survey, order.source, order.num_ctx), path=path
    )


def resumed_session(path: Path, source: SystemSource | None, survey: Survey) -> Session:
    """Return a run that goes on where a file ends.

    Args:
        path: The file.
        source: The text of --file; None if the file was made with the glossary.
        survey: What the server is now.

    Raises:
        ConfigError: The file is of another kind, or of another server, model, window or text.
    """
    record = read_result(path)
    conditions = record.conditions
    if source is None:
        if conditions.entries is None:
            raise ConfigError(
                f"{path} was measured with {conditions.system_source}, whose text is not kept: "
                "name that file again with --file"
            )
        source = SystemSource(entries=conditions.entries)
    now = _conditions(survey, source, conditions.num_ctx)
    if changed := differences(conditions, now):
        raise ConfigError(
            f"{path} cannot be gone on with, because counts under different conditions do not "
            f"belong together: {'; '.join(changed)}. Begin a new run"
        )
    note = _drop_what_is_not_whole(record)
    return Session(
        record=record,
        settings=_settings(survey, source, conditions.num_ctx),
        path=path,
        note=note,
    )


def _drop_what_is_not_whole(record: Record) -> str | None:
    """Forget what cannot be gone on with, and return a sentence about what is kept."""
    if record.complete and not record.disturbed:
        return None
    if record.disturbed:
        record.forget()
        return "That run was disturbed, so nothing of it is kept: it begins again."
    record.keep_whole_phases()
    kept = ", ".join(record.phases) or "nothing"
    return f"Kept of the earlier run: {kept}. A phase that was broken off begins again."


def _settings(survey: Survey, source: SystemSource, num_ctx: int) -> Settings:
    return Settings(model=survey.model, source=source, num_ctx=num_ctx)


def _conditions(survey: Survey, source: SystemSource, num_ctx: int) -> Conditions:
    return Conditions(
        model=survey.model,
        model_digest=survey.digest,
        ollama=survey.version,
        variant=source.variant,
        entries=source.entries,
        system_source=source.file_name or GLOSSARY,
        assets=source.assets,
        num_ctx=num_ctx,
    )


async def run_session(
    ollama: Ollama,
    session: Session,
    observer: Observer,
    *,
    log: LogSlice | None = None,
    paced: Callable[[Settings], Settings] = lambda settings: settings,
) -> dict[str, Any]:
    """Run it to its end, with the file whole at every moment, and return the object in the file.

    Args:
        ollama: The server.
        session: The run.
        observer: Hears how it goes on.
        log: The server's log from now on; its known lines are put beside the file.
        paced: Changes the settings, for tests that do not want to wait.

    Raises:
        WarmerError: A call failed, another model stays in memory, or a file cannot be written;
            what was measured before is in the file.
    """
    record, path = session.record, session.path
    if session.note:
        observer.note(session.note)
    if record.complete:
        return conclude(record)

    def save() -> None:
        write_result(path, conclude(record))

    goes_on = bool(record.phases or record.sweep)
    save()  # a place that cannot be written to is said before the first minute has passed
    settings = paced(session.settings)
    try:
        await Probe(ollama, settings, record, save=save, observer=observer).run()
    finally:
        if log is not None:
            _keep_log(log, session, goes_on=goes_on)
    save()
    return conclude(record)


def _keep_log(log: LogSlice, session: Session, *, goes_on: bool) -> None:
    """Write the log's known lines beside the result, and take from them what the model is."""
    lines = log.lines()
    reported = reported_by(lines)
    session.record.memory = reported.memory or session.record.memory
    session.record.runner = reported.runner or session.record.runner
    path = log_path(session.path)
    try:
        with path.open("a" if goes_on else "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as err:
        raise WarmerError(
            f"{path}: cannot be written: {err.strerror}. The result itself is complete"
        ) from err
