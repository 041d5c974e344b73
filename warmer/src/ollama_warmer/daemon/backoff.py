"""How long to wait before the next attempt, when attempts go on without end."""

import secrets

_RANDOM = secrets.SystemRandom()


def chance(seconds: float) -> float:
    """Return a random number of seconds from zero to the given one."""
    return _RANDOM.uniform(0.0, seconds)


class Backoff:
    """Waits longer after each failure, up to a limit, and never the same for two programs."""

    def __init__(self, first: float, longest: float, factor: float = 2.0) -> None:
        """Begin with `first` seconds; `longest` is the limit before chance is taken into it."""
        self._first = first
        self._longest = longest
        self._factor = factor
        self._failures = 0

    def reset(self) -> None:
        """Begin again, because an attempt succeeded."""
        self._failures = 0

    def delay(self) -> float:
        """Return the seconds to wait after one more failure: up to a quarter less, by chance."""
        # A power that no float holds would come after days of failures.
        power = min(self._failures, 64)
        self._failures += 1
        whole = min(self._first * self._factor**power, self._longest)
        return whole - chance(whole / 4)
