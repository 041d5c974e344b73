"""One request of a model, as the lines about it in a model server's log tell."""

from dataclasses import dataclass


@dataclass
class Request:
    """One prompt that a model server was given.

    Attributes:
        prompt: Its tokens.
        key: Number of the process, slot and task; none where a runner has no such thing.
        cached: Tokens that were in memory.
        read: Tokens that were read.
        length: Tokens in the slot at the end, the answer's among them.
        done: Whether it has ended.
        contradicts: Whether its lines do.
        bare: Whether what was read stood there without a slot.
    """

    prompt: int
    key: tuple[int, str, str] | None = None
    cached: int | None = None
    read: int | None = None
    length: int | None = None
    done: bool = False
    contradicts: bool = False
    bare: bool = False

    def note_read(self, read: int) -> None:
        """Keep how many tokens were read, which no request tells twice."""
        self.contradicts |= self.read not in {None, read}
        self.read = read

    @property
    def over(self) -> bool:
        """Whether it has ended, or told what was read, which it does at its end."""
        return self.done or self.read is not None

    @property
    def reused(self) -> int | None:
        """Tokens that were not read again; none if it is not known for sure.

        What was cached tells nothing by itself: an embedding, and a request that was given up, have
        that line, too, and only one that was answered says what it read.
        """
        if self.read is None or self.contradicts:
            return None
        found = self.prompt - self.read
        if not 0 <= found <= self.prompt:
            return None
        return found if self.cached in {None, found} else None

    def goes_on_from(self, earlier: "Request") -> bool:
        """Whether it is the next call of the same question, after a tool was used.

        Then it comes into the same slot, and is longer than all that was there; and the server had
        the earlier prompt and the beginning of its answer, but no more than that. A longer prompt
        of somebody else, which the server had from before, has more.
        """
        if self.key is None or earlier.key is None or earlier.key[:2] != self.key[:2]:
            return False
        if self.reused is None or earlier.length is None:
            return False
        return earlier.prompt < self.reused <= earlier.length < self.prompt
