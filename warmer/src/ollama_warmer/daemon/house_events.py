"""What Home Assistant's events mean for the prompts: pure functions of what it sends."""

from collections.abc import Iterator, Mapping

# A user without administrator rights may subscribe to these: SUBSCRIBE_ALLOWLIST in
# homeassistant/auth/permissions/events.py, Home Assistant 2026.11. Exposing an entity to an
# assistant is an update of the entity registry, for every entity that is in it.
CONFIG_CHANGED = "core_config_updated"
EVENTS = (
    "area_registry_updated",
    "component_loaded",
    CONFIG_CHANGED,
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
    "label_registry_updated",
    "service_registered",
    "service_removed",
)
UNAVAILABLE = "unavailable"

_SERVICES = {"service_registered", "service_removed"}
# Each script is an action, and a tool of the model. No other action is.
_TOOLS = "script"
# What devices report of themselves from time to time, and no prompt says.
_NEVER_SAID = {
    "capabilities",
    "configuration_url",
    "hw_version",
    "icon",
    "modified_at",
    "original_icon",
    "serial_number",
    "supported_features",
    "sw_version",
    "unit_of_measurement",
}


def changes_prompts(event: object) -> bool:
    """Whether an event may mean that the agents' prompts or tools are others now.

    Args:
        event: Home Assistant's event with `event_type` and `data`, of any shape.
    """
    if not isinstance(event, Mapping):
        return False
    data = event.get("data")
    data = data if isinstance(data, Mapping) else {}
    if event.get("event_type") in _SERVICES:
        return bool(data.get("domain") == _TOOLS)
    changes = data.get("changes")
    if data.get("action") == "update" and isinstance(changes, Mapping) and changes:
        return bool(changes.keys() - _NEVER_SAID)
    return True


def states(event: object) -> Iterator[tuple[str, str | None]]:
    """Yield the entities whose state is new, with their state; none for one that is removed.

    Args:
        event: What `subscribe_entities` sends: `{"a": {id: {"s": state}}, "c": {id: {"+": {"s":
            state}}}, "r": [id]}` for added, changed and removed ones, of any shape.
    """
    if not isinstance(event, Mapping):
        return
    for entity_id, entity in _entries(event.get("a")):
        yield from _state(entity_id, entity)
    for entity_id, change in _entries(event.get("c")):
        if isinstance(change, Mapping):
            yield from _state(entity_id, change.get("+"))
    removed = event.get("r")
    for entity_id in removed if isinstance(removed, list) else ():
        if isinstance(entity_id, str):
            yield entity_id, None


def _entries(table: object) -> Iterator[tuple[str, object]]:
    if isinstance(table, Mapping):
        yield from table.items()


def _state(entity_id: str, entity: object) -> Iterator[tuple[str, str]]:
    state = entity.get("s") if isinstance(entity, Mapping) else None
    if isinstance(state, str):
        yield entity_id, state
