"""Whether a text names a thing, apart from any Home Assistant."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from custom_components.ollama_warm.agent.names import Name, Unsaid, names_in

GONE = datetime(2026, 11, 30, 12, tzinfo=UTC)
BEFORE = GONE - timedelta(minutes=1)

NAMED = [
    ("Porch", "The Porch is on."),
    ("Porch", "the porch, please"),
    ("Porch", "PORCH"),
    ("Porch", "The porch's on"),
    ("Porch", '{"name":"Porch"}'),
    ("Porch light", "porch  light"),
    ("Porch light", "Porch\nlight"),
    ("Porch light", "porch-light on"),
    ("Porch light", "the porch_light"),
    ("porch-light", "Porch light"),
    ("light.porch", "I set light.porch to on."),
    ("script__good_night", "I call script__good_night now"),
    ("Tom's lamp", "Tom\u2019s Lamp"),
    ("Spot 1", "Spot 1, Spot 2"),
    ("Spot 1", "spot 1."),
    ("Küche", "die KÜCHE"),
    ("Küche", "die Ku\u0308che"),
    ("Küche", "kuche"),
    ("Küche", '{"name": "K\\u00fcche"}'),
    ("Straße", "STRASSE"),
    ("I\u015f\u0131k", "I\u015eIK a\u00e7\u0131k"),
    ("İstanbul", "istanbul"),
    ("φώς", "φώς".upper()),
    ("Φωσ", "φως"),
    ("Ёлка", "елка"),
    ("Кухня", "на КУХНЯ"),
    ("客厅灯", "打开客厅灯吧"),
    ("リビング", "リビングの電気をつけて"),
    ("거실등", "거실등을 켜 줘"),
    ("ไฟครัว", "เปิดไฟครัวหน่อย"),
    ("מטבח", "במטבח"),
    ("مطبخ", "المطبخ"),
    ("बत्ती", "बत्ती जलाओ"),
    ("Ａ灯", "A灯"),
    ("☕ Coffee", "coffee is on"),
    ("☀️ Sun", "the sun is on"),
    ("Sun ☀️", "Sun ☀ on"),
    ("1️⃣ Spot", "1 spot"),
    ("👨‍👩‍👧 Family", "family"),
    ("Por\u00adch", "porch"),
    ("Porch", "Por\u00adch"),
    ("\u200fمطبخ\u200f", "مطبخ"),
    ("مصباح", "مِصبـاح"),
    ("\u0623نور", "\u0627نور"),
    ("שָׁלוֹם", "שלום"),
    ("نور\u200cپشت", "نور پشت"),
    ("ไฟครัว", "ไฟ\u200bครัว"),
    ("Đèn bếp", "den bep"),
    ("Øvre lys", "ovre lys"),
    ("Światło", "swiatlo"),
    ("💡", "Is 💡 on?"),
    ("❤️", "I ❤ it"),
    ("Lamp", "The lamp, not the desk lamp."),
    ("Lamp Post", "Desk Lamp Post"),
]
NOT_NAMED = [
    ("Porch", "porches and porchlight"),
    ("Porch", "Sporch"),
    ("Spot 1", "Spot 10 and Spot 11"),
    ("Spot 1", "Spot 21"),
    ("Spot 1", "Spot1"),
    ("Fan", "fantastic"),
    ("Lamp", "Desk Lamp"),
    ("Lamp", "the desk-lamp, and DESK LAMP"),
    ("Кухня", "Кухняшка"),
    ("조", "종"),
    ("かぎ", "がき"),
    ("", "anything"),
    (" ", "any thing"),
    ("Desk Lamp", "Desk Lamp"),
    ("DESK LAMP", "desk lamp"),
    ("💎", "Is 💡 on?"),
    ("❤️", "I ☀️ it"),
    ("1️⃣", "2️⃣"),
    ("🇩🇪", "🇫🇷"),
    ("-", "a - b"),
    ("...", "well..."),
]


def unsaid_of(gone: Iterable[tuple[str, datetime]], here: Iterable[str] = ()) -> Unsaid:
    """Return what looks for these names."""
    return Unsaid([(Name(name), when) for name, when in gone], map(Name, here))


@pytest.mark.parametrize(("name", "text"), NAMED)
def test_a_name_in_a_text(name: str, text: str) -> None:
    """It is found as whole words, however it is written, but for within another thing's name."""
    unsaid = unsaid_of([(name, GONE)], ["Desk Lamp", "light.desk"])
    assert unsaid
    assert unsaid.in_text(text, BEFORE)
    assert unsaid.in_text(text, GONE)
    assert not unsaid.in_text(text, GONE + timedelta(seconds=1))


@pytest.mark.parametrize(("name", "text"), NOT_NAMED)
def test_no_name_in_a_text(name: str, text: str) -> None:
    """Parts of words, and names that something else has, name nothing that is gone."""
    unsaid = unsaid_of([(name, GONE)], ["Desk Lamp", "light.desk"])
    assert not unsaid.in_text(text, BEFORE)


def test_what_is_gone_for_longer() -> None:
    """Of two things with one name, the one that went last counts."""
    unsaid = unsaid_of([("Porch", GONE), ("porch", GONE + timedelta(hours=1))])
    assert unsaid.in_text("porch", GONE + timedelta(minutes=1))


def test_what_is_withheld() -> None:
    """Each text that names something is another one, and what the person said is not."""
    unsaid = unsaid_of([("Porch", GONE), ("Safe", GONE)])
    value = {"Porch": [1, "the porch"], "open": {"what": "Safe", "why": None}, "rest": ["x", True]}
    other = "(no longer available)"
    assert unsaid.withheld(value, BEFORE) == {
        other: [1, other],
        "open": {"what": other, "why": None},
        "rest": ["x", True],
    }
    assert unsaid.withheld(value, BEFORE, "is the porch on") == value | {
        "open": {"what": other, "why": None}
    }


def test_where_devices_are_named() -> None:
    """Kinds and places are left out of calls, results and lists, whatever shape these have."""
    value = {
        "name": "A",
        "area": "B",
        "domain": ["C"],
        "success": [{"name": "D", "type": "area"}, {"name": "E", "type": "entity", "id": None}],
        "type": ["F"],
        "data": "- names: G\n  domain: H\n  areas: I\n  state: J",
    }
    assert list(names_in(value)) == ["A", "E", "- names: G\n  state: J"]


def test_nothing_is_gone() -> None:
    """Then there is nothing to look for."""
    assert not unsaid_of([], ["Porch"])
    assert not unsaid_of([("Porch", GONE)], ["porch"])
