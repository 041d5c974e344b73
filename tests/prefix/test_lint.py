"""The linter finds what moves in a template, says how often, and points at it."""

import pytest

from custom_components.ollama_warm.prefix.lint import ADVICE, Mover, Severity, lint

from .lint_marks import check, findings

REAL = {
    "three lines": """\
It is {{ ⟦state:state_attr('weather.home', 'temperature')⟧ }} °C outside and feels like \
{{ ⟦state:state_attr('weather.home', 'apparent_temperature')⟧ | round(1) }}.
Today is {{ ⟦minutes:now().strftime('%A %d/%m/%Y, %H:%M')⟧ }}.
Remember: {{ ⟦state:states('input_text.notes')⟧ }}""",
    "a greeting and a date": """\
You are a voice assistant for {{ ha_name }}.
{%- if ⟦person:user_name⟧ %}
You talk to {{ ⟦person:user_name⟧ }}.{% endif %}
{%- set days = ['Monday', 'Tuesday', 'Wednesday'] -%}
Today is {{ days[⟦day:now().weekday()⟧] }}, {{ ⟦day:now().day⟧ }} \
{{ ⟦month_or_longer:now().strftime('%B')⟧ }}.
""",
    "a list over several lines": """\
Lights that are on:
{% for light in states.light
    if ⟦state:light.state⟧ == 'on' -%}
- {{ light.attributes.friendly_name }}
{% endfor %}
{{
  ⟦state:states( 'sensor.power',
    with_unit=True )⟧ }} are used.""",
    "comments and quotes": """\
  {#- a {{ now() }} comment -#}

{{- '}}' ~ ⟦hours:now().strftime("%H 'o''clock'")⟧ }}""",
    "a time of day": """\
{% set greeting = 'morning' if now().hour < 12 else 'evening' -%}
Good {{ ⟦hours:greeting⟧ }}!""",
    "other letters": "{{ 'a' 'b' ~ ⟦state:states('light.' 'a')⟧ }} äöü 🏠 {{ ⟦hours:now().hour⟧ }}",
    "a room": """\
{% set area = area_name(llm_context.device_id) %}
{%- if ⟦device:area⟧ -%} You are in {{ ⟦device:area⟧ }}. {%- else -%} You are nowhere. {%- endif -%}
""",
}


@pytest.mark.parametrize("name", REAL)
def test_templates_as_people_write_them(name: str) -> None:
    """Each finding points at its own place, over line breaks, comments and quotes."""
    check(REAL[name])


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *((form, Mover.SECONDS) for form in ("%H:%M:%S", "%f", "%s", "%c", "%X", "%T", "%r")),
        *((form, Mover.MINUTES) for form in ("%H:%M", "%R", "%-I:%M %p", "%A, %d %B %Y, %H:%M")),
        *((form, Mover.HOURS) for form in ("%H h", "%I %p")),
        *((f"%{letter}", Mover.DAY) for letter in "djaAuwDFxUWV"),
        ("%-d. %B", Mover.DAY),
        *((f"%{letter}", Mover.MONTH_OR_LONGER) for letter in "BbmYyG"),
    ],
)
def test_formats(form: str, kind: Mover) -> None:
    """The finest directive of a format decides, wherever the format stands."""
    for template in (
        f"{{{{ now().strftime('{form}') }}}}",
        f"{{{{ now() | as_timestamp | timestamp_custom('{form}') }}}}",
        f"{{% set form = '{form}' %}}{{{{ now().strftime(form) }}}}",
    ):
        assert [one.mover for one in lint(template)] == [kind]


def test_an_unknown_format_may_print_anything() -> None:
    """A format that is put together is taken for the worst."""
    check("{{ ⟦seconds:now().strftime(form)⟧ }}")
    check("{{ ⟦seconds:now().strftime('%H' ~ x)⟧ }}")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("Hello\n{{ now( }}", "syntax 2:9 }}"),
        ("{{ now() }}\n  {% if %}", "syntax 2:9 %}"),
        ("{% if x %}\nno end", "syntax 2:1 no end"),
        ("{% nonsense %}", "syntax 1:4 nonsense %}"),
        ("{% for ns.a in states %}x{% endfor %}", "syntax 1:10 .a in states %}x{% endfor %}"),
        ("a {{ b & c }}", "syntax 1:8 & c }}"),
        ("a {# never closed", "syntax 1:6 never closed"),
        ("{{ 'never closed }}", "syntax 1:4 'never closed }}"),
        ("a\n  {{ ² }}", "syntax 2:3 {{ ² }}"),
        ("a\n\n{{ x }", "syntax 3:6 }"),
        ("{{ 1" + "0" * 5000 + " }}", "syntax 1:1 {{ 1" + "0" * 55 + "…"),
        ("{{ " + "(" * 5000, "syntax 1:1 {{ " + "(" * 56 + "…"),
        ("{{ a" + ".b" * 5000 + " }}", "syntax 1:1 {{ a" + ".b" * 27 + ".…"),
    ],
)
def test_a_template_that_cannot_be_read(template: str, expected: str) -> None:
    """The one finding points at where the template is no longer understood."""
    assert findings(template) == [expected]
    assert lint(template)[0].severity is Severity.WARNING


def test_a_long_expression_is_cut() -> None:
    """The piece that is shown fits in a line."""
    (finding,) = lint("{{ states('" + "x" * 100 + "') }}")
    assert len(finding.expression) == 60
    assert finding.expression.endswith("…")


@pytest.mark.parametrize(
    ("expression", "kind", "severity"),
    [
        ("now()", Mover.SECONDS, Severity.WARNING),
        ("now().minute", Mover.MINUTES, Severity.WARNING),
        ("now().hour", Mover.HOURS, Severity.WARNING),
        ("now().date()", Mover.DAY, Severity.NOTE),
        ("now().month", Mover.MONTH_OR_LONGER, Severity.NOTE),
        ("states('light.kitchen')", Mover.STATE, Severity.WARNING),
        ("[1, 2] | random", Mover.RANDOM, Severity.WARNING),
        ("x | time_since", Mover.RELATIVE_TIME, Severity.WARNING),
        ("user_name", Mover.PERSON, Severity.NOTE),
        ("llm_context.device_id", Mover.DEVICE, Severity.NOTE),
        ("1 +", Mover.SYNTAX, Severity.WARNING),
    ],
)
def test_what_costs_nothing_is_a_note(expression: str, kind: Mover, severity: Severity) -> None:
    """A date alone is a note, a clock a warning, and each has its advice."""
    (finding,) = lint(f"{{{{ {expression} }}}}")
    assert (finding.mover, finding.severity) == (kind, severity)
    assert finding.advice == ADVICE[kind]


def test_every_kind_has_advice() -> None:
    """The keys fit a translation file."""
    assert set(ADVICE) == set(Mover)
    assert all(kind.replace("_", "").islower() for kind in Mover)
