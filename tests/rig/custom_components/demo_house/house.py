"""What stands in the demonstration house: rooms, satellites and things, as plain data."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice


@dataclass(frozen=True, slots=True)
class Room:
    """One room with one voice satellite in it."""

    name: str
    floor: str
    keeps_timers: bool = True

    @property
    def key(self) -> str:
        """The room's part of every identifier made from it."""
        return self.name.lower().replace(" ", "_")

    @property
    def satellite_key(self) -> str:
        """What the satellite's device and its entities are identified by."""
        return f"{self.key}_satellite"


@dataclass(frozen=True, slots=True)
class Thing:
    """One entity of the house; every thing is a device of its own, as in most real houses."""

    platform: str
    name: str
    area: str | None = None
    device_class: str | None = None
    value: float | None = None
    unit: str | None = None
    exposed: bool | None = True
    """None leaves the choice to Home Assistant, as for anything bought and paired."""

    @property
    def key(self) -> str:
        """The unique id; the platform is in it because a room's window has a cover, too."""
        return f"{self.platform}_{self.name.lower().replace(' ', '_')}"


ROOMS = (
    Room("Living Room", "Ground Floor"),
    Room("Kitchen", "Ground Floor"),
    Room("Dining Room", "Ground Floor"),
    Room("Bedroom", "Upper Floor"),
    Room("Office", "Upper Floor", keeps_timers=False),
    Room("Bathroom", "Upper Floor"),
)

# Platform -> what a room has of it, besides what every room has.
_FURNITURE: dict[str, dict[str, tuple[str, ...]]] = {
    "Living Room": {
        "light": ("Ceiling Light", "Floor Lamp", "Reading Lamp", "Shelf Lights"),
        "switch": ("Aquarium Pump", "Fireplace Fan", "Game Console"),
        "cover": ("Left Blind", "Right Blind"),
        "media_player": ("TV", "Speaker"),
        "fan": ("Ceiling Fan",),
        "vacuum": ("Robot Vacuum",),
        "lock": ("Patio Door",),
    },
    "Kitchen": {
        "light": ("Ceiling Light", "Counter Lights", "Pantry Light"),
        "switch": ("Coffee Machine", "Dishwasher", "Kettle", "Toaster"),
        "cover": ("Blind",),
        "media_player": ("Speaker",),
        "fan": ("Extractor Hood",),
        "lock": ("Back Door",),
    },
    "Dining Room": {
        "light": ("Chandelier", "Wall Lamp", "Cabinet Lights", "Window Candles"),
        "switch": ("Plate Warmer",),
        "cover": ("Left Curtain", "Right Curtain"),
        "media_player": ("Speaker",),
    },
    "Bedroom": {
        "light": ("Ceiling Light", "Left Bedside Lamp", "Right Bedside Lamp", "Wardrobe Light"),
        "switch": ("Electric Blanket", "Air Purifier"),
        "cover": ("Blind", "Skylight Shade"),
        "media_player": ("Radio",),
        "fan": ("Ceiling Fan",),
    },
    "Office": {
        "light": ("Ceiling Light", "Desk Lamp", "Monitor Light"),
        "switch": ("Printer", "Computer", "Desk Heater"),
        "cover": ("Blind",),
        "media_player": ("Speaker",),
        "fan": ("Desk Fan",),
    },
    "Bathroom": {
        "light": ("Ceiling Light", "Mirror Light", "Shower Light"),
        "switch": ("Towel Warmer", "Washing Machine"),
        "cover": ("Blind",),
        "media_player": ("Speaker",),
        "fan": ("Ventilation",),
    },
}

_FOR_ALL = (
    Thing("weather", "Home"),
    Thing("todo", "Shopping List"),
    Thing("todo", "Chores"),
    Thing("calendar", "Family"),
    Thing("lock", "Front Door"),
    Thing("binary_sensor", "Front Door Contact", device_class="door"),
    Thing("cover", "Garage Door", device_class="garage"),
    Thing("sensor", "Outside Temperature", device_class="temperature", value=11.5, unit="°C"),
)

# Scripts come from configuration.yaml; the house only exposes them, because each becomes a tool.
SCRIPTS = (
    "good_night",
    "movie_time",
    "clean_rooms",
    "play_radio",
    "announce",
    "wake_up_light",
    "bus_departures",
)

_EXTRA = ("Spot", "Strip", "Lantern", "Nightlight")


def _climate_and_sensors(room: Room, index: int) -> Iterator[Thing]:
    """Give what every room has; the values differ so that answers can be told apart."""
    name = room.name
    temperature, humidity = 19.5 + index * 0.5, 42.0 + index * 3
    yield Thing("climate", f"{name} Thermostat", name, value=temperature)
    yield Thing("sensor", f"{name} Temperature", name, "temperature", temperature, "°C")
    yield Thing("sensor", f"{name} Humidity", name, "humidity", humidity, "%")
    yield Thing("binary_sensor", f"{name} Motion", name, "motion")
    yield Thing("binary_sensor", f"{name} Window", name, "window")
    # Not exposed: a house holds more than its owner lets the assistant see.
    yield Thing("sensor", f"{name} Power", name, "power", 120.0 + index, "W", exposed=False)


def _furnished() -> Iterator[Thing]:
    for index, room in enumerate(ROOMS):
        for platform, names in _FURNITURE[room.name].items():
            for name in names:
                yield Thing(platform, f"{room.name} {name}", room.name)
        yield from _climate_and_sensors(room, index)
    yield from _FOR_ALL


def extra_things(count: int) -> Iterator[Thing]:
    """Give lights that make the house as big as wanted, spread evenly over the rooms."""
    rooms = islice(cycle(ROOMS), count)
    for index, room in enumerate(rooms):
        number = index // (len(ROOMS) * len(_EXTRA)) + 1
        kind = _EXTRA[index // len(ROOMS) % len(_EXTRA)]
        yield Thing("light", f"{room.name} {kind} {number}", room.name)


THINGS = tuple(_furnished())
EXPOSED_COUNT = sum(thing.exposed is True for thing in THINGS) + len(SCRIPTS)
