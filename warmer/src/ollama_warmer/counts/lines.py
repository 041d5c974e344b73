"""Finds in a model server's log what one question cost.

Lines are recognised by their text and never by the function that wrote them, which changed from
release to release, and anywhere in a line, because a journal or a container puts words before it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
import re

from ollama_warmer.counts import loads as log_loads, log_facts
from ollama_warmer.counts.counts import Counts
from ollama_warmer.counts.gaps import is_gap
from ollama_warmer.counts.log_facts import Facts, Runner
from ollama_warmer.counts.request import Request
from ollama_warmer.counts.wrapping import Unwrapping

_NUMBER = r"(\d{1,9})"  # longer ones are none of a log's
_SLOT = re.compile(rf"id\s+{_NUMBER}\s*\|\s*task\s+{_NUMBER}\s*\|\s*(.*)", re.ASCII)
_NEW = re.compile(rf"new prompt,.*?\b(?:task\.n_tokens|n_prompt_tokens) = {_NUMBER}\b", re.ASCII)
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
# A runner that tells of a request before it reads it does not say how it ended, but Ollama does: it
# was given up, failed, or was for no question.
_NO_QUESTION = re.compile(
    r'msg=\\?"aborting (?:completion|chat|embeddings?) request|msg=\\?"Request terminated'
    r'|\[GIN\].*?\|\s*[45]\d\d\s*\|.*\bPOST\s+\\?"/(?:api/(?:chat|generate)|v1/)'
    r'|\[GIN\].*\bPOST\s+\\?"/(?:api/embed|v1/embeddings)'
)
_FIELD = re.compile(rf"\b(prompt|used|remaining|total|matched|cached|left)={_NUMBER}\b", re.ASCII)
_MOST_REQUESTS = 20
_LONGEST = 2000


@dataclass
class Window:
    """The lines from just before a question was sent until the next one is.

    Attributes:
        on_progress: Is told which share of the prompt has been read, 0 to 1.
    """

    on_progress: Callable[[float], None] | None = None
    _requests: list[Request] = field(default_factory=list)
    _facts: Facts = field(default_factory=Facts)
    _starts: int = 0
    _loading: int = 0
    _interrupted: bool = False
    _strangers: bool = False
    _no_question: bool = False
    _gaps: int = 0
    _unwrapping: Unwrapping = field(default_factory=Unwrapping)

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

    @property
    def gaps(self) -> int:
        """How often somebody said that lines are missing."""
        return self._gaps

    def feed(self, line: str) -> None:
        """Take one line, of any words, in whatever shape a journal or a container gave it."""
        for own in self._unwrapping.lines(line):
            self._feed_own(own[:_LONGEST])

    def _feed_own(self, line: str) -> None:
        """Take one line of the server's own."""
        if self.on_progress and (share := log_facts.progress(line)) is not None:
            self.on_progress(share)
        if match := _SLOT.search(line):
            self._feed_slot(*match.groups())
        elif match := _READ_WITHOUT_SLOT.search(line):
            waiting = [it for it in self._requests if it.key and it.read is None]
            if len(waiting) == 1 and not self._strangers:
                waiting[0].note_read(int(match[1]))
                waiting[0].bare = True
        else:
            self._feed_words(line)

    def _feed_slot(self, slot: str, task: str, words: str) -> None:
        """Take a line of llama-server about the request in a slot."""
        if match := _NEW.match(words):
            self._add(Request(int(match[1]), (self._starts, slot, task)))
        if (request := self._find(slot, task)) is None:
            if _REUSED.match(words) or _RELEASED.match(words):
                self._note_stranger()
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
        elif log_loads.start(line):
            self._loading += 1
            self._start()
        elif log_loads.loaded(line):
            if self._loading:
                self._loading -= 1
            else:
                self._start()
        elif _NO_QUESTION.search(line):
            self._no_question = True
        elif is_gap(line):
            self._gaps += 1

    def _note_stranger(self) -> None:
        """Note that a request from before is there: timings without a slot may be its own."""
        self._strangers = True
        for request in self._requests:
            request.contradicts |= request.bare

    def _start(self) -> None:
        self._starts += 1
        self._interrupted |= any(not request.over for request in self._requests)

    def _add(self, request: Request) -> None:
        if len(self._requests) < _MOST_REQUESTS:
            self._requests.append(request)

    def _add_whole(self, runner: Runner, line: str, prompt: str, cached: str, read: str) -> None:
        """Add a request of which one line, written before it is read, tells everything."""
        found = {match[1]: int(match[2]) for match in _FIELD.finditer(line)}
        if not {prompt, cached, read} <= found.keys():
            return
        request = Request(found[prompt], cached=found[cached], done=True)
        request.note_read(found[read])
        if not self._requests:
            self._facts = replace(self._facts, runner=runner, against=found.get("matched"))
        self._add(request)

    def _find(self, slot: str, task: str) -> Request | None:
        """Return the request of this process, slot and task, if it began in the window."""
        key = (self._starts, slot, task)
        return next((it for it in reversed(self._requests) if it.key == key), None)

    def counts(self) -> Counts:
        """Return the counts of the first call of the model, or why they are unknown."""
        if because := self._doubt():
            return Counts(reason=because)
        first = self._requests[0]
        return Counts(
            prompt=first.prompt,
            cached=first.reused,
            re_read=first.read,
            facts=self.facts,
        )

    def _doubt(self) -> str | None:
        """Return why it is not sure which lines are the question's; none if it is."""
        if self._gaps:
            return (
                "it says itself that lines are missing there: raise the limit of whoever keeps it, "
                "for a journal LogRateLimitIntervalSec=0 in the model server's unit"
            )
        if not self._requests:
            return "no request of a model was written there"
        if self._starts > 1 or self._interrupted:
            return (
                "several model processes wrote there in between, and which of their lines are the "
                "question's cannot be told"
            )
        pairs = zip(self._requests, self._requests[1:], strict=False)
        if not all(later.goes_on_from(earlier) for earlier, later in pairs):
            return (
                f"{len(self._requests)} requests were written there in between, and which of them "
                "is the question's cannot be told: ask when nobody else does"
            )
        return self._doubt_about(self._requests[0])

    def _doubt_about(self, request: Request) -> str | None:
        """Return why the cost of the only request is not sure; none if it is."""
        if request.read is None or (request.key is None and self._no_question):
            return (
                "the request that was written there was given up, was no question (an embedding, "
                "for example), or its last lines are missing"
            )
        if request.reused is None:
            return "the lines there about the question are incomplete or contradict each other"
        return None
