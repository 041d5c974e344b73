"""Takes what the watches notice: to the board, to the log, and as occasions for a round."""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
import logging
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ollama_warmer.daemon.board import Board, Part
from ollama_warmer.daemon.occasions import Occasion, Occasions
from ollama_warmer.daemon.schedule import Schedule
from ollama_warmer.errors import OllamaError, WarmerError

_LOGGER = logging.getLogger(__name__)


class News:
    """Listens to both watches.

    Attributes:
        zone: Home Assistant's time zone; none until it is known.
    """

    def __init__(
        self,
        board: Board,
        occasions: Occasions,
        schedule: Schedule,
        *,
        clock: Callable[[], float],
        wake: Callable[[], None],
    ) -> None:
        """Write to these; `wake` is called whenever there may be something to do."""
        self.zone: tzinfo | None = None
        self._board = board
        self._occasions = occasions
        self._schedule = schedule
        self._clock = clock
        self._wake = wake

    def home_is_up(self, occasion: Occasion, zone: str) -> None:
        """Home Assistant is there, so the prompts may be others than before."""
        self._board.connected = True
        self._board.troubles.pop(Part.HOME, None)
        _LOGGER.info("Connected to Home Assistant, its time zone is %s", zone)
        self.zone_changed(zone)
        self._occasions.add(occasion, self._clock())
        self._wake()

    def home_is_down(self, trouble: WarmerError) -> None:
        """Home Assistant is not there."""
        self._board.connected = False
        self._complain(Part.HOME, trouble)
        self._wake()

    def zone_changed(self, zone: str) -> None:
        """Take times of day in this zone."""
        try:
            self.zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            _LOGGER.warning(
                "This machine does not know Home Assistant's time zone %s, and goes by UTC: "
                "install its package of time zones (tzdata)",
                zone,
            )
            self.zone = UTC
        self._schedule.set_zone(self.zone, datetime.now(UTC))

    def house_changed(self) -> None:
        """Something in the house has changed, and more may follow."""
        self._settle(Occasion.HOUSE_CHANGED)

    def agent_changed(self) -> None:
        """An agent was set up again, perhaps with other options."""
        self._settle(Occasion.AGENT_CHANGED)

    def ollama_is_up(self) -> None:
        """Ollama answers."""
        self._board.ollama = True
        if self._board.troubles.pop(Part.OLLAMA, None):
            _LOGGER.info("Ollama answers again")

    def ollama_is_down(self, trouble: OllamaError) -> None:
        """Ollama does not answer."""
        self._board.ollama = False
        self._complain(Part.OLLAMA, trouble)

    def ollama_lost_it(self, occasion: Occasion, wait: float) -> None:
        """What was warm is cold."""
        _LOGGER.info("Ollama: %s", occasion)
        self._occasions.add(occasion, self._clock(), wait=wait)
        self._wake()

    def _settle(self, occasion: Occasion) -> None:
        self._occasions.add_settling(occasion, self._clock())
        self._wake()

    def _complain(self, part: Part, trouble: WarmerError) -> None:
        """Log a problem, unless it is the one that stands there already."""
        if self._board.troubles.get(part) != str(trouble):
            _LOGGER.warning("%s", trouble)
        self._board.troubles[part] = str(trouble)
