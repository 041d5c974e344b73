"""Pages to look at: one self-contained HTML file for a probe, a clock or the status."""

from ollama_warmer.pages.clock import write_clock_page
from ollama_warmer.pages.output import check
from ollama_warmer.pages.probe import write_probe_page
from ollama_warmer.pages.status import write_status_page

__all__ = [
    "check",
    "write_clock_page",
    "write_probe_page",
    "write_status_page",
]
