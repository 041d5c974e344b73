"""What the weather tool says, in full: of each kind of service, in each language and unit."""

from collections.abc import Callable

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.tools.words import LANGUAGES
from homeassistant.core import HomeAssistant
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM

from .support.skies import Sky, days_and_nights, met_no, meteo_france, open_meteo, set_up, weather

pytestmark = pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")

CLOCK = "It is now Monday 30 November 2026, 15:10."
EVERYTHING: dict[Callable[[], Sky], str] = {
    met_no: f"""\
Now: Cloudy, 8.3 °C, humidity 81%, wind 14 km/h from the southwest, rain 10%
Today, Monday 30: Rainy, 6 to 11 °C, rain 3.4 mm (80%)
15:00-18:00: Cloudy, 8 °C, rain 10%
18:00-21:00: Cloudy, 8 °C, rain 15%
21:00-00:00: Rainy, 8 °C, rain 1.8 mm (60%)
Tomorrow, Tuesday 1: Pouring, 6 to 10 °C, rain 12.6 mm (95%), wind 41 km/h
Wednesday 2: Cloudy, 4 to 8 °C, rain 10%
Thursday 3: Partly cloudy, 0 to 7 °C, no rain
Friday 4: Snowy, -4 to 1 °C, precipitation 4 mm (70%)
Saturday 5: Fog, -4 to 0 °C, rain 5%
Sunday 6: Sunny, -2 to 5 °C, no rain
{CLOCK}""",
    open_meteo: f"""\
Now: Cloudy, 8.3 °C, wind 14 km/h from the southwest, no rain
Today, Monday 30: Rainy, 6 to 11 °C, rain 3.4 mm
16:00-18:00: Cloudy, 8 °C, no rain
18:00-20:00: Cloudy, 8 °C, no rain
20:00-22:00: Rainy, 8 °C, rain 0.6 mm
22:00-00:00: Rainy, 8 °C, rain 1.2 mm
Tomorrow, Tuesday 1: Pouring, 6 to 10 °C, rain 12.6 mm, wind 41 km/h
Wednesday 2: Cloudy, 4 to 8 °C, no rain
Thursday 3: Partly cloudy, 0 to 7 °C, no rain
Friday 4: Snowy, -4 to 1 °C, precipitation 4 mm
Saturday 5: Fog, -4 to 0 °C, no rain
Sunday 6: Sunny, -2 to 5 °C, no rain
{CLOCK}""",
    meteo_france: f"""\
Now: Partly cloudy, 8.3 °C, feels like 5.1 °C, humidity 81%, wind 14 km/h
Today, Monday 30: Rainy, 6 to 11 °C, rain 3.4 mm
16:00-18:00: Cloudy, 8 °C
18:00-20:00: Cloudy, 8 °C
20:00-22:00: Rainy, 8 °C
22:00-00:00: Rainy, 8 °C
Tomorrow, Tuesday 1: Pouring, 6 to 10 °C, rain 12.6 mm
Wednesday 2: Cloudy, 4 to 8 °C, no rain
Thursday 3: Partly cloudy, 0 to 7 °C, no rain
Friday 4: Snowy, -4 to 1 °C, precipitation 4 mm
Saturday 5: Fog, -4 to 0 °C, no rain
Sunday 6: Sunny, -2 to 5 °C, no rain
{CLOCK}""",
    days_and_nights: f"""\
Now: Cloudy, 8.3 °C, humidity 81%, wind 14 km/h from the southwest
Today, Monday 30: Rainy, 6 to 11 °C, rain 80%
Tomorrow, Tuesday 1: Pouring, 6 to 10 °C, rain 95%, wind 41 km/h
Wednesday 2: Cloudy, 4 to 8 °C, rain 10%
Thursday 3: Partly cloudy, 0 to 7 °C, no rain
Friday 4: Snowy, -4 to 1 °C, precipitation 70%
Saturday 5: Fog, -4 to 0 °C, rain 5%
Sunday 6: Sunny, -2 to 5 °C, no rain
{CLOCK}""",
}
NOW = "Now: Cloudy, 8.3 °C, humidity 81%, wind 14 km/h from the southwest"
TIMES = {
    "now": f"""\
{NOW}, gusts 30 km/h, rain 10%
{CLOCK}""",
    "today": f"""\
{NOW}, gusts 30 km/h, rain 10%
Today, Monday 30: Rainy, 6 to 11 °C, rain 3.4 mm (80%), wind 24 km/h
14:00-16:00: Cloudy, 8 °C, rain 10%, wind 14 km/h
16:00-18:00: Cloudy, 8 °C, rain 10%, wind 14 km/h
18:00-20:00: Cloudy, 8 °C, rain 15%, wind 15 km/h
20:00-22:00: Rainy, 8 °C, rain 0.6 mm (60%), wind 19 km/h
22:00-00:00: Rainy, 8 °C, rain 1.2 mm (60%), wind 19 km/h
{CLOCK}""",
    "tonight": f"""\
18:00-20:00: Cloudy, 8 °C, rain 15%, wind 15 km/h
20:00-22:00: Rainy, 8 °C, rain 0.6 mm (60%), wind 19 km/h
22:00-00:00: Rainy, 8 °C, rain 1.2 mm (60%), wind 19 km/h
00:00-02:00: Lightning, rainy, 7 °C, rain 6.2 mm (90%), wind 33 km/h
02:00-04:00: Lightning, rainy, 7 °C, rain 3.1 mm (90%), wind 33 km/h
04:00-06:00: Partly cloudy, 7 °C, rain 5%, wind 12 km/h
{CLOCK}""",
    "tomorrow": f"""\
Tomorrow, Tuesday 1: Pouring, 6 to 10 °C, rain 12.6 mm (95%), wind 41 km/h
00:00-03:00: Lightning, rainy, 7 °C, rain 9.3 mm (90%), wind 33 km/h
03:00-06:00: Partly cloudy, 7 °C, rain 5%, wind 12 km/h
06:00-09:00: Cloudy, 8 °C, rain 10%, wind 14 km/h
09:00-12:00: Cloudy, 8 °C, rain 15%, wind 15 km/h
12:00-15:00: Rainy, 8 °C, rain 1.8 mm (60%), wind 19 km/h
15:00-18:00: Lightning, rainy, 7 °C, rain 9.3 mm (90%), wind 33 km/h
18:00-21:00: Partly cloudy, 7 °C, rain 5%, wind 12 km/h
21:00-00:00: Cloudy, 8 °C, rain 10%, wind 14 km/h
{CLOCK}""",
    "friday": f"""\
Friday 4: Snowy, -4 to 1 °C, precipitation 4 mm (70%), wind 18 km/h
{CLOCK}""",
    "week": f"""\
{NOW}
Today, Monday 30: Rainy, 6 to 11 °C, rain 3.4 mm (80%)
Tomorrow, Tuesday 1: Pouring, 6 to 10 °C, rain 12.6 mm (95%), wind 41 km/h
Wednesday 2: Cloudy, 4 to 8 °C, rain 10%
Thursday 3: Partly cloudy, 0 to 7 °C, no rain
Friday 4: Snowy, -4 to 1 °C, precipitation 4 mm (70%)
Saturday 5: Fog, -4 to 0 °C, rain 5%
Sunday 6: Sunny, -2 to 5 °C, no rain
{CLOCK}""",
}
WEEK = {
    "fr": """\
Maintenant : Nuageux, 8,3 °C, humidité 81 %, vent 14 km/h du sud-ouest
Aujourd\N{RIGHT SINGLE QUOTATION MARK}hui, lundi 30 : Pluvieux, 6 à 11 °C, pluie 3,4 mm (80 %)
Demain, mardi 1er : Averses, 6 à 10 °C, pluie 12,6 mm (95 %), vent 41 km/h
Mercredi 2 : Nuageux, 4 à 8 °C, pluie 10 %
Jeudi 3 : Éclaircies, 0 à 7 °C, pas de pluie
Vendredi 4 : Neigeux, -4 à 1 °C, précipitations 4 mm (70 %)
Samedi 5 : Brouillard, -4 à 0 °C, pluie 5 %
Dimanche 6 : Ensoleillé, -2 à 5 °C, pas de pluie
Nous sommes le lundi 30 novembre 2026, il est 15:10.""",
    "de": """\
Jetzt: Bewölkt, 8,3 °C, Luftfeuchte 81 %, Wind 14 km/h aus Südwesten
Heute, Montag 30.: Regnerisch, 6 bis 11 °C, Regen 3,4 mm (80 %)
Morgen, Dienstag 1.: Strömender Regen, 6 bis 10 °C, Regen 12,6 mm (95 %), Wind 41 km/h
Mittwoch 2.: Bewölkt, 4 bis 8 °C, Regen 10 %
Donnerstag 3.: Teilweise bewölkt, 0 bis 7 °C, kein Regen
Freitag 4.: Schneefall, -4 bis 1 °C, Niederschlag 4 mm (70 %)
Samstag 5.: Nebel, -4 bis 0 °C, Regen 5 %
Sonntag 6.: Sonnig, -2 bis 5 °C, kein Regen
Aktuell: Montag, 30. November 2026, 15:10 Uhr.""",
    "es": """\
Ahora: Nublado, 8,3 °C, humedad 81 %, viento 14 km/h del suroeste
Hoy, lunes 30: Lluvioso, 6 a 11 °C, lluvia 3,4 mm (80 %)
Mañana, martes 1: Lluvia torrencial, 6 a 10 °C, lluvia 12,6 mm (95 %), viento 41 km/h
Miércoles 2: Nublado, 4 a 8 °C, lluvia 10 %
Jueves 3: Parcialmente nublado, 0 a 7 °C, sin lluvia
Viernes 4: Nevado, -4 a 1 °C, precipitación 4 mm (70 %)
Sábado 5: Niebla, -4 a 0 °C, lluvia 5 %
Domingo 6: Soleado, -2 a 5 °C, sin lluvia
Ahora es lunes, 30 de noviembre de 2026, 15:10.""",
    "nl": """\
Nu: Bewolkt, 8,3 °C, luchtvochtigheid 81%, wind 14 km/h uit het zuidwesten
Vandaag, maandag 30: Regenachtig, 6 tot 11 °C, regen 3,4 mm (80%)
Morgen, dinsdag 1: Regen, 6 tot 10 °C, regen 12,6 mm (95%), wind 41 km/h
Woensdag 2: Bewolkt, 4 tot 8 °C, regen 10%
Donderdag 3: Half bewolkt, 0 tot 7 °C, geen regen
Vrijdag 4: Sneeuwachtig, -4 tot 1 °C, neerslag 4 mm (70%)
Zaterdag 5: Mist, -4 tot 0 °C, regen 5%
Zondag 6: Zonnig, -2 tot 5 °C, geen regen
Het is nu maandag 30 november 2026, 15:10 uur.""",
}
FAHRENHEIT = f"""\
Now: Cloudy, 47 °F, humidity 81%, wind 9 mph from the southwest, gusts 19 mph, rain 10%
Today, Monday 30: Rainy, 43 to 53 °F, rain 0.13 in (80%), wind 15 mph
14:00-16:00: Cloudy, 47 °F, rain 10%, wind 9 mph
16:00-18:00: Cloudy, 47 °F, rain 10%, wind 9 mph
18:00-20:00: Cloudy, 47 °F, rain 15%, wind 9 mph
20:00-22:00: Rainy, 46 to 47 °F, rain 0.02 in (60%), wind 12 mph
22:00-00:00: Rainy, 46 °F, rain 0.04 in (60%), wind 12 mph
{CLOCK}"""


@pytest.fixture(autouse=True)
async def in_paris(hass: HomeAssistant) -> None:
    """Put the house into a zone that is not UTC."""
    await hass.config.async_set_time_zone("Europe/Paris")


@pytest.mark.parametrize("sky", EVERYTHING)
async def test_everything(hass: HomeAssistant, sky: Callable[[], Sky]) -> None:
    """Without a time asked for, today's hours and the week are given, whatever the service."""
    await set_up(hass, sky())
    assert await weather(hass) == EVERYTHING[sky]


@pytest.mark.parametrize("when", TIMES)
async def test_each_time(hass: HomeAssistant, when: str) -> None:
    """Each time that can be asked for has its own answer."""
    await set_up(hass, met_no())
    assert await weather(hass, when=when) == TIMES[when]


@pytest.mark.parametrize("language", WEEK)
async def test_each_language(hass: HomeAssistant, language: str) -> None:
    """The week is given in the language of whoever asks."""
    await set_up(hass, met_no())
    assert await weather(hass, language, when="week") == WEEK[language]


def test_every_language_has_its_week() -> None:
    """English is seen above."""
    assert {"en", *WEEK} == set(LANGUAGES)


async def test_imperial(hass: HomeAssistant) -> None:
    """The units are those that the weather entity shows."""
    hass.config.units = US_CUSTOMARY_SYSTEM
    await set_up(hass, met_no())
    assert await weather(hass, when="today") == FAHRENHEIT


async def test_the_night_of_a_service_without_hours(hass: HomeAssistant) -> None:
    """Tonight is then the coming night, or after midnight the running one."""
    sky = days_and_nights()
    await set_up(hass, sky)
    text = await weather(hass, when="tonight")
    assert text.splitlines()[0] == "Tonight: Clear, night, 6 °C, rain 80%, wind 24 km/h"


async def test_the_running_night(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """After midnight, tonight is the night that runs, though it began yesterday."""
    await set_up(hass, days_and_nights())
    freezer.move_to("2026-12-01 01:00:00+00:00")
    text = await weather(hass, when="tonight")
    assert text.splitlines()[0] == "Tonight: Clear, night, 6 °C, rain 80%, wind 24 km/h"


async def test_a_day_that_has_only_its_night_left(hass: HomeAssistant) -> None:
    """In the evening today is what is left of it."""
    await set_up(hass, days_and_nights(first_night=True))
    text = await weather(hass, when="today")
    assert text.splitlines()[1] == "Today, Monday 30: Clear, night, 6 °C, rain 80%, wind 24 km/h"
