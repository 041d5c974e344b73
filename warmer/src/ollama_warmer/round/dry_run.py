"""Shows what a round would ask where, and asks no agent."""

from collections.abc import Sequence
from dataclasses import dataclass
import json

from rich.console import Console
from rich.text import Text

from ollama_warmer.config.config import Config, Target
from ollama_warmer.errors import ExitCode
from ollama_warmer.house import inventory
from ollama_warmer.house.client import connect
from ollama_warmer.house.credentials import Token
from ollama_warmer.questions import fill
from ollama_warmer.words import printable


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What one target would be asked.

    Attributes:
        target: The target.
        problem: Why the target would be missed; none if it would be asked.
    """

    target: Target
    problem: str | None


async def plan(config: Config, token: Token, targets: Sequence[Target]) -> tuple[Plan, ...]:
    """Return what a round would do, after a look at the agents and devices that there are.

    Raises:
        CannotConnect: Home Assistant cannot be reached.
        AuthenticationFailed: Home Assistant refused the token.
        NotUnderstood: Home Assistant answers in an unknown shape.
    """
    server = config.home_assistant
    async with connect(server.url, token) as home:
        await home.wait_until_running(server.start_timeout)
        there = await inventory.take(home)
    return tuple(Plan(target=target, problem=there.problem(target)) for target in targets)


def exit_code(plans: Sequence[Plan]) -> ExitCode:
    """Return what the command ends with."""
    missed = any(each.problem for each in plans)
    return ExitCode.NOT_ALL_WARM if missed else ExitCode.ALL_WARM


def plan_as_json(plans: Sequence[Plan]) -> str:
    """Return the plans as a JSON object.

    Its shape: `{"dry_run": true, "targets": [{"name", "agent", "device", "language", "questions",
    "problem"}]}`; the numbers in the questions are new each time.
    """
    targets = [
        {
            "name": each.target.name,
            "agent": each.target.agent,
            "device": each.target.device,
            "language": each.target.language,
            "questions": _questions(each.target),
            "problem": each.problem,
        }
        for each in plans
    ]
    return json.dumps({"dry_run": True, "targets": targets}, ensure_ascii=False, indent=2)


def print_plan(plans: Sequence[Plan], console: Console) -> None:
    """Print the plans, a paragraph for each target; a problem that all have stands below them."""
    problems = {each.problem for each in plans}
    shared = problems.pop() if len(plans) > 1 and len(problems) == 1 else None
    for each in plans:
        target = each.target
        where = "no device" if target.device is None else f"device {target.device}"
        lines = [f": {target.agent}, {where}, language {target.language}"]
        if each.problem is None:
            lines += [f"  would ask: {question}" for question in _questions(target)]
        elif shared is None:
            lines.append(f"  would fail: {each.problem}")
        style = "bold red" if each.problem else "green"
        console.print(
            Text.assemble((printable(target.name), style), "\n".join(lines)), soft_wrap=True
        )
    if shared is not None:
        console.print(Text(f"All would fail: {shared}"), soft_wrap=True)
    console.print("Nothing was asked.")


def _questions(target: Target) -> list[str]:
    first = fill(target.text)
    return [first, fill(target.confirm_text, [first])]
