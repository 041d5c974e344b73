"""The page of the clock demonstration: four places, what each costs, and what was put back."""

from tests.warmer.support.pages import Json, Page, page, sample


def read(run: Json) -> str:
    """Return what can be read on a run's page."""
    return " ".join(Page(page("clock", run)).text.split())


def test_each_place_has_its_pattern_and_its_questions() -> None:
    """The published pattern: everything, one batch, own words; behind a tool two calls each."""
    run = sample("clock")
    words = read(run)
    for place in run["placements"]:
        assert place["words"] in words
        assert f"Read again each time: {place['pattern']}." in words
    assert page("clock").count("<svg") == 4
    assert "question 3 3,483 / 3,483 · 4.89 s" in words
    assert "question 3 1,024 / 3,483 · 2.30 s" in words
    assert "question 3 29 / 3,483 · 360 ms" in words
    assert "question 3, asked 29 / 3,484" in words
    assert "question 3, answered 61 / 3,548" in words
    # In the table, too, with what the change of place has cost before.
    assert "switch 1 3,483 0 3,483 4.90 s 5.00 s question 1 3,483 0 3,483 4.91 s 5.02 s" in words


def test_it_says_that_the_house_is_warm_again() -> None:
    """With the counts of the question that has proved it."""
    words = read(sample("clock"))
    assert "The prompt of kitchen was put back" in words
    assert "warm : another question re-read 21 of 5,193 tokens." in words
    assert "waits until it is read again" not in words


def test_it_says_that_the_house_is_not_warm_again() -> None:
    """Neither no one tried, nor a verdict other than warm, is passed over."""
    run = sample("clock")
    run["restored"] |= {"verdict": "unknown", "re_read": None, "reason": "no one counted"}
    words = read(run)
    assert "unknown : another question re-read unknown of 5,193 tokens. no one counted" in words
    assert "Run ollama-warmer warm" in words
    words = read({**run, "restored": None})
    assert "The prompt of your house was not put back" in words
    assert "Run ollama-warmer warm" in words


def test_a_place_that_the_model_has_not_is_said() -> None:
    """A model without tools has no answer of a tool, so nothing is drawn."""
    run = sample("clock")
    run["placements"][3] |= {"samples": [], "switch": [], "words": "tiny takes no tools"}
    assert page("clock", run).count("<svg") == 3
    assert read(run).count("tiny takes no tools") == 2


def test_an_unknown_count_is_no_zero() -> None:
    """A question whose count is missing is drawn as unknown, with its time."""
    run = sample("clock")
    run["placements"][0]["samples"][1] |= {"cached": None, "re_read": None}
    words = read(run)
    assert "question 2 unknown / 3,483 · 4.88 s" in words
    assert "question 2 3,483 unknown unknown 4.88 s" in words


def test_nothing_at_all_is_a_page_too() -> None:
    """An interrupted demonstration has perhaps no place."""
    words = read({"placements": []})
    assert "No place was measured." in words
    assert "was not put back" in words
