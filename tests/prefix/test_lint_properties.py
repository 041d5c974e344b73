"""The linter takes any text, in little time, and points into it."""

import re
import time

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.ollama_warm.prefix.lint import Finding, Mover, lint

PIECES = st.sampled_from([
    "{{", "}}", "{%", "%}", "{{-", "-}}", "{%-", "-%}", "{#", "#}", "\n", "\r\n", "\r", " ", "'",
    '"', "(", ")", "[", "]", ".", "|", "~", "-", "+", "=", ",", ":", "now()", "states('a.b')",
    "strftime('%H:%M')", " if ", " else ", " is ", " not ", " for s in states ", "endfor", "endif",
    " set x = ", "endset", " macro m(x) ", "endmacro", "x", "m(x)", "raw", "endraw", "random", "1",
    "user_name", "llm_context", "ä", "\x85", "\u2028", "last_changed", " in ", "ns.x",
])  # fmt: skip
EXPRESSIONS = st.recursive(
    st.sampled_from([
        "now()", "states", "states.light", "states('a.b')", "x", "ns.x", "'%H:%M'", "1",
        "user_name",
        "llm_context", "timedelta(1)", "as_timestamp(now())", "today_at('8:00')", "expand('g.a')",
    ]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"({two[0]} - {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"{two[0]} ~ {two[1]}"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} < {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} if {two[1]} else x)"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]})[{two[1]}]"),
        st.tuples(inner, inner).map(lambda two: f"m({two[0]}, {two[1]})"),
        inner.map(lambda one: f"({one}).strftime('%H')"),
        inner.map(lambda one: f"({one}).hour"),
        inner.map(lambda one: f"({one})[:10]"),
        inner.map(lambda one: f"({one}).state"),
        inner.map(lambda one: f"({one} | map(attribute='state'))"),
        inner.map(lambda one: f"({one} | timestamp_custom({one}))"),
        inner.map(lambda one: f"({one} is not even)"),
        inner.map(lambda one: f"[{one}, {{'a': -{one}}}]"),
    ),
    max_leaves=6,
)  # fmt: skip
STATEMENTS = st.recursive(
    EXPRESSIONS.map(lambda one: f"{{{{ {one} }}}}"),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("\n".join),
        st.tuples(EXPRESSIONS, inner).map(
            lambda two: f"{{% if {two[0]} -%}} {two[1]}{{% endif %}}"
        ),
        st.tuples(EXPRESSIONS, inner).map(
            lambda two: f"{{%- for x in {two[0]} %}}{two[1]}{{% endfor %}}"
        ),
        st.tuples(EXPRESSIONS, inner).map(lambda two: f"{{% set x = {two[0]} %}}{two[1]}"),
        st.tuples(EXPRESSIONS, inner).map(lambda two: f"{{% set ns.x = {two[0]} %}}{two[1]}"),
        inner.map(lambda one: f"{{% set x %}}{one}{{% endset %}}{{{{ x }}}}"),
        inner.map(lambda one: f"{{% macro m(x) %}}{one}{{% endmacro %}}{{{{ m(now()) }}}}"),
    ),
    max_leaves=6,
)


def _check_places(template: str, findings: list[Finding]) -> None:
    """Each finding points at its expression, and none is reported twice."""
    lines = re.split(r"\r\n|\r|\n", template)
    for one in findings:
        assert 1 <= one.line <= len(lines)
        rest = lines[one.line - 1][one.column - 1 :]
        assert 1 <= one.column <= len(lines[one.line - 1]) + 1
        assert len(one.expression) <= 60
        first = one.expression.split(" ")[0].removesuffix("…")
        assert one.mover is Mover.SYNTAX or rest.startswith(first)
    places = [(one.line, one.column, one.mover) for one in findings]
    assert places == sorted(set(places))


@given(st.one_of(st.text(max_size=100), st.lists(PIECES, max_size=25).map("".join)))
def test_any_text_is_taken(template: str) -> None:
    """No text makes it raise."""
    _check_places(template, lint(template))


@settings(deadline=None)
@given(STATEMENTS)
def test_any_template_is_followed(template: str) -> None:
    """No template that parses makes it raise, and each place is right."""
    findings = lint(template)
    _check_places(template, findings)
    assert Mover.SYNTAX not in {one.mover for one in findings}


@given(st.text(st.characters(exclude_characters="{")))
def test_text_without_jinja_has_no_findings(template: str) -> None:
    """Text alone rests."""
    assert lint(template) == []


LONG = {
    "doubling": "{% set a = now() %}" + "{% set a = a ~ a %}" * 2000 + "{{ a }}",
    "branches": "{% if states('a.b') %}{% set g = g ~ 1 %}{% endif %}" * 2000 + "{{ g }}",
    "loops": "{% for a in b %}" * 40 + "{{ now() }}" + "{% endfor %}" * 40,
    "calls": "{{ a" + ".b()" * 200 + " }}",
    "filters": "{{ now()" + " | upper" * 200 + " }}",
    "macros": "".join(
        f"{{% macro m{i}(x) %}}{{{{ m{i + 1}(x) ~ m{i + 1}(now()) }}}}{{% endmacro %}}"
        for i in range(60)
    )
    + "{{ m0(1) }}",
    "permutations": "{% macro m(a, b, c, d, e) %}{{ m(b, a, c, d, e) ~ m(b, c, d, e, a) }}"
    "{% endmacro %}{{ m('1', '2', '3', '4', '5') }}",
    "findings": "{{ now() ~ states('a.b') }}\n" * 4000,
    "comments": "{#" * 20000,
    "quotes": "{{ '" * 20000,
    "raw": "{%- raw %}" * 10000,
    "blanks": " " * 100000 + "{{-",
}


@pytest.mark.parametrize("name", LONG)
def test_time_is_bounded(name: str) -> None:
    """Neither a long template nor one made for it keeps it busy."""
    started = time.process_time()
    _check_places(LONG[name], lint(LONG[name]))
    assert time.process_time() - started < 5
