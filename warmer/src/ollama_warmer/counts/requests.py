"""The requests that a log shows, and whether one of them is surely the question's."""

from dataclasses import dataclass, field, replace
import re

from ollama_warmer.counts.counts import Counts, Facts
from ollama_warmer.ollama.facts import Runner

_MOST_REQUESTS = 20


@dataclass
class Request:
    """One prompt that a model server was given.

    Attributes:
        prompt: Its tokens.
        key: Number of the process, slot and task; none where a runner has no such thing.
        cached: Tokens that were in memory.
        re_read: Tokens that were read.
        length: Tokens in the slot at the end, the answer's among them.
        done: Whether it has ended.
        contradicts: Whether its lines do.
        bare: Whether what was read stood there without a slot.
    """

    prompt: int
    key: tuple[int, str, str] | None = None
    cached: int | None = None
    re_read: int | None = None
    length: int | None = None
    done: bool = False
    contradicts: bool = False
    bare: bool = False

    def note_read(self, re_read: int) -> None:
        """Keep how many tokens were read, which no request reports twice."""
        self.contradicts |= self.re_read not in {None, re_read}
        self.re_read = re_read

    @property
    def over(self) -> bool:
        """Whether it has ended, or reported what was read, which it does at its end."""
        return self.done or self.re_read is not None

    @property
    def reused(self) -> int | None:
        """Tokens that were not read again; none if it is not known for sure.

        What was cached says nothing by itself: an embedding, and a request that was given up, have
        that line, too, and only one that was answered says what it read.
        """
        if self.re_read is None or self.contradicts:
            return None
        found = self.prompt - self.re_read
        if not 0 <= found <= self.prompt:
            return None
        return found if self.cached in {None, found} else None

    def goes_on_from(self, earlier: "Request") -> bool:
        """Whether it is the next call of the same question, after a tool was used.

        Then it comes into the same slot, and is longer than all that was there; and the server had
        the earlier prompt and the beginning of its answer, but no more than that. A longer prompt
        of someone else, which the server had from before, has more.
        """
        if self.key is None or earlier.key is None or earlier.key[:2] != self.key[:2]:
            return False
        if self.reused is None or earlier.length is None:
            return False
        return earlier.prompt < self.reused <= earlier.length < self.prompt


@dataclass
class Requests:
    """What was seen since just before a question was sent; formats of logs write into it.

    Attributes:
        seen: What was seen beside the counts, of the first request as far as it is of one.
        starts: How many models were loaded; part of a request's key.
        gaps: How often it was said that lines are missing.
        no_question: Whether Ollama said of a request that it was none, or came to nothing.
    """

    seen: Facts = field(default_factory=Facts)
    starts: int = 0
    gaps: int = 0
    no_question: bool = False
    _all: list[Request] = field(default_factory=list)
    _loading: int = 0
    _interrupted: bool = False
    _strangers: bool = False

    @property
    def complete(self) -> bool:
        """Whether there is a request, and each one has ended and reported what was read.

        llama-server writes both lines at the end of a request, in an order that has changed.
        """
        return self.over and all(
            request.done and request.re_read is not None for request in self._all
        )

    @property
    def over(self) -> bool:
        """Whether there is a request, and each one is over: a request given up says nothing."""
        return bool(self._all) and all(request.over for request in self._all)

    @property
    def empty(self) -> bool:
        """Whether no request was seen."""
        return not self._all

    @property
    def prompt(self) -> int | None:
        """Tokens of the first request's prompt."""
        return self._all[0].prompt if self._all else None

    @property
    def facts(self) -> Facts:
        """What was seen beside the counts, of the first request as far as it is of one."""
        return replace(self.seen, loads=self.starts)

    @property
    def number(self) -> int:
        """How many requests began."""
        return len(self._all)

    def begin(self, request: Request) -> None:
        """Take a request that began."""
        if len(self._all) < _MOST_REQUESTS:
            self._all.append(request)

    def is_first(self, request: Request) -> bool:
        """Whether a request is the one whose counts are asked for."""
        return request is self._all[0]

    def of_slot(self, slot: str, task: str) -> Request | None:
        """Return the request of this process, slot and task, if it began in the window."""
        key = (self.starts, slot, task)
        return next((it for it in reversed(self._all) if it.key == key), None)

    def note_stranger(self) -> None:
        """Note that a request from before is there: timings without a slot may be its own."""
        self._strangers = True
        for request in self._all:
            request.contradicts |= request.bare

    def note_read_somewhere(self, re_read: int) -> None:
        """Take timings without a slot: they count where only one request waits for its own."""
        waiting = [it for it in self._all if it.key and it.re_read is None]
        if len(waiting) == 1 and not self._strangers:
            waiting[0].note_read(re_read)
            waiting[0].bare = True

    def note_start(self) -> None:
        """Note that a model is being loaded."""
        self._loading += 1
        self._start()

    def note_loaded(self) -> None:
        """Note that a model is loaded, which may have begun before anyone listened."""
        if self._loading:
            self._loading -= 1
        else:
            self._start()

    def _start(self) -> None:
        self.starts += 1
        self._interrupted |= any(not request.over for request in self._all)

    def counts(self) -> Counts:
        """Return the counts of the first call of the model, or why they are unknown."""
        if because := self._doubt():
            return Counts(reason=because)
        first = self._all[0]
        return Counts(
            prompt=first.prompt,
            cached=first.reused,
            re_read=first.re_read,
            facts=self.facts,
        )

    def _doubt(self) -> str | None:
        """Return why it is not sure which lines are the question's; none if it is."""
        if self.gaps:
            return (
                "it says itself that lines are missing there: raise the limit of whoever keeps it, "
                "for a journal LogRateLimitIntervalSec=0 in the model server's unit"
            )
        if not self._all:
            return "no request of a model was written there"
        if self.starts > 1 or self._interrupted:
            return (
                "several model processes wrote there in between, and which of their lines are the "
                "question's cannot be known"
            )
        pairs = zip(self._all, self._all[1:], strict=False)
        if not all(later.goes_on_from(earlier) for earlier, later in pairs):
            return (
                f"{len(self._all)} requests were written there in between, and which of them "
                "is the question's cannot be known: ask when no one else does"
            )
        return self._doubt_about(self._all[0])

    def _doubt_about(self, request: Request) -> str | None:
        """Return why the cost of the only request is not sure; none if it is."""
        if request.re_read is None or (request.key is None and self.no_question):
            return (
                "the request that was written there was given up, was no question (an embedding, "
                "for example), or its last lines are missing"
            )
        if request.reused is None:
            return "the lines there about the question are incomplete or contradict each other"
        return None


class WholeLine:
    """A line that says everything of a request, in fields such as `cached=5`."""

    def __init__(
        self, words: str, *, prompt: str, cached: str, re_read: str, against: str = ""
    ) -> None:
        """Take what the line says, as a pattern, and how its fields are called."""
        self._words = re.compile(words)
        self._prompt, self._cached, self._re_read, self._against = prompt, cached, re_read, against
        names = "|".join(filter(None, (prompt, cached, re_read, against)))
        self._field = re.compile(rf"\b({names})=(\d{{1,9}})\b", re.ASCII)

    def take(self, line: str, found: Requests, runner: Runner) -> bool:
        """Note the request of a line; return whether it is such a line."""
        if not self._words.search(line):
            return False
        fields = {match[1]: int(match[2]) for match in self._field.finditer(line)}
        if {self._prompt, self._cached, self._re_read} <= fields.keys():
            request = Request(fields[self._prompt], cached=fields[self._cached], done=True)
            request.note_read(fields[self._re_read])
            if found.empty:
                against = fields.get(self._against)
                found.seen = replace(found.seen, runner=runner, against=against)
            found.begin(request)
        return True
