"""What is the same at every question has no findings."""

import pytest

from .lint_marks import check

RESTING = [
    "",
    "You are a helpful voice assistant. Answer in one sentence.",
    "A single } or { or # is text, as is 50 %.",
    "{{ ha_name }} is the house.",
    "{# {{ now() }} #}",
    "{% raw %}{{ now() }}{% endraw %}",
    "{{ 1 + 2 }}{{ 'now()' }}{{ [1, 2] | join(',') }}{{ {'a': 1}['a'] }}{{ 'abc'[1:] }}",
    "{{ areas() | map('area_name') | join(', ') }}",
    "{{ area_entities('kitchen') | join(', ') }}",
    "{{ state_attr('light.kitchen', 'friendly_name') }}",
    "{% for s in states.light %}- {{ s.name }} ({{ s.entity_id }})\n{% endfor %}",
    "{{ states.light | map(attribute='entity_id') | sort | join(', ') }}",
    "{{ states | selectattr('domain', 'eq', 'light') | list | count }}",
    "{{ states.light.kitchen.attributes.friendly_name }}",
    "{{ ['light.a'] | map('state_attr', 'friendly_name') | list }}",
    "{{ today_at('08:00').strftime('%H:%M') }}",
    "{{ now().replace(hour=8, minute=0).strftime('%H:%M') }}",
    "{{ now().strftime('a fixed text, 100 %%') }}",
    "{{ now().tzinfo }}{{ now().tzname() }}",
    "{{ timedelta(days=3).days }}",
    "{{ timedelta(hours=1) }}{{ as_timestamp('2026-01-01') | timestamp_custom('%H') }}",
    "{% set t = now() %}The time is on the wall.",
    "{% set now = 'noon' %}{{ now }}",
    "{% macro states(x) %}{{ x }}{% endmacro %}{{ states('light.kitchen') }}",
    "{% from 'tools.jinja' import now %}{{ now() }}",
    "{% from 'tools.jinja' import clock as now %}{{ now() }}",
    "{% import 'tools.jinja' as states %}{{ states.light('x') }}",
    "{% include 'house.jinja' %}",
    "{% macro greet() %}{{ now() }}{% endmacro %}",
    "{% if user_name is defined %}Greet people by name.{% endif %}",
    "{% if is_state('sun.sun', 'up') %}{% set x = 1 %}{% else %}{% set y = 1 %}{% endif %}",
    "{% if now().hour < 12 %}Hello{% elif now().hour < 18 %}Hello{% else %}Hello{% endif %}",
    "{% for s in states.light if is_state('a.b', 'on') %}{% set x = 1 %}{% endfor %}",
    "{{ llm_context.language }} {{ llm_context.assistant }}",
    "{{ [1, 2, 3] | shuffle(seed=7) }}",
    "{% do [].append(now()) %}",
    "{% call(now) list() %}{{ now() }}{% endcall %}",
    "{% block a %}{% autoescape true %}text{% endautoescape %}{% endblock %}",
    "{{ varargs() }}{{ (x or y)(1) }}{{ -x }}{{ not x }}",
    "{{ '{:%H:%M}'.format(x) }}",
    "{% set x %}{{ now() }}{% endset %}",
    "{{ states['light.kitchen'].name }}",
    "{{ now().isoformat()[19:19] }}",
    "{% set fmt = 'house' %}{{ now().strftime(fmt) }}",
]


@pytest.mark.parametrize("template", RESTING)
def test_what_rests_is_left_alone(template: str) -> None:
    """No finding is made of what is the same at every question."""
    check(template)
