"""Links in Markdown files: where each leads, and whether there is something."""

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import ipaddress
from pathlib import Path
import re
import sys
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from script.lib.project import ROOT, committed, read

_FENCE: Final = re.compile(r"^( *)(```|~~~).*?^\1\2`*$", re.MULTILINE | re.DOTALL)
_SPAN: Final = re.compile(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_INLINE: Final = re.compile(
    r"\]\(\s*<?([^()\s>]+(?:\([^()\s]*\)[^()\s>]*)?)>?(?:\s+\"[^\"]*\")?\s*\)"
)
_DEFINED: Final = re.compile(r"^ {0,3}\[([^\]^]+)\]:\s*<?(\S+?)>?(?:\s+\"[^\"]*\")?$", re.MULTILINE)
_NAMED: Final = re.compile(r"\[([^\]\[]+)\]\[([^\]\[]*)\]")
_BARE: Final = re.compile(r"<(https?://[^>\s]+)>")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$", re.MULTILINE)
_ANCHOR: Final = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
# Says no to programs, though there is something for people.
_SHY: Final = {401, 403, 405, 406, 429}
_TRIES: Final = 3
_SECONDS: Final = 20


@dataclass(frozen=True)
class Link:
    """Where a link is, and where it leads; a reference without its definition leads to None."""

    file: Path
    line: int
    target: str | None
    words: str


def prose(text: str) -> str:
    """Return a text with all code in it blanked out, each character where it was."""

    def blank(code: re.Match[str]) -> str:
        return re.sub(r"\S", " ", code[0])

    return _SPAN.sub(blank, _FENCE.sub(blank, text))


def links(path: Path) -> Iterator[Link]:
    """Yield the links in a Markdown file."""
    text = prose(path.read_text())
    defined = {name.casefold(): target for name, target in _DEFINED.findall(text)}
    for pattern in (_INLINE, _BARE):
        for found in pattern.finditer(text):
            yield Link(path, _line(text, found), found[1], found[1])
    for found in _DEFINED.finditer(text):
        yield Link(path, _line(text, found), found[2], found[2])
    for found in _NAMED.finditer(text):
        name = " ".join((found[2] or found[1]).split())
        if name.casefold() not in defined:
            yield Link(path, _line(text, found), None, name)


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def anchors(path: Path) -> set[str]:
    """Return what can stand behind the # in a link to a Markdown file, as GitHub makes it."""
    text = path.read_text()
    plain = _FENCE.sub(lambda code: "\n" * code[0].count("\n"), text)
    found: set[str] = set(_ANCHOR.findall(plain))
    times: dict[str, int] = {}
    for heading in _HEADING.findall(plain):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
        count = times[name] = times.get(name, -1) + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def broken(root: Path) -> list[str]:
    """Return a sentence for each link to a file or heading of ours that is not there."""
    return [
        f"{path.relative_to(root)}:{link.line}: {link.words}: {reason}"
        for path in _markdown(root)
        for link in links(path)
        if (reason := _fault(root, link))
    ]


def _markdown(root: Path) -> list[Path]:
    return [path for path in committed(root) if path.suffix == ".md"]


def _fault(root: Path, link: Link) -> str | None:
    """Return what is wrong with a link, as far as the repository can know."""
    if link.target is None:
        return "has no definition"
    ours = re.match(rf"{re.escape(read(root).repository)}/(?:blob|tree)/main/(.+)", link.target)
    if not ours and urlsplit(link.target).scheme:
        return None
    name, _, anchor = (ours[1] if ours else link.target).partition("#")
    folder = root if ours or name.startswith("/") else link.file.parent
    path = (folder / unquote(name).lstrip("/")).resolve() if name else link.file
    if not path.is_relative_to(root.resolve()):
        return "leads out of the repository"
    if not path.exists():
        return "there is no such file"
    if anchor and path.suffix == ".md" and unquote(anchor) not in anchors(path):
        return "there is no such heading"
    return None


def pages(root: Path) -> list[str]:
    """Return the addresses of linked pages elsewhere, without those that only are examples."""
    targets = {link.target or "" for path in _markdown(root) for link in links(path)}
    return sorted(
        target
        for target in {target.partition("#")[0] for target in targets}
        if target.startswith(("http://", "https://")) and _is_public(target)
    )


def _is_public(address: str) -> bool:
    """Return whether an address can be a page on the web, rather than one of somebody's house."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not re.search(r"(^|\.)(example(\.\w+)?|local|test|invalid)$", host)


def unreachable(address: str) -> str | None:
    """Ask for a page; return why there is none, None if it is there."""
    request = Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})  # noqa: S310 - http(s) only, see pages
    reason = ""
    for _ in range(_TRIES):
        try:
            with urlopen(request, timeout=_SECONDS):  # noqa: S310 - as above
                return None
        except HTTPError as error:
            error.close()
            if error.code in _SHY:
                return None
            reason = str(error)
        except (URLError, OSError) as error:
            reason = str(error)
    return f"{address}: {reason}"


def main() -> int:
    """Check the links, and say which lead nowhere."""
    parser = argparse.ArgumentParser(prog="script/links", description=main.__doc__)
    parser.add_argument("--web", action="store_true", help="ask for pages elsewhere, too")
    found = broken(ROOT)
    if parser.parse_args().web:
        with ThreadPoolExecutor(max_workers=8) as pool:
            found += filter(None, pool.map(unreachable, pages(ROOT)))
    print(*found or ["All links lead somewhere"], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
