"""What Ollama itself writes of requests, whichever runner reads them."""

from dataclasses import replace
import re

from ollama_warmer.counts.register import QUOTE, LogFormat
from ollama_warmer.counts.requests import Requests

# A runner that reports a request before it reads it does not say how it ended, but Ollama does: it
# was given up, failed, or was for no question.
_NO_QUESTION = re.compile(
    rf"msg={QUOTE}aborting (?:completion|chat|embeddings?) request|msg={QUOTE}Request terminated"
    r'|\[GIN\].*?\|\s*[45]\d\d\s*\|.*\bPOST\s+\\?"/(?:api/(?:chat|generate)|v1/)'
    r'|\[GIN\].*\bPOST\s+\\?"/(?:api/embed|v1/embeddings)'
)
_CUT = re.compile(rf"msg={QUOTE}truncating input prompt{QUOTE}")


class Ollama(LogFormat):
    """How requests ended, and whether a prompt was cut."""

    # Python 3.11 has no @override.
    def take(self, line: str, found: Requests) -> bool:  # type: ignore[explicit-override]
        """Note what a line says of a request; return whether it is one of this format."""
        if _CUT.search(line):
            found.seen = replace(found.seen, cut=True)
            return True
        if _NO_QUESTION.search(line):
            found.no_question = True
            return True
        return False
