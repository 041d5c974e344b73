"""`ollama-warmer probe`: what a model build does with a prompt that it has read before."""

import asyncio
from collections.abc import Iterable, Mapping
import json
import os
from pathlib import Path
from typing import Any

import click
from rich.console import Console
import voluptuous as vol

from ollama_warmer.commands.shared import FILE, confirm
from ollama_warmer.config import checks
from ollama_warmer.config.config import OLLAMA_URL, OllamaConfig, load_config
from ollama_warmer.errors import ConfigError, ExitCode, WarmerError
from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.files import read_result
from ollama_warmer.lab.probe.group import Group
from ollama_warmer.lab.probe.log import LogSlice
from ollama_warmer.lab.probe.plan import Phase
from ollama_warmer.lab.probe.progress import Bar
from ollama_warmer.lab.probe.prompts import ENTRIES, MOST_ENTRIES, SystemSource, from_file
from ollama_warmer.lab.probe.record import Record
from ollama_warmer.lab.probe.report import print_run
from ollama_warmer.lab.probe.runner import NUM_CTX
from ollama_warmer.lab.probe.session import (
    Order,
    Session,
    new_session,
    resumed_session,
    run_session,
)
from ollama_warmer.lab.probe.survey import Survey, look_at
from ollama_warmer.ollama.client import open_ollama
from ollama_warmer.screen import say, show_json

INTERRUPTED = 130
# Options that describe a new run; one that is taken up again has them in its file.
_OF_A_NEW_RUN = (*("model", "entries", "num_ctx", "phases", "sweep", "output", "machine", "force"),)


def _lengths(_: object, __: object, value: str | None) -> tuple[int, ...]:
    """Return the lengths of the sweep, in order."""
    try:
        lengths = sorted({int(length) for length in value.split(",")}) if value else []
    except ValueError as err:
        raise click.BadParameter("write numbers with commas, such as 100,150,200,300,450") from err
    if any(not 1 <= length <= MOST_ENTRIES for length in lengths):
        raise click.BadParameter(f"each length is from 1 to {MOST_ENTRIES} entries")
    return tuple(lengths)


@click.command()
@click.option("--url", help="Web address of Ollama, instead of the configuration's.")
@click.option("--model", help="Model, instead of the configuration's.")
@click.option("--config", "config_file", type=FILE, help="Configuration (TOML) with [ollama].")
@click.option(
    "--entries", type=click.IntRange(1, MOST_ENTRIES), help=f"Length of the glossary ({ENTRIES})."
)
@click.option("--file", "text_file", type=FILE, help="System text, instead of a glossary.")
@click.option("--num-ctx", type=click.IntRange(min=1), help=f"Context window ({NUM_CTX}).")
@click.option(
    "--phase",
    "phases",
    type=click.Choice([phase.value for phase in Phase]),
    multiple=True,
    help="Only this phase and the ones it needs; may be given again.",
)
@click.option("--sweep", callback=_lengths, help="Glossary lengths, such as 100,150,200,300,450.")
@click.option("--output", type=FILE, help="Folder, or file called .json (the current folder).")
@click.option("--force", is_flag=True, help="Overwrite a result that is there.")
@click.option("--resume", type=FILE, help="Go on with the run in this file.")
@click.option("--machine", help="What it is measured on, in words, for the result.")
@click.option("--log", type=FILE, help="Log of the model server: known lines go to the result.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of tables.")
@click.option("--report", type=FILE, help="Write a page with figures to this file, too.")
@click.option("--yes", is_flag=True, help="Do not ask before the model server is kept busy.")
@click.pass_context
def probe(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - click's own values
    """Measure what a new conversation, two users and an abandoned call cost on a model.

    Sends 39 calls in nine phases, one after the other, and counts the tokens that are re-read. Says
    which group the build belongs to by these counts, and what to set. It is no warm-up: it unloads
    the model before and after, keeps the server busy for minutes, and questions that people ask
    meanwhile wait and spoil it. The result is written after every call, so that a run that is
    interrupted can be gone on with by --resume.

    Some phases need others before them, because a call costs what the server has read before it:
    `new-question` needs `identical-repeat`; `growing-conversation`, `interleaved-conversations` and
    `second-branch` need both; `interleaved` needs these and `growing-conversation`; `ordering`
    needs both and `retry-after-abort`, which needs `identical-repeat`; `first-divergence` needs
    none. They are run, too.

    Exit codes: 0 measured; 1 disturbed, failed or of no known group; 2 wrong option or
    configuration; 130 interrupted.
    """
    try:
        code: int = _probe(options)
    except WarmerError as err:
        say(f"Error: {err}")
        code = err.exit_code
    context.exit(code)


def _probe(options: Mapping[str, Any]) -> int:
    _check_options(options)
    report: Path | None = options["report"]
    if report is not None:
        # Drawing needs a library that only those who want a page have.
        from ollama_warmer.pages import check, write_probe_page  # noqa: PLC0415 - as said above

        check(report)
    record = read_result(options["resume"]) if options["resume"] else None
    if record is not None and record.complete and not record.disturbed:
        run = conclude(record)
    else:
        finished = _measure(options, record)
        if finished is None:
            return INTERRUPTED
        run = finished
    _show(run, json_wanted=options["json_wanted"])
    if report is not None:
        write_probe_page(report, run)
    unknown = run["group"] == Group.UNKNOWN and set(run["phases"]) == set(Phase)
    return ExitCode.NOT_ALL_WARM if run["disturbed"] or unknown else ExitCode.ALL_WARM


def _check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other."""
    if options["resume"]:
        _refuse("--resume takes them from its file", options, _OF_A_NEW_RUN)
    if options["text_file"]:
        _refuse("--file takes the place of the glossary", options, ("entries", "sweep"))


def _refuse(why: str, options: Mapping[str, Any], names: Iterable[str]) -> None:
    written = {"num_ctx": "num-ctx", "phases": "phase"}
    if given := [name for name in names if options[name]]:
        shown = ", ".join(f"--{written.get(name, name)}" for name in given)
        raise ConfigError(f"Leave out {shown}: {why}")


def _measure(options: Mapping[str, Any], record: Record | None) -> dict[str, Any] | None:
    """Return the result of a run; None if it was interrupted."""
    url, model = _server(options)
    if record is not None:
        model = record.conditions.model
    if model is None:
        raise ConfigError("Name the model with --model, or as model under [ollama]")
    log = LogSlice(options["log"]) if options["log"] else None
    source = from_file(options["text_file"]) if options["text_file"] else None
    survey = asyncio.run(_survey(url, model))
    session = _session(options, url, source, survey)
    _confirm(url, survey, yes=options["yes"])
    say(f"Result: {session.path}")
    try:
        return asyncio.run(_run(url, session, log))
    except KeyboardInterrupt:
        say(f"Interrupted. {_go_on(url, session.path)}")
        return None
    except WarmerError:
        say(_go_on(url, session.path))
        raise
    finally:
        say("The prompts of the house are cold now: run `ollama-warmer warm`")


def _go_on(url: str, path: Path) -> str:
    at = "" if url == OLLAMA_URL else f"--url {url} "
    return f"What was measured is in {path}: go on by `ollama-warmer probe {at}--resume {path}`"


def _server(options: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return address and model, from the options or else the configuration."""
    file: Path | None = options["config_file"]
    configured = (load_config(file).ollama if file else None) or OllamaConfig()
    if configured.num_ctx not in {None, NUM_CTX} and not (options["num_ctx"] or options["resume"]):
        say(
            f"Note: the agent has a window of {configured.num_ctx} tokens, and the batch can "
            f"depend on it: with --num-ctx {configured.num_ctx} the probe measures that, with "
            f"{NUM_CTX} what was published"
        )
    option = "--url"
    try:
        url = configured.url if options["url"] is None else checks.web_address(options["url"])
        option = "--model"
        model = options["model"]
        model = configured.model if model is None else checks.identifier(model)
    except vol.Invalid as err:
        raise ConfigError(f"{option} {err.msg}") from err
    return url, model


def _session(
    options: Mapping[str, Any], url: str, source: SystemSource | None, survey: Survey
) -> Session:
    if options["resume"]:
        return resumed_session(options["resume"], source, survey)
    order = Order(
        source=source or SystemSource(entries=options["entries"] or ENTRIES),
        num_ctx=options["num_ctx"] or NUM_CTX,
        phases=tuple(map(Phase, options["phases"])) or tuple(Phase),
        lengths=options["sweep"],
        output=options["output"] or Path(),
        machine=options["machine"],
        overwrite=options["force"],
    )
    return new_session(order, survey, url, os.environ)


def _confirm(url: str, survey: Survey, *, yes: bool) -> None:
    """Ask whether the house can do without its model for a while."""
    loaded = ", ".join(survey.loaded) or "nothing"
    warning = (
        f"The probe unloads {survey.model} at {url}, keeps the server busy for about as long as "
        "ten cold prompts take (a minute on a fast machine, half an hour on a slow one), and "
        f"unloads it again. Questions that people ask meanwhile wait. Loaded now: {loaded}."
    )
    if not yes:
        confirm(warning)


async def _survey(url: str, model: str) -> Survey:
    async with open_ollama(url) as ollama:
        return await look_at(ollama, model)


async def _run(url: str, session: Session, log: LogSlice | None) -> dict[str, Any]:
    with Bar(Console(stderr=True)) as bar:
        async with open_ollama(url) as ollama:
            return await run_session(ollama, session, bar, log=log)


def _show(run: Mapping[str, Any], *, json_wanted: bool) -> None:
    if json_wanted:
        show_json(json.dumps(run, ensure_ascii=False, indent=2))
    else:
        print_run(run, Console())
