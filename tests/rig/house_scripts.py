"""The scripts of the demonstration house: each is a tool for the model, as in real houses."""

from typing import Any


def _field(name: str, description: str, selector: dict[str, Any], *, required: bool = True) -> Any:  # noqa: ANN401
    return {
        "name": name,
        "description": description,
        "required": required,
        "selector": selector,
    }


def _turn_on(*entities: str) -> list[dict[str, Any]]:
    return [{"action": "homeassistant.turn_on", "target": {"entity_id": list(entities)}}]


SCRIPTS: dict[str, Any] = {
    "good_night": {
        "alias": "Good Night",
        "description": "Turns everything off for the night",
        "sequence": [
            {"action": "light.turn_off", "target": {"entity_id": "all"}},
            {"action": "lock.lock", "target": {"entity_id": "all"}},
        ],
    },
    "movie_time": {
        "alias": "Movie Time",
        "description": "Gets the living room ready for a film",
        "sequence": [
            {
                "action": "cover.close_cover",
                "target": {
                    "entity_id": ["cover.living_room_left_blind", "cover.living_room_right_blind"]
                },
            },
            *_turn_on("media_player.living_room_tv"),
        ],
    },
    "clean_rooms": {
        "alias": "Clean Rooms",
        "description": (
            "Sends the robot vacuum into the rooms that are named, one after the other, and back "
            "to its dock when it is done"
        ),
        "fields": {
            "rooms": _field("Rooms", "The rooms to clean, separated by commas", {"text": {}}),
            "twice": _field(
                "Twice", "Whether to go over the floor twice", {"boolean": {}}, required=False
            ),
        },
        "sequence": _turn_on("vacuum.living_room_robot_vacuum"),
    },
    "play_radio": {
        "alias": "Play Radio",
        "description": "Plays a radio station in one room, and lowers what else is playing there",
        "fields": {
            "station": _field("Station", "The name of the station", {"text": {}}),
            "room": _field("Room", "Where to play it", {"area": {}}),
            "volume": _field(
                "Volume",
                "How loud, in percent",
                {"number": {"min": 0, "max": 100}},
                required=False,
            ),
        },
        "sequence": _turn_on("media_player.kitchen_speaker"),
    },
    "announce": {
        "alias": "Announce",
        "description": "Says a message on the speakers of the house, or of some rooms only",
        "fields": {
            "message": _field("Message", "What is said, word for word", {"text": {}}),
            "rooms": _field(
                "Rooms", "Where it is said; everywhere if left out", {"text": {}}, required=False
            ),
        },
        "sequence": _turn_on("media_player.kitchen_speaker"),
    },
    "wake_up_light": {
        "alias": "Wake-up Light",
        "description": (
            "Brightens the bedroom slowly before somebody has to get up, then opens the blind"
        ),
        "fields": {
            "time": _field("Time", "When to get up, on a 24-hour clock", {"time": {}}),
            "minutes": _field(
                "Minutes",
                "How long the light takes to become bright",
                {"number": {"min": 5, "max": 60}},
                required=False,
            ),
        },
        "sequence": _turn_on("light.bedroom_ceiling_light"),
    },
    "bus_departures": {
        "alias": "Bus Departures",
        "description": "Tells when the next buses leave from the stop in front of the house",
        "fields": {
            "line": _field("Line", "The number of the line", {"text": {}}, required=False),
        },
        "sequence": _turn_on("light.kitchen_ceiling_light"),
    },
}
