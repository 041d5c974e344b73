"""What the doctor saw of a house and its model server, and what follows from all of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ollama_warmer.config.config import Config, OllamaConfig
from ollama_warmer.doctor.house import House
from ollama_warmer.doctor.load_lines import Load
from ollama_warmer.doctor.loads import Loads, others_options, overflows, path_by_log
from ollama_warmer.doctor.log_tail import Tail
from ollama_warmer.doctor.measurement import Measurement, Size, fits_window
from ollama_warmer.doctor.server import Server
from ollama_warmer.doctor.setup import Setup
from ollama_warmer.ollama.facts import Memory, PromptPath


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of the model and its window when an answer is judged.

    Attributes:
        memory: How the model remembers; none if it is not known.
        path: Who makes the prompt; none if it is not known.
        batch: How many tokens are read at once; none if it is not known.
        window: The agent's window in tokens; none if it is not known.
        log_trouble: Whether the log that should give counts cannot be read.
        ours: The agents of our own integration.
    """

    memory: Memory | None = None
    path: PromptPath | None = None
    batch: int | None = None
    window: int | None = None
    log_trouble: bool = False
    ours: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was seen; each `trouble` says why something could not be.

    Attributes:
        setup: What was to be looked at.
        token_trouble: Why there is no token.
        house: What the token's user can see of the house; none if nothing.
        house_trouble: Why Home Assistant did not let us in.
        before: The model server before anything was asked; none if it was not seen every time.
        server: The same after it.
        server_trouble: Why it was not seen.
        measurement: What answers cost; none if nothing was to be asked.
        size: How long the prompt is; none if it is not known.
        size_trouble: Why the last rounds, which may know that, are not known.
        tail: The end of the log.
        loads: The loads in it.
    """

    setup: Setup
    token_trouble: str | None = None
    house: House | None = None
    house_trouble: str | None = None
    before: Server | None = None
    server: Server | None = None
    server_trouble: str | None = None
    measurement: Measurement | None = None
    size: Size | None = None
    size_trouble: str | None = None
    tail: Tail = field(default_factory=Tail)
    loads: Loads = field(default_factory=Loads)

    @property
    def config(self) -> Config | None:
        """The configuration; none if a model server is looked at alone."""
        return self.setup.config

    @property
    def wanted(self) -> OllamaConfig:
        """What the agent asks the model server with, as far as that is known."""
        return self.setup.ollama or OllamaConfig()

    @cached_property
    def path_by_log(self) -> PromptPath | None:
        """Who makes the prompt, by the log; none if that does not say it."""
        return path_by_log(self.tail, self.server.model) if self.server else None

    @cached_property
    def others(self) -> tuple[Load, Load] | None:
        """Two loads of the agent's model that two clients must have asked for; none without."""
        return others_options(self.loads, self.wanted.num_ctx)

    @cached_property
    def known(self) -> Known:
        """What is known when answers are judged; the log knows better than descriptions."""
        server, last = self.server, self.loads.last
        loaded = server.entry.context if server and server.entry else None
        return Known(
            memory=(last.memory if last else None) or (server.memory if server else None),
            path=self.path_by_log or (server.path if server else None),
            batch=last.batch if last else None,
            window=loaded or self.wanted.num_ctx,
            log_trouble=self.tail.trouble is not None,
            ours=self.house.ours if self.house else frozenset(),
        )

    @property
    def fits(self) -> bool:
        """Whether the prompt was not cut, as far as it is known."""
        return fits_window(self.measurement, self.size, self.known.window)

    @property
    def overflows(self) -> Sequence[str]:
        """What the log says of prompts that did not fit."""
        return overflows(self.tail, self.known.window)
