"""Entities, chance, people and devices are distinguished from what rests."""

import pytest

from .lint_marks import check

GROUPED = """\
{% for domain, things in states | groupby('domain') %}
{{ domain }}: {% for thing in things %}{{ ⟦state:thing.state⟧ }} {% endfor %}
{% endfor %}"""
STATES = [
    "{{ ⟦state:states('light.a')⟧ }}",
    "{{ ⟦state:states.light.a.state⟧ }}",
    "{{ ⟦state:states.light.a⟧ }}",
    "{{ ⟦state:states.light.a.state⟧.upper() }}",
    "{{ ⟦state:states.light.a.attributes.brightness⟧ }}",
    "{{ ⟦state:states.light.a.attributes.get⟧('x') }}",
    "{{ ⟦state:state_attr('climate.a', 'temperature')⟧ }}",
    "{{ 'on' if ⟦state:is_state('light.a', 'on')⟧ else 'off' }}",
    "{{ ⟦state:'light.a' is is_state('on')⟧ }}",
    "{{ ⟦state:'light.a' is not has_value⟧ }}",
    "{{ x is even }}",
    "{{ states('a.b') is defined }}",
    "{{ ⟦state:states('a.b')⟧ is not none }}",
    "{{ ⟦state:has_value('light.a')⟧ }}",
    "{{ ⟦state:closest(states.zone)⟧.name }}",
    "{{ ⟦state:closest(states.zone).state⟧ }}",
    "{{ ⟦state:distance('zone.home', 'person.a')⟧ }}",
    "{{ ⟦state:expand('group.a')⟧ }}",
    "{{ expand('group.a') | map(attribute='name') | list }}",
    "{{ expand('group.a')[0].name }}",
    "{{ ⟦state:expand('group.a')[0].state⟧ }}",
    "{{ ⟦state:(states.light | list)[:2]⟧ }}",
    "{{ ⟦state:(states.light | first).state⟧ }}",
    "{{ ⟦state:states.light | map('upper')⟧ | list }}",
    "{{ ⟦state:states.light | selectattr('state', 'eq', 'on')⟧ | map(attribute='name') | join }}",
    "{{ ⟦state:states.light | selectattr('state', 'eq', 'on')⟧ | list | count }}",
    "{{ ⟦state:states.light | select('x')⟧ | list | length }}",
    "{{ ⟦state:states.light | sort(attribute='last_changed')⟧ | map(attribute='name') }}",
    "{{ ⟦state:states.light | map(attribute='state')⟧ | join }}",
    "{{ ⟦state:['light.a'] | map('states')⟧ | join }}",
    "{{ ⟦state:['light.a'] | select('is_state', 'on')⟧ | join }}",
    "{{ ⟦state:['light.a'] | map('state_attr', 'x')⟧ | join }}",
    "{{ ⟦state:states('sensor.' ~ ⟦state:states('input_select.a')⟧)⟧ }}",
    "{{ ⟦state:states(*ids)⟧ }}",
    "{% for s in states.light %}{{ s.name }}: {{ ⟦state:s.state⟧ }}\n{% endfor %}",
    "{% for s in states.light if ⟦state:s.state⟧ == 'on' %}{{ s.name }}{% endfor %}",
    "{% for s in ⟦state:x | expand | rejectattr('state', 'in', y)⟧ %}x{% else %}none{% endfor %}",
    "{% for d, all in states | groupby('domain') %}{{ d }}: {{ all | count }}{% endfor %}",
    GROUPED,
    "{% for k, v in ⟦state:states('a.b')⟧.items() %}{{ k }}{{ v }}{% endfor %}",
    "{{ ⟦random:states.light | random⟧ }}",
    "{{ ⟦random:['Hi', 'Hello'] | random⟧ }}",
    "{{ ⟦random:range(1, 100) | random()⟧ }}",
    "{{ ⟦random:[1 < 2] | random⟧ }}",
    "{{ ⟦random:[1, 2] | shuffle⟧ | first }}",
    "{{ ⟦person:user_name⟧ }}",
    "{{ ⟦person:llm_context.context⟧.user_id }}",
    "{{ ⟦device:llm_context.device_id⟧ | area_name }}",
    "{{ ⟦device:llm_context⟧ }}",
]


@pytest.mark.parametrize("template", STATES)
def test_states_chance_people_and_devices(template: str) -> None:
    """What hangs on an entity, on chance or on who asks is found, and no more."""
    check(template)
