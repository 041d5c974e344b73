"""Where a run of the probe is kept, under the published names, and how it is taken up again."""

from collections.abc import Iterable, Mapping
import json
import os
from pathlib import Path
import re
import tempfile
from typing import Any

from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.lab.probe.plan import SWEEP_CALLS, Call, Kind, Phase, calls_of
from ollama_warmer.lab.probe.record import PROBE, Conditions, Record, Taken

_ANOTHER = "Begin a new run in another file, or name the file that belongs to this one"


def result_path(output: Path, record: Record, place: str) -> Path:
    """Return the file of a run: `output` itself if it is called `.json`, else one in that folder.

    Args:
        output: A file or a folder.
        record: The run.
        place: Words that distinguish the machine from others, such as `gpu-01-64gb`.
    """
    if output.suffix == ".json":
        return output
    conditions = record.conditions
    numbers = re.sub(r"[^0-9a-z]", "", conditions.ollama.lower())
    run = "ninephase" if set(record.wanted) == set(Phase) else f"{len(record.wanted)}phases"
    folder = output / f"results-{_name(place)}-ollama{numbers}" / _name(conditions.model)
    return folder / f"{PROBE}-{conditions.variant}-{run}.json"


def log_path(result: Path) -> Path:
    """Return the file beside a result that the server's log lines go to."""
    return result.with_name(f"{result.stem.replace(PROBE, 'server-log')}.txt")


def _name(words: str) -> str:
    """Return words as a part of a path."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", words).strip("._") or "unknown"


def write_result(path: Path, run: Mapping[str, Any]) -> None:
    """Write a run, so that the file is whole at every moment.

    Raises:
        WarmerError: It cannot be written.
    """
    text = json.dumps(run, ensure_ascii=False, indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(text)
        try:
            # What mkstemp makes is for its owner alone; a result is for whoever reads the folder.
            Path(file.name).chmod(0o666 & ~_umask())
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
    except OSError as err:
        raise WarmerError(
            f"{path}: cannot be written: {err.strerror}. Name another place with --output"
        ) from err


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def read_result(path: Path) -> Record:
    """Return the run that a file holds, to go on with it.

    Raises:
        ConfigError: It cannot be read, or is none of this probe's.
    """
    try:
        raw = json.loads(path.read_bytes())
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be read: {err.strerror}. Name the file of an interrupted run with "
            "--resume"
        ) from err
    except (ValueError, RecursionError) as err:
        raise ConfigError(f"{path}: is not JSON: {err}. {_ANOTHER}") from err
    try:
        return _record(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise ConfigError(
            f"{path}: is not a result that this program can go on with ({type(err).__name__}: "
            f"{err}). {_ANOTHER}"
        ) from err


def _record(raw: Mapping[str, Any]) -> Record:
    if raw["probe"] != PROBE:
        raise ValueError(f"its probe is not {PROBE}")
    summary = raw["summary"]
    passed = {(call["case"], call["condition"]): call["pass"] is True for call in raw["calls"]}
    conditions = Conditions(
        model=raw["model"],
        model_digest=raw["modelDigest"],
        ollama=raw["ollama"],
        variant=raw["variant"],
        entries=summary["glossaryEntries"],
        system_source=summary["systemSource"],
        assets=raw["assets"],
        num_ctx=summary["numCtx"],
    )
    return Record(
        conditions=conditions,
        machine=raw["machine"],
        measured_at=raw["measuredAt"],
        environment=summary["environment"],
        memory=raw["memory"],
        runner=raw["runner"],
        wanted=tuple(Phase(phase) for phase in raw["phases"]),
        lengths=tuple(int(length) for length in raw["lengths"]),
        phases={
            phase: _taken(summary[phase.value], calls_of(phase), passed)
            for phase in Phase
            if phase.value in summary
        },
        sweep={
            int(one["glossaryEntries"]): _taken(one["calls"], SWEEP_CALLS, None)
            for one in raw["sweep"]
        },
        disturbed=[str(why) for why in raw["disturbed"]],
    )


def _taken(
    rows: Iterable[Mapping[str, Any]],
    calls: Iterable[Call],
    passed: Mapping[tuple[str, str], bool] | None,
) -> list[Taken]:
    """Return what a list of the summary says, as far as it is the plan's.

    Args:
        rows: The objects of the list.
        calls: The plan's calls of that list.
        passed: Whether each call was answered; None where that is known by its counts.
    """
    found = []
    for row, call in zip(rows, calls, strict=False):
        if row["label"] != call.role:
            raise ValueError(f"{row['label']} stands where {call.role} belongs")
        counted = row["prompt"] is not None and call.kind is not Kind.ABANDONED
        done = counted if passed is None else passed[call.phase.value, call.role]
        found.append(
            Taken(
                call=call,
                prompt=row["prompt"],
                cached=row["cached"],
                prefill_ms=row["prefillMs"],
                total_ms=row["totalMs"],
                reply_digest=row["replyDigest"],
                reply_chars=row["replyChars"],
                passed=done,
            )
        )
    return found


def differences(old: Conditions, new: Conditions) -> list[str]:
    """Return in words what keeps two runs from being one."""
    rows = [
        ("model", old.model, new.model),
        ("Ollama's version", old.ollama, new.ollama),
        ("system text", old.variant, new.variant),
        ("prompt file", dict(old.assets), dict(new.assets)),
        ("context window", old.num_ctx, new.num_ctx),
    ]
    if None not in {old.model_digest, new.model_digest}:
        rows.append(("model's build", old.model_digest, new.model_digest))
    return [f"the {what} was {before} and is {now}" for what, before, now in rows if before != now]
