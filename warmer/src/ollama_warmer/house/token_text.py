"""Finds the token in what people paste; for a script: `-m ollama_warmer.house.token_text`.

Home Assistant counts each wrong token that it is shown, and may ban the machine that shows it. So
whatever cannot be right is found out before it is sent.
"""

import re
import sys

from ollama_warmer.errors import TokenError
from ollama_warmer.written import decoded

WHERE = "in Home Assistant under your profile, Security, Long-lived access tokens"

# Home Assistant's tokens are JSON Web Tokens in the compact form of RFC 7519: three parts in the
# web's base64. Nothing else is in one (`async_create_access_token` of Home Assistant 2026.11).
_TOKEN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}")
# What no one sees and editors write of themselves: blanks, marks of byte order and of direction,
# and characters of no width.
_UNSEEN = "\\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_AROUND = re.compile(rf"\A[{_UNSEEN}]+|[{_UNSEEN}]+\Z")
_WRAPPED = (
    (r"[\x00-\x08\x0e-\x1b\ufffd]", "it has control characters in it, or is no text in UTF-8"),
    (r"[\n\r\v\f\u0085\u2028\u2029]", "it has several lines"),
    (r"[\"'`\u00ab\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\uff02\uff07]", "it has quotes in it"),
    # What follows a name is no dot and no end, as it is behind a part in another kind of base64.
    (r"\A[^.=:]*[=:](?![.=]|\Z)", "it has a name in front of the token"),
    (r"(?i)\A\W*bearer\b", 'it has the word "Bearer" in front of the token'),
    (r"#", "it has a comment behind the token"),
    (r"\s", "it has blanks in it"),
    (
        r"[^!-~]",
        "it has characters in it that are in no token, and that may not be seen on a screen",
    ),
)
_CUT = "a token has three parts with dots between them, and nothing but letters, digits, _ and -"
# Home Assistant's own have fewer than 200 characters. Whoever reads a file stops at the second one.
_LONGEST_TOKEN = 4_096
LONGEST = 65_536


def clean(text: str, place: str) -> str:
    """Return the token in a text, without what stands unseen around it.

    Args:
        text: What was found.
        place: Where it was found, for the sentence.

    Raises:
        TokenError: It can be no long-lived access token; the text of it is not quoted.
    """
    token = _AROUND.sub("", text)
    if not token:
        raise TokenError(
            f"There is nothing in {place}: put a long-lived access token of Home Assistant there"
        )
    # Of what was cut off, the beginning would look like a token.
    if len(token) > _LONGEST_TOKEN or len(text) >= LONGEST:
        raise TokenError(
            f"There is something else than a token in {place}: it is far too long. It has to hold "
            "one long-lived access token of Home Assistant and nothing more"
        )
    if not _TOKEN.fullmatch(token):
        what = next((words for wrapped, words in _WRAPPED if re.search(wrapped, token)), _CUT)
        raise TokenError(
            f"There is something else than a token in {place}: {what}. It has to hold one "
            "long-lived access token of Home Assistant and nothing more"
        )
    return token


def main() -> int:
    """Write the token of standard input to standard output, or a sentence and return 1."""
    try:
        token = clean(decoded(sys.stdin.buffer.read(LONGEST), "replace"), sys.argv[1])
    except TokenError as err:
        print(f"error: {err}. Make one {WHERE}", file=sys.stderr)  # noqa: T201 - its only screen
        return 1
    print(token)  # noqa: T201 - for the script that keeps it
    return 0


if __name__ == "__main__":
    sys.exit(main())
