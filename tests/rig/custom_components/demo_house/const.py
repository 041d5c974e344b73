"""Names that the parts of the demonstration house share."""

from typing import Final

from homeassistant.const import Platform

DOMAIN: Final = "demo_house"

CONF_EXTRA_ENTITIES: Final = "extra_entities"
OPTION_ADDED: Final = "added"
OPTION_REMOVED: Final = "removed"

PLATFORMS: Final = (
    Platform.ASSIST_SATELLITE,
    Platform.BINARY_SENSOR,
    Platform.CALENDAR,
    Platform.CLIMATE,
    Platform.COVER,
    Platform.FAN,
    Platform.LIGHT,
    Platform.LOCK,
    Platform.MEDIA_PLAYER,
    Platform.SELECT,
    Platform.SENSOR,
    Platform.STT,
    Platform.SWITCH,
    Platform.TODO,
    Platform.VACUUM,
    Platform.WEATHER,
)
