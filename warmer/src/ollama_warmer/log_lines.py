"""Finds in a model server's log what one question cost.

Lines are recognised by their text and never by the function that wrote them, which changed from
release to release, and anywhere in a line, because a journal or a container puts words before it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
import re

from ollama_warmer import log_facts
from ollama_warmer.counts import Counts
from ollama_warmer.log_facts import Facts, Runner

_NUMBER = r"(\d{1,9})"  # longer ones are none of a log's
_SLOT = re.compile(rf"id\s+{_NUMBER}\s*\|\s*task\s+{_NUMBER}\s*\|\s*(.*)", re.ASCII)
_NEW = re.compile(rf"new prompt,.*?\b(?:task\.n_tokens|n_prompt_tokens) = {_NUMBER}", re.ASCII)
_REUSED = re.compile(
    rf"(?:(?:cached n_tokens|n_past|n_tokens) = {_NUMBER}, memory_seq_rm \["
    rf"|kv cache rm \[{_NUMBER}, end\))",
    re.ASCII,
)
_READ = re.compile(rf"prompt eval time =\s*[\d.]+ ms /\s*{_NUMBER} tokens", re.ASCII)
# Before May 2026 llama-server began this line with an empty one, and no slot stands in front of
# it. The library's own summary at the end of a process has the same words.
_READ_WITHOUT_SLOT = re.compile(
    rf"(?<!perf_context_print: )(?<!perf_print: ){_READ.pattern}", re.ASCII
)
_RELEASED = re.compile(rf"stop processing\b(?:: n_(?:tokens|past) = {_NUMBER},)?", re.ASCII)
# A container's log file is JSON, with a backslash before each quotation mark.
_GO_RUNNER = re.compile(r'msg=\\?"loading cache slot\\?"')
_MLX = re.compile(r'msg=\\?"cache (?:hit|miss)\\?"')
_STARTING = re.compile(r'msg=\\?"starting (?:llama-server|runner|mlx runner subprocess)\\?"')
_LOADED = re.compile(r":\s+model loaded(?:\\n|\s*$)")
_FIELD = re.compile(rf"\b(prompt|used|remaining|total|matched|cached|left)={_NUMBER}\b", re.ASCII)
_MOST_REQUESTS = 20
_LONGEST = 2000


@dataclass
class _Request:
    """One prompt that a model server was given.

    Attributes:
        prompt: Its tokens.
        key: Number of the process, slot and task; none where a runner has no such thing.
        cached: Tokens that were in memory.
        read: Tokens that were read.
        length: Tokens in the slot at the end, the answer's among them.
        done: Whether it has ended.
        contradicts: Whether its lines do.
    """

    prompt: int
    key: tuple[int, str, str] | None = None
    cached: int | None = None
    read: int | None = None
    length: int | None = None
    done: bool = False
    contradicts: bool = False

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
        """Tokens that were not read again; none if it is not known for sure."""
        found = self.prompt - self.read if self.read is not None else self.cached
        if found is None or self.contradicts or not 0 <= found <= self.prompt:
            return None
        return found if self.cached in {None, found} else None

    def goes_on_from(self, earlier: "_Request") -> bool:
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


@dataclass
class Window:
    """The lines from just before a question was sent until the next one is.

    Attributes:
        on_progress: Is told which share of the prompt has been read, 0 to 1.
    """

    on_progress: Callable[[float], None] | None = None
    _requests: list[_Request] = field(default_factory=list)
    _facts: Facts = field(default_factory=Facts)
    _starts: int = 0
    _loading: int = 0
    _interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether there is a request, and each one has ended and told what was read.

        llama-server writes both lines at the end of a request, in an order that has changed.
        """
        return self.over and all(
            request.done and request.read is not None for request in self._requests
        )

    @property
    def over(self) -> bool:
        """Whether there is a request, and each one is over: a request given up tells nothing."""
        return bool(self._requests) and all(request.over for request in self._requests)

    @property
    def empty(self) -> bool:
        """Whether no request was seen."""
        return not self._requests

    @property
    def prompt(self) -> int | None:
        """Tokens of the first request's prompt."""
        return self._requests[0].prompt if self._requests else None

    @property
    def facts(self) -> Facts:
        """What was seen beside the counts, of the first request as far as it is of one."""
        return replace(self._facts, loads=self._starts)

    @property
    def requests(self) -> int:
        """How many requests began."""
        return len(self._requests)

    @property
    def loads(self) -> int:
        """How many models were loaded."""
        return self._starts

    def feed(self, line: str) -> None:
        """Take one line, of any words."""
        line = line[:_LONGEST]
        if self.on_progress and (share := log_facts.progress(line)) is not None:
            self.on_progress(share)
        if match := _SLOT.search(line):
            self._feed_slot(*match.groups())
        elif match := _READ_WITHOUT_SLOT.search(line):
            waiting = [it for it in self._requests if it.key and it.read is None]
            if len(waiting) == 1:
                waiting[0].note_read(int(match[1]))
        else:
            self._feed_words(line)

    def _feed_slot(self, slot: str, task: str, words: str) -> None:
        """Take a line of llama-server about the request in a slot."""
        if match := _NEW.match(words):
            self._add(_Request(int(match[1]), (self._starts, slot, task)))
        if (request := self._find(slot, task)) is None:
            return
        if request is self._requests[0]:
            self._facts = log_facts.with_slot_line(self._facts, words)
        if match := _REUSED.match(words):
            # It is printed once for each batch: only the first tells what was there before.
            if request.cached is None:
                request.cached = int(match[1] or match[2])
        elif match := _READ.match(words):
            request.note_read(int(match[1]))
        elif match := _RELEASED.match(words):
            request.done = True
            request.length = int(match[1]) if match[1] else None

    def _feed_words(self, line: str) -> None:
        """Take a line of Ollama's own, or of a runner that is not llama-server."""
        self._facts = log_facts.with_line(self._facts, line)
        if _GO_RUNNER.search(line):
            self._add_whole(Runner.GO, line, "prompt", "used", "remaining")
        elif _MLX.search(line):
            # "hit" and "miss" are about something else: only the numbers tell.
            self._add_whole(Runner.MLX, line, "total", "cached", "left")
        elif _STARTING.search(line):
            self._loading += 1
            self._start()
        elif _LOADED.search(line):
            if self._loading:
                self._loading -= 1
            else:
                self._start()

    def _start(self) -> None:
        self._starts += 1
        self._interrupted |= any(not request.over for request in self._requests)

    def _add(self, request: _Request) -> None:
        if len(self._requests) < _MOST_REQUESTS:
            self._requests.append(request)

    def _add_whole(self, runner: Runner, line: str, prompt: str, cached: str, read: str) -> None:
        """Add a request of which one line, written before it is read, tells everything."""
        found = {match[1]: int(match[2]) for match in _FIELD.finditer(line)}
        if not {prompt, cached, read} <= found.keys():
            return
        request = _Request(found[prompt], cached=found[cached], done=True)
        request.note_read(found[read])
        if not self._requests:
            self._facts = replace(self._facts, runner=runner, against=found.get("matched"))
        self._add(request)

    def _find(self, slot: str, task: str) -> _Request | None:
        """Return the request of this process, slot and task, if it began in the window."""
        key = (self._starts, slot, task)
        return next((it for it in reversed(self._requests) if it.key == key), None)

    def counts(self) -> Counts:
        """Return the counts of the first call of the model, or why they are unknown."""
        if not self._requests:
            return Counts(reason="no request of a model was written there")
        if self._starts > 1 or self._interrupted:
            return Counts(
                reason="several model processes wrote there in between, and which of their "
                "lines are the question's cannot be told"
            )
        first = self._requests[0]
        pairs = zip(self._requests, self._requests[1:], strict=False)
        if not all(later.goes_on_from(earlier) for earlier, later in pairs):
            return Counts(
                reason=f"{len(self._requests)} requests were written there in between, and which "
                "of them is the question's cannot be told: ask when nobody else does"
            )
        if first.reused is None:
            return Counts(
                prompt=first.prompt,
                reason="the lines there about the question are incomplete or contradict each other",
            )
        return Counts(
            prompt=first.prompt,
            cached=first.reused,
            re_read=first.prompt - first.reused,
            facts=self.facts,
        )
