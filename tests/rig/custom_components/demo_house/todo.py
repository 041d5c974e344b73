"""Lists that the family keeps."""

from typing import override

from homeassistant.components.todo.const import TodoItemStatus, TodoListEntityFeature
from homeassistant.components.todo.entity import TodoItem, TodoListEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity
from .house import Thing


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Pin the lists up."""
    async_add_entities(HouseTodo(thing) for thing in entry.runtime_data.of("todo"))


class HouseTodo(HouseEntity, TodoListEntity):
    """A list in memory; it starts with one item."""

    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
    )

    def __init__(self, thing: Thing) -> None:
        """Write the first item."""
        super().__init__(thing)
        self._items = {"1": TodoItem("Milk", "1", TodoItemStatus.NEEDS_ACTION)}
        self._written = 1
        self._attr_todo_items = list(self._items.values())

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Write an item down."""
        self._written += 1
        item.uid = str(self._written)
        self._items[item.uid] = item
        self._show()

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Change an item."""
        self._items[str(item.uid)] = item
        self._show()

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Cross items off for good."""
        for uid in uids:
            self._items.pop(uid, None)
        self._show()

    def _show(self) -> None:
        self._attr_todo_items = list(self._items.values())
        self.async_write_ha_state()
