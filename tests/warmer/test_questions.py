"""Questions: harmless, in the right language, and new each time."""

import pytest

from ollama_warmer import questions
from ollama_warmer.questions import PLACEHOLDER, default_questions, fill


@pytest.mark.parametrize("language", [*questions._QUESTIONS, "pt-BR", "DE", "zh-Hans", "fr_CH"])
def test_confirmation_starts_with_something_new(language: str) -> None:
    """A confirmation differs from the first question, and from all others in its first token."""
    first, confirmation = default_questions(language)

    assert first != confirmation
    assert PLACEHOLDER in first
    assert confirmation.startswith(PLACEHOLDER)


def test_language_is_chosen_by_its_primary_tag() -> None:
    """A region does not matter, an unknown language gets English."""
    assert default_questions("pt-BR") == default_questions("pt")
    assert default_questions("FR") == default_questions("fr")
    assert default_questions("xx") == default_questions("en")


def test_fill() -> None:
    """Each placeholder gets a number of its own; other braces are left alone."""
    filled = {fill("{number} {other} {number}") for _ in range(50)}

    assert len(filled) == 50
    for text in filled:
        first, other, second = text.split()
        assert other == "{other}"
        assert len(first) == len(second) == 4
        assert first.isdigit()
        assert second.isdigit()


@pytest.mark.parametrize("language", questions._QUESTIONS)
def test_no_two_questions_of_a_target_begin_alike(language: str) -> None:
    """Not even by their first digit, which is a token of its own in many models."""
    first, confirmation = default_questions(language)
    for _ in range(50):
        asked: list[str] = []
        for template in (first, confirmation, confirmation):
            asked.append(fill(template, asked))
        assert len({question[0] for question in asked}) == 3


def test_words_in_front_of_the_number() -> None:
    """A person's own question may begin as it likes."""
    assert fill("Is {number} odd?", ["Is 1234 odd?"]).startswith("Is ")
