"""How long the daemon waits for what: one object, which a test makes impatient."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Times:
    """Spans in seconds.

    Attributes:
        longest_sleep: A clock that was set is noticed within this.
        longest_start: An attempt to connect to a machine that is switched off takes longer than
            systemd waits.
        first_retry: What failed is tried again soon, and ever more slowly: a question that was
            given up goes on in the server, and another one would only wait behind it.
        longest_retry: The slowest of that.
        reconnect: Before the second attempt to reach Home Assistant; each later one waits longer.
        look_for_token: Between two looks for a new token, after one was refused.
        settle: So long nothing more has to change in the house before a round.
        longest_settle: But a round waits no longer than this.
        pause: A person who has just been answered often asks a second thing.
        patience: So long a round waits for people who talk.
        look_for_quiet: Between two looks whether they still do.
        after_midnight: Home Assistant's clock may be a little behind ours, and its prompt would
            still have the old date.
    """

    longest_sleep: float = 5.0
    longest_start: float = 10.0
    first_retry: float = 5.0
    longest_retry: float = 3_600.0
    reconnect: float = 1.0
    look_for_token: float = 30.0
    settle: float = 5.0
    longest_settle: float = 60.0
    pause: float = 3.0
    patience: float = 120.0
    look_for_quiet: float = 0.1
    after_midnight: float = 10.0


USUAL = Times()
