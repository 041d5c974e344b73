"""The command against a house that works: what is asked, judged, printed and returned."""

import pytest

from ollama_warmer.round.rounds import CONVERSATION
from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import (
    AGENT,
    COLD,
    KITCHEN,
    TOKEN,
    WARM,
    CommandError,
    House,
    counts,
    error_reply,
    reply,
)


async def test_all_warm_exits_with_zero(house: House, run: Run) -> None:
    """Every target is asked twice and found warm."""
    result = await run(house.url, "--json")

    assert result.exit_code == 0
    assert result.stderr == ""
    report = parsed(result)
    assert report["verdict"] == "warm"
    app, kitchen = report["targets"]
    assert (app["name"], app["agent"], app["device"]) == ("app", AGENT, None)
    assert (kitchen["name"], kitchen["device"], kitchen["verdict"]) == ("kitchen", KITCHEN, "warm")
    assert [step["step"] for step in kitchen["steps"]] == ["warm-up", "confirmation"]
    first = kitchen["steps"][0]
    assert (first["prompt"], first["cached"], first["re_read"]) == (5104, 5080, 24)
    assert 0 <= first["seconds"] < 10
    assert "re-read 24 of 5104 tokens" in kitchen["reason"]


async def test_questions_are_new_and_lonely(house: House, run: Run) -> None:
    """No question and no conversation is used twice, and the device travels with its target."""
    await run(house.url)
    await run(house.url)

    questions = house.questions
    assert len(questions) == 8
    assert len({question["text"] for question in questions}) == 8
    conversations = {question["conversation_id"] for question in questions}
    assert len(conversations) == 8
    assert all(conversation.startswith(CONVERSATION) for conversation in conversations)
    assert [question.get("device_id") for question in questions[:4]] == [
        None,
        None,
        KITCHEN,
        KITCHEN,
    ]
    assert all("device_id" not in question for question in questions[:2])
    assert {question["agent_id"] for question in questions} == {AGENT}
    assert {question["language"] for question in questions} == {"en"}
    assert house.logins == [{"type": "auth", "access_token": TOKEN}] * 2


async def test_target_brings_its_own_words(house: House, run: Run) -> None:
    """Text, language and agent of a target are sent; the placeholder is filled."""
    house.agents.append("conversation.salon")
    await run(
        house.url,
        targets="""
        [[targets]]
        name = "salon"
        agent = "conversation.salon"
        language = "fr"
        text = "Quel jour on est ?"
        confirm_text = "{number}, pair ou impair ?"
        """,
    )

    first, second = house.questions
    assert first["text"] == "Quel jour on est ?"
    assert second["text"].endswith(", pair ou impair ?")
    assert second["text"].split(",")[0].isdigit()
    assert first["agent_id"] == "conversation.salon"
    assert first["language"] == "fr"


async def test_agent_that_asks_no_model(house: House, run: Run) -> None:
    """Home Assistant's own is asked nothing: it would only not understand a sum."""
    result = await run(
        house.url, targets='[[targets]]\nname = "a"\nagent = "conversation.home_assistant"'
    )

    assert result.exit_code == 1
    assert (
        "conversation.home_assistant asks no model: it has no prompt to keep warm" in result.stdout
    )
    assert not house.questions


async def test_only_the_named_targets(house: House, run: Run) -> None:
    """`--target` leaves the others alone."""
    result = await run(house.url, "--json", "--target", "kitchen")

    assert [target["name"] for target in parsed(result)["targets"]] == ["kitchen"]
    assert len(house.questions) == 2
    assert result.stderr == 'Left out by --target: "app"\n'


async def test_unknown_target_name(house: House, run: Run) -> None:
    """`--target` with a name that is not in the file says which there are."""
    result = await run(house.url, "--target", "cellar")

    assert result.exit_code == 2
    assert result.stderr == (
        'Error: There is no target "cellar" in the configuration file: it has "app", "kitchen"\n'
    )
    assert not house.asked


async def test_table_for_people(house: House, run: Run) -> None:
    """Without `--json` a table says the counts, and a sentence each says why."""
    house.answers = [reply(), reply(), reply(COLD), reply(COLD)]

    result = await run(house.url)

    assert result.exit_code == 1
    assert "5,104" in result.stdout
    assert "app: warm, the confirmation re-read 24 of 5104 tokens" in result.stdout
    assert (
        "kitchen: cold, the confirmation re-read 5092 of 5104 tokens, where "
        in result.stdout.replace("\n", " ")
    )
    assert "the agent says prompt changed: the first line holds a clock" in result.stdout


async def test_markup_in_a_name_is_no_markup(house: House, run: Run) -> None:
    """A name in brackets is printed as it is written."""
    result = await run(house.url, targets='[[targets]]\nname = "[red]den[/red]"')

    assert "[red]den[/red]" in result.stdout


UNKNOWN = {
    "no block at all": (
        None,
        (
            "the agent's answer carries no token counts: name the model server's log under "
            "[counts] in the configuration"
        ),
    ),
    "null counts": (
        counts(None, None),
        "the model server did not report how many prompt tokens there were",
    ),
    "null cached count": (
        counts(5104, None, verdict="unknown", reason="Ollama is older than 0.33.3"),
        (
            "the model server did not report how many cached tokens there were: "
            "Ollama is older than 0.33.3"
        ),
    ),
    "another contract version": (
        WARM | {"version": 2},
        (
            "the agent's token counts have version 2 and this warmer reads version 1: update the "
            "older of the two"
        ),
    ),
    "malformed": (
        counts(10, 20, 0),
        (
            "the token counts in the agent's answer are malformed: 10 prompt, 20 cached and 0 "
            "re-read tokens contradict each other"
        ),
    ),
}


@pytest.mark.parametrize("case", UNKNOWN)
async def test_unknown_is_never_warm(house: House, run: Run, case: str) -> None:
    """Without known counts in the confirmation the verdict is unknown and the exit code 1."""
    block, reason = UNKNOWN[case]
    house.answers = [reply(), reply(block), reply(), reply()]

    result = await run(house.url, "--json")

    assert result.exit_code == 1
    report = parsed(result)
    assert [target["verdict"] for target in report["targets"]] == ["unknown", "warm"]
    assert report["verdict"] == "unknown"
    assert report["targets"][0]["reason"] == reason
    assert report["targets"][0]["steps"][1]["cached"] is None


async def test_unknown_warm_up_does_not_matter(house: House, run: Run) -> None:
    """The verdict comes from the confirmation alone."""
    house.answers = [reply(None)]

    assert (await run(house.url)).exit_code == 0


async def test_unknown_count_in_the_table(house: House, run: Run) -> None:
    """A missing count is printed as unknown, not as 0."""
    house.answers = [reply(counts(5104, None)) for _ in range(4)]

    result = await run(house.url)

    assert "unknown" in result.stdout
    assert " 0 " not in result.stdout


async def test_error_answer_of_the_agent(house: House, run: Run) -> None:
    """An answer that is an error fails its target only, and quotes no one."""
    house.answers = [error_reply("unknown", "Sorry, Anna said the vault code is 1234")]

    result = await run(house.url, "--json")

    assert result.exit_code == 1
    report = parsed(result)
    assert [target["verdict"] for target in report["targets"]] == ["failed", "warm"]
    assert report["targets"][0]["reason"] == (
        'the agent answered the warm-up with the error "unknown": look at the logs of Home '
        "Assistant and of the model server"
    )
    assert "vault" not in result.output


async def test_error_answer_without_a_code(house: House, run: Run) -> None:
    """An error answer of an unknown shape is still an error answer."""
    house.answers = [reply(), {"response": {"response_type": "error"}}]

    report = parsed(await run(house.url, "--json"))

    assert report["targets"][0]["verdict"] == "failed"
    assert 'the confirmation with the error "unknown"' in report["targets"][0]["reason"]
    assert [step["step"] for step in report["targets"][0]["steps"]] == ["warm-up"]


async def test_unknown_agent(house: House, run: Run) -> None:
    """An agent that is not there fails its target, with the agents that are."""
    result = await run(
        house.url,
        "--json",
        targets='[[targets]]\nname = "a"\nagent = "conversation.gone"\n[[targets]]\nname = "b"',
    )

    assert result.exit_code == 1
    gone, there = parsed(result)["targets"]
    assert gone["verdict"] == "failed"
    assert gone["reason"] == (
        'Home Assistant has no conversation agent "conversation.gone": it has '
        '"conversation.home_assistant", "conversation.ollama_warm"'
    )
    assert gone["steps"] == []
    assert there["verdict"] == "warm"
    assert {question["agent_id"] for question in house.questions} == {AGENT}


async def test_unknown_device(house: House, run: Run) -> None:
    """A device that is not there fails its target, because Home Assistant would take it."""
    house.devices.remove(KITCHEN)

    result = await run(house.url)

    assert result.exit_code == 1
    assert f'kitchen: failed, Home Assistant has no device "{KITCHEN}"' in result.stdout
    assert len(house.questions) == 2


async def test_house_that_hides_its_devices(house: House, run: Run) -> None:
    """A device that cannot be checked is not taken on trust; the app needs none."""

    def refuse(_: object) -> None:
        raise CommandError("unauthorized", "Unauthorized")

    house.overrides["config/device_registry/list"] = refuse

    report = parsed(await run(house.url, "--json"))

    assert [target["verdict"] for target in report["targets"]] == ["warm", "failed"]
    assert report["targets"][1]["reason"] == (
        "the device cannot be checked, Home Assistant does not list what it has to the user of "
        "this token: Unauthorized (unauthorized)"
    )


async def test_house_that_hides_its_agents(house: House, run: Run) -> None:
    """The same for agents."""

    def refuse(_: object) -> None:
        raise CommandError("unknown_command", "Unknown command.")

    house.overrides["conversation/agent/list"] = refuse

    result = await run(house.url)

    assert result.exit_code == 1
    assert "app, kitchen: failed, the conversation agent cannot be checked" in result.stdout
    assert not house.questions


async def test_question_that_is_refused(house: House, run: Run) -> None:
    """An agent that vanished after the check fails its target with Home Assistant's words."""
    house.answers = [CommandError("invalid_format", "invalid agent ID for agent_id")]

    result = await run(house.url)

    assert result.exit_code == 1
    assert (
        "app: failed, Home Assistant refused the command: invalid agent ID for agent_id "
        "(invalid_format)" in result.stdout
    )
    assert "kitchen: warm" in result.stdout
