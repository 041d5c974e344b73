"""Makes harmless questions that the server cannot have seen before."""

import re
import secrets

PLACEHOLDER = "{number}"

# Sums need no tool and no device, a short answer is right, and new numbers make them new. The
# confirmation begins with its number, so that it differs from every earlier question in its first
# token: a question that begins like an old one could be served from that one's own checkpoint,
# which says nothing about the prefix.
_QUESTIONS: dict[str, tuple[str, str]] = {
    "de": ("Was ergibt {number} plus {number}?", "{number} minus {number}, was ergibt das?"),
    "en": ("How much is {number} plus {number}?", "{number} minus {number}, how much is that?"),
    "es": ("¿Cuánto es {number} más {number}?", "{number} menos {number}, ¿cuánto es?"),
    "fr": ("Combien font {number} plus {number} ?", "{number} moins {number}, combien ça fait ?"),
    "it": ("Quanto fa {number} più {number}?", "{number} meno {number}, quanto fa?"),
    "nl": ("Hoeveel is {number} plus {number}?", "{number} min {number}, hoeveel is dat?"),
    "pl": ("Ile to jest {number} plus {number}?", "{number} minus {number}, ile to jest?"),
    "pt": ("Quanto é {number} mais {number}?", "{number} menos {number}, quanto é?"),
}
_FALLBACK = "en"


def default_questions(language: str) -> tuple[str, str]:
    """Return the templates of the first question and of the confirmation.

    Args:
        language: A language tag such as `de` or `pt-BR`; English stands in for unknown ones.
    """
    primary = re.split("[-_]", language)[0].lower()
    return _QUESTIONS.get(primary, _QUESTIONS[_FALLBACK])


def fill(template: str) -> str:
    """Return the template with a new random number of six digits in each `{number}`."""
    return re.sub(
        re.escape(PLACEHOLDER), lambda _: str(100_000 + secrets.randbelow(900_000)), template
    )
