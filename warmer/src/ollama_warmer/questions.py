"""Makes harmless questions that the server cannot have seen before."""

from collections.abc import Sequence
import re
import secrets

PLACEHOLDER = "{number}"

# Sums need no tool and no device, a short answer is right, and new numbers make them new. They are
# short, because each token of a question is read again.
#
# What a confirmation may not find is a state that an earlier question left behind its own words:
# that says nothing about the prefix. A recurrent model on llama-server keeps one four tokens before
# the end of each prompt, a recurrent one on MLX keeps one where two prompts part, and it keeps none
# at the prefix if they part later. So the confirmation begins with its number: it parts from the
# first question, and from every one with another number, before its first or second token.
_QUESTIONS: dict[str, tuple[str, str]] = {
    "de": ("Was ergibt {number} plus {number}?", "{number} minus {number}?"),
    "en": ("How much is {number} plus {number}?", "{number} minus {number}?"),
    "es": ("¿Cuánto es {number} más {number}?", "{number} menos {number}?"),
    "fr": ("Combien font {number} plus {number} ?", "{number} moins {number} ?"),
    "it": ("Quanto fa {number} più {number}?", "{number} meno {number}?"),
    "nl": ("Hoeveel is {number} plus {number}?", "{number} min {number}?"),
    "pl": ("Ile to jest {number} plus {number}?", "{number} minus {number}?"),
    "pt": ("Quanto é {number} mais {number}?", "{number} menos {number}?"),
}
_FALLBACK = "en"
# Four digits: 9,000 numbers, 81 million sums. A server remembers some hundred prompts, and where a
# token is a digit, as in many models, a number costs no more than four.
_LEAST, _MOST = 1_000, 9_999


def default_questions(language: str) -> tuple[str, str]:
    """Return the templates of the first question and of the confirmation.

    Args:
        language: A language tag such as `de` or `pt-BR`; English stands in for unknown ones.
    """
    primary = re.split("[-_]", language)[0].lower()
    return _QUESTIONS.get(primary, _QUESTIONS[_FALLBACK])


def fill(template: str, earlier: Sequence[str] = ()) -> str:
    """Return the template with a new random number of four digits in each `{number}`.

    Args:
        template: The words, with or without `{number}`.
        earlier: What was asked just before. A question that begins with its number begins with
            another digit than they do, and so with another token, however long tokens are.
    """
    taken = {question[:1] for question in earlier} if template.startswith(PLACEHOLDER) else set()
    while (filled := re.sub(re.escape(PLACEHOLDER), _number, template))[:1] in taken:
        pass
    return filled


def _number(_: re.Match[str]) -> str:
    return str(_LEAST + secrets.randbelow(_MOST - _LEAST + 1))
