"""Values are followed through a template to where they are printed."""

import pytest

from .lint_marks import check

COUNTED = """\
{% set on = namespace(lights=0) %}
{% for light in states.light if light.state == 'on' %}
{%- set on.lights = on.lights + 1 %}
{%- endfor %}
{{ ⟦state:on.lights⟧ }} lights are on."""
FLOWS = [
    "{% set t = now() %}\n{{ ⟦minutes:t.strftime('%H:%M')⟧ }}",
    "{% set t = now() %}{% set u = t %}{{ ⟦day:u.date()⟧ }}",
    "{% set a, b = now(), states('x.y') %}{{ ⟦month_or_longer:a.year⟧ }}{{ ⟦state:b⟧ }}",
    "{% set a, b = states('x.y').split() %}{{ ⟦state:b⟧ }}",
    "{% set x %}It is {{ now().hour }}{% endset %}{{ ⟦hours:x⟧ }}",
    "{% set x | random %}ab{% endset %}{{ ⟦random:x⟧ }}",
    "{% with t = now() %}{{ ⟦hours:t.hour⟧ }}{% endwith %}{{ t }}",
    "{% if ⟦hours:now().hour⟧ < 12 %}Good morning{% endif %}",
    "{% if ⟦hours:now()⟧ > today_at('18:00') %}evening{% endif %}",
    "{% if '07:00' < ⟦hours:states('sensor.time')⟧ < '22:00' %}day{% endif %}",
    "{% if ⟦hours:now()⟧ > ⟦state:states('input_datetime.a')⟧ | as_datetime %}x{% endif %}",
    "{% if ⟦minutes:now().minute⟧ < 30 %}first half{% endif %}",
    "{% if ⟦seconds:now() - x.y⟧ > timedelta(1) %}late{% endif %}",
    "{% if ⟦seconds:now() - as_datetime(x)⟧ > timedelta(1) %}late{% endif %}",
    "{% if ⟦seconds:now()⟧ == x %}now{% endif %}",
    "{% if ⟦seconds:now()⟧ < ⟦seconds:states.sun.sun.last_changed⟧ %}x{% endif %}",
    "{% if x %}a{% elif ⟦state:is_state('a.b', 'on')⟧ %}b{% else %}c{% endif %}",
    "{% if ⟦state:is_state('a.b', 'on')⟧ %}a{% else %}{% if x %}a{% else %}b{% endif %}{% endif %}",
    "{% if is_state('a.b', 'on') %}a{% else %}{% if x %}a{% else %}a{% endif %}{% endif %}",
    "{% if is_state('a.b', 'on') %}{% for x in y %}{% endfor %}{% endif %}",
    "{% if ⟦state:is_state('a.b', 'on')⟧ %}{% for x in y %} {% endfor %}{% endif %}",
    "{% if is_state('a.b', 'on') %}{% with %}a{% endwith %}{% else %}a{% endif %}",
    "{% if ⟦state:is_state('a.b', 'on')⟧ %}{% include 'x' %}{% endif %}",
    "{% for x in y %}{% if ⟦state:is_state('a.b', x)⟧ %}{% break %}{% endif %}a{% endfor %}",
    "{% if is_state('a', 1) %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ ⟦state:x⟧ }}",
    "{% if x %}{% set t = now() %}{% else %}{% set t = utcnow() %}{% endif %}{{ ⟦hours:t.hour⟧ }}",
    "{% if x %}{% set t = now() %}{% endif %}{{ ⟦seconds:t⟧ }}",
    "{% set t = now() %}{% if x %}{{ ⟦hours:t.hour⟧ }}{% endif %}",
    "{% set t = now() if x else utcnow() %}{{ ⟦day:t.day⟧ }}",
    "{{ ⟦hours:now().hour⟧ if x else ⟦minutes:now().minute⟧ }}",
    "{% set ns = namespace(t=now(), n=0) %}{{ ⟦hours:ns.t.hour⟧ }}{{ ns.n }}",
    COUNTED,
    "{% set n=namespace() %}{% for a in b %}{{ ⟦state:n.x⟧ }}{% set n.x=states.a.b %}{% endfor %}",
    "{% for a in b %}{% for c in d %}{{ ⟦hours:now().hour⟧ }}{% endfor %}{% endfor %}",
    "{% for a in ⟦seconds:now().isoformat()⟧ %}{{ a }}{% endfor %}",
    "{% macro hi() %}{{ ⟦hours:now().hour⟧ }}{% endmacro %}{{ hi() }}{{ hi() }}",
    "{% macro at(t, f='%H:%M') %}{{ ⟦minutes:t.strftime(f)⟧ }}{% endmacro %}{{ at(now()) }}",
    "{% macro at(t, f='%H:%M') %}{{ ⟦day:t.strftime(f)⟧ }}{% endmacro %}{{ at(now(), f='%d') }}",
    "{% macro hi(x) %}Hi {{ x }}{% endmacro %}{% set y = hi(user_name) %}{{ ⟦person:y⟧ }}",
    "{% macro hi(x) %}{{ ⟦state:x⟧ }}{{ hi(x) }}{{ hi() }}{% endmacro %}{{ hi(states('a.b')) }}",
    "{% macro w() %}{{ caller() }}{% endmacro %}{% call w() %}{{ ⟦seconds:now()⟧ }}{% endcall %}",
    "{% call f(⟦state:states('a.b')⟧) %}x{% endcall %}",
    "{% filter upper %}{{ ⟦hours:now().hour⟧ }}{% endfilter %}",
    "{% filter ⟦random:random⟧ %}abc{% endfilter %}",
    "{% block a %}{{ ⟦hours:now().hour⟧ }}{% endblock %}",
    "{% autoescape false %}{{ ⟦hours:now().hour⟧ }}{% endautoescape %}",
    "{% set now = states %}{{ ⟦state:now('a.b')⟧ }}",
    "{% set now = 1 %}{{ (now + 1)(⟦state:states('a.b')⟧) }}",
    "{% macro m(x) %}{% set t %}{{ x }}{% endset %}{{ ⟦seconds:t⟧ }}{% endmacro %}{{ m(now()) }}",
]


@pytest.mark.parametrize("template", FLOWS)
def test_values_are_followed(template: str) -> None:
    """Variables, branches, loops and macros are followed to where something is printed."""
    check(template)
