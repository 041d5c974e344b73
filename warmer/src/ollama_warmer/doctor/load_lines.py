"""Finds in a model server's log how models were loaded.

Lines are recognised by their text, anywhere in a line, as in `ollama_warmer.counts.lines`. Ollama
0.30 and newer pass llama-server's lines on as they are; which process wrote one is known only by
what stands before it.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
import re

from ollama_warmer.counts import loads as log_loads
from ollama_warmer.counts.register import Start
from ollama_warmer.counts.wrapping import Unwrapping
from ollama_warmer.ollama.facts import Memory, Runner

# A container's log file is JSON, with a backslash before each quotation mark.
_QUOTE = r'\\?"'
_TIME = re.compile(r"\btime=(\d{4}-\d\d-\d\dT\S+)")
_LOADING = re.compile(r":\s+loading model '([^']*)'")
_ARCHITECTURE = re.compile(r"print_info: arch\s+= (\S+)")
_SWA = re.compile(r"print_info: n_swa\s+= (\d{1,9})\b", re.ASCII)
_RECURRENT = re.compile(r"llama_memory_recurrent: size =")
_SLOTS = re.compile(r"initializing, n_slots = (\d{1,9}), n_ctx_slot = (\d{1,9})\b", re.ASCII)
_UBATCH = re.compile(r"llama_context: n_ubatch\s+= (\d{1,9})\b", re.ASCII)
_CACHE = re.compile(r"prompt cache is (?:(disabled)|enabled, size limit: (\d{1,9})?)", re.ASCII)
_PARALLEL = re.compile(
    rf"msg={_QUOTE}model architecture does not currently support parallel requests{_QUOTE} "
    rf"architecture={_QUOTE}?([\w.-]+)|"
    rf"msg={_QUOTE}model architecture does not currently support parallel requests{_QUOTE}"
)
_SELECTED = re.compile(rf"msg={_QUOTE}template selection{_QUOTE} model=(\S+) selected=(\w+)")
_CUT = re.compile(rf"msg={_QUOTE}truncating input prompt{_QUOTE}.*?\blimit=(\d{{1,9}})", re.ASCII)
_TOO_LONG = re.compile(
    r"request \((\d{1,9}) tokens\) exceeds the available context size \((\d{1,9}) tokens\)",
    re.ASCII,
)
_CLIENT = re.compile(
    r"\[GIN\].*?\|\s*\d{3}\s*\|[^|]*\|\s*([0-9A-Fa-f.:]+)\s*\|\s*POST\s+\\?\""
    r"(/api/(?:chat|generate)|/v1/[\w/]+)"
)
_LONGEST = 4000
_MOST_LOADS = 1000


@dataclass
class Load:
    """A model process that was started; what the log does not say is None.

    Attributes:
        model: The name of the model's file, without its folders.
        time: When it was started.
        command: Whether Ollama's own line about the start was seen.
        context: The window of one slot, in tokens.
        slots: How many prompts it keeps side by side.
        batch: How many tokens it reads at once.
        shift: Whether it moves a full window on.
        architecture: The model's.
        memory: How the model remembers.
        cache_mib: Memory for whole prompts, 0 if there is none.
        mlx: Whether it is the MLX runner, which says little.
        complete: Whether the model was seen to be loaded.
        blurred: Whether another one was started before this one was loaded, so that the lines
            about either may be the other's.
    """

    model: str | None = None
    time: datetime | None = None
    command: bool = False
    context: int | None = None
    slots: int | None = None
    batch: int | None = None
    shift: bool | None = None
    architecture: str | None = None
    memory: Memory | None = None
    cache_mib: int | None = None
    mlx: bool = False
    complete: bool = False
    blurred: bool = False


@dataclass
class LoadLog:
    """What a log says about loads and about who asks.

    Attributes:
        loads: The processes that were started, the newest last.
        not_parallel: Architectures that got one slot, whatever OLLAMA_NUM_PARALLEL says.
        selected: Model -> what makes its prompt, in Ollama's words.
        cut: The windows for which Ollama cut a prompt.
        too_long: (prompt, window) of requests that were refused, in tokens.
        clients: (address, path) -> how often it asked for an answer.
        lines: How many lines there were.
    """

    loads: list[Load] = field(default_factory=list)
    not_parallel: set[str] = field(default_factory=set)
    selected: dict[str, str] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    too_long: list[tuple[int, int]] = field(default_factory=list)
    clients: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: int = 0
    _unwrapping: Unwrapping = field(default_factory=Unwrapping, repr=False, compare=False)

    def feed(self, line: str) -> None:
        """Take one line, of any words, in whatever shape a journal or a container gave it."""
        self.lines += 1
        for own in self._unwrapping.lines(line):
            self._feed_own(own[:_LONGEST])

    def _feed_own(self, line: str) -> None:
        """Take one line of the server's own."""
        # Most lines of a log are about requests, and one look has to be enough for them.
        if " | task " in line and "exceeds" not in line:
            return
        if start := log_loads.start(line):
            self._start(line, start)
        elif match := _LOADING.search(line):
            self._loading(match[1])
        elif self.loads and not self.loads[-1].complete:
            self._detail(line, self.loads[-1])
        self._words(line)

    def _start(self, line: str, start: Start) -> None:
        """Begin a process that Ollama says it starts."""
        load = _of_command(start)
        load.mlx = start.runner is Runner.MLX
        load.time = _time(line)
        # A start that failed is tried again, and then the first one is dead.
        before = self.loads[-1] if self.loads else None
        if before and not before.complete and not before.mlx and before.model != load.model:
            before.blurred = load.blurred = True
        self._add(load)

    def _loading(self, path: str) -> None:
        """Take llama-server's own word for the start, which is the first without Ollama."""
        name = _file_name(path)
        last = self.loads[-1] if self.loads else None
        if last is None or last.complete or not last.command:
            self._add(Load(model=name))

    def _add(self, load: Load) -> None:
        del self.loads[: -_MOST_LOADS + 1]
        self.loads.append(load)

    def _detail(self, line: str, load: Load) -> None:
        """Take a line that a process writes while it loads a model."""
        if log_loads.ready(line):
            load.complete = True
        if load.blurred:
            return
        if match := _ARCHITECTURE.search(line):
            # A second one is the small model that guesses ahead.
            load.architecture = load.architecture or match[1]
        elif match := _SWA.search(line):
            kind = Memory.SLIDING if int(match[1]) else Memory.ATTENTION
            load.memory = load.memory or kind
        elif _RECURRENT.search(line):
            load.memory = Memory.RECURRENT
        elif match := _SLOTS.search(line):
            load.slots, load.context = int(match[1]), int(match[2])
        elif match := _UBATCH.search(line):
            load.batch = load.batch or int(match[1])
        elif match := _CACHE.search(line):
            load.cache_mib = 0 if match[1] else int(match[2]) if match[2] else None

    def _words(self, line: str) -> None:
        """Take a line that is about no load in particular."""
        if match := _PARALLEL.search(line):
            self.not_parallel.add(match[1] or "")
        elif match := _SELECTED.search(line):
            self.selected[match[1]] = match[2]
        elif match := _CUT.search(line):
            self.cut.add(int(match[1]))
        elif match := _TOO_LONG.search(line):
            self.too_long.append((int(match[1]), int(match[2])))
            del self.too_long[:-_MOST_LOADS]
        elif match := _CLIENT.search(line):
            self.clients[match[1], match[2]] += 1


def _of_command(start: Start) -> Load:
    """Read the command that Ollama starts a process with.

    From 0.11.5 to 0.24 window and slots are not in it.
    """
    command = start.command
    slots = _number(command, "-np", "--parallel") or 1
    context = _number(command, "-c", "--ctx-size")
    model = re.search(r"--model\s+(.+?)(?=\s+--?[a-z]|\\?\"|$)", command)
    return Load(
        model=_file_name(model[1]) if model else None,
        command=True,
        context=context // slots if context else None,
        slots=slots if context else None,
        batch=_number(command, "-ub", "-b", "--batch-size"),
        shift="--context-shift" in command if start.runner is Runner.LLAMA_SERVER else None,
    )


def _number(command: str, *options: str) -> int | None:
    for option in options:
        if match := re.search(rf"(?:^|\s){option}\s+(\d{{1,9}})\b", command, re.ASCII):
            return int(match[1])
    return None


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path.strip())[-1]


def _time(line: str) -> datetime | None:
    if (match := _TIME.search(line)) is None:
        return None
    try:
        moment = datetime.fromisoformat(match[1])
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
