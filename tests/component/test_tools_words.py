"""The words of the tools: complete in every language, and the right ones for whoever asks."""

import string

import pytest

from custom_components.ollama_warm.tools import words as module
from custom_components.ollama_warm.tools.when import OFFERED
from custom_components.ollama_warm.tools.words import LANGUAGES, async_names_of_times, async_words
from homeassistant.core import HomeAssistant

ENGLISH = module._read("en")


def placeholders(text: str) -> list[str]:
    """Return the names of the values that a text wants."""
    return sorted(field for _, field, _, _ in string.Formatter().parse(text) if field is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_complete(language: str) -> None:
    """Each language has what English has, with the same values to fill in."""
    data = module._read(language)
    assert list(data) == list(ENGLISH)
    for group in ("texts", "errors"):
        assert list(data[group]) == list(ENGLISH[group])
        for key, text in data[group].items():
            assert placeholders(text) == placeholders(ENGLISH[group][key]), key
    assert list(data["when"]) == list(ENGLISH["when"])
    assert [len(data[group]) for group in ("weekdays", "months", "directions")] == [7, 12, 8]


def test_languages() -> None:
    """There is a file for each language, and no other one."""
    assert {path.stem for path in module._FOLDER.glob("*.json")} == set(LANGUAGES)


async def test_names_mean_one_thing(hass: HomeAssistant) -> None:
    """No name means one time in one language and another one in another."""
    names = await async_names_of_times(hass)
    for data in map(module._read, LANGUAGES):
        for ours, theirs in data["when"].items():
            assert {names[name] for name in theirs} == {ours}
    assert {*OFFERED} <= {name.lower() for name in names}


@pytest.mark.parametrize(
    ("language", "weekday", "cloudy"),
    [
        ("en", "Monday", "Cloudy"),
        ("en-GB", "Monday", "Cloudy"),
        ("fr-CA", "lundi", "Nuageux"),
        ("de_CH", "Montag", "Bewölkt"),
        ("es-419", "lunes", "Nublado"),
        ("nl-BE", "maandag", "Bewolkt"),
        # Home Assistant's words for the sky, ours in English.
        ("fi", "Monday", "Pilvistä"),
        ("pt-BR", "Monday", "Nublado"),
        ("tlh", "Monday", "Cloudy"),
    ],
)
async def test_language_of_whoever_asks(
    hass: HomeAssistant, language: str, weekday: str, cloudy: str
) -> None:
    """A region has its language's words, and a language without words of ours is not mute."""
    words = await async_words(hass, language)
    assert (words.weekdays[0], words.conditions["cloudy"]) == (weekday, cloudy)


async def test_language_of_the_house(hass: HomeAssistant) -> None:
    """Who asks in no language is answered in the one of the house."""
    hass.config.language = "nl"
    assert (await async_words(hass, None)).weekdays[0] == "maandag"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(8.25, 1, "8,2"), (8.0, 1, "8"), (-0.3, 0, "0"), (-0.04, 1, "0"), (0.126, 2, "0,13")],
)
async def test_numbers(hass: HomeAssistant, value: float, digits: int, text: str) -> None:
    """Numbers have the mark of their language, and no more digits than they need."""
    assert (await async_words(hass, "fr")).number(value, digits) == text
