"""Says why a session with Home Assistant did not come about or broke, and what to do about it."""

from http import HTTPStatus
import os
import ssl
from urllib.parse import urljoin, urlsplit

from websockets.exceptions import ConnectionClosed, InvalidStatus, SecurityError
from websockets.frames import CloseCode
from websockets.http11 import Response

from ollama_warmer.words import phrase, printable

CHECK = "check home_assistant.url in the configuration file"
_PUT_THERE = "put the address that is right at home_assistant.url in the configuration file"
_OWN_ADDRESS = "or use Home Assistant's own address"
# A proxy that cuts a connection within this after a message does not do it for being silent.
_SILENT = 5.0
# Not 304 and its like, which send no one on.
_REDIRECTS = {301, 302, 303, 307, 308}
_LOCKED = (
    ": a proxy in front of Home Assistant asks for a password of its own, and the token was not "
    f"even looked at. Let that proxy pass /api/websocket without one, {_OWN_ADDRESS}"
)
_BY_STATUS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: _LOCKED,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: _LOCKED,
    HTTPStatus.FORBIDDEN: (
        ": Home Assistant may have banned this machine after wrong tokens, see ip_bans.yaml in its "
        "configuration folder. If there is none, a proxy in front of Home Assistant keeps this "
        f"machine out: let it pass, {_OWN_ADDRESS}"
    ),
    HTTPStatus.TOO_MANY_REQUESTS: (
        ": a proxy in front of Home Assistant limits how often it is asked. Let that proxy pass "
        f"/api/websocket without a limit, {_OWN_ADDRESS}"
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        ", a mistake in what answers there: look at Home Assistant's log, and at that of a proxy "
        "in front of it"
    ),
}
# Also what others than the standard give, such as 520 to 530 of Cloudflare.
_OF_A_PROXY = range(502, 600)
_BEHIND_A_PROXY = (
    ": a proxy is there, and Home Assistant behind it is not, or not in time. See whether Home "
    "Assistant runs, and whether the proxy has its address"
)
_OTHER = (
    " instead of opening a WebSocket: check that home_assistant.url in the configuration file is "
    "Home Assistant's own address, and that a proxy in front of it passes WebSockets on"
)


def explain(url: str, err: Exception, within: float) -> str:
    """Return the sentence for whatever went wrong while a WebSocket was opened.

    Args:
        url: Web address of Home Assistant as it is configured.
        err: What the library raised; a redirect that it did not follow stands behind it.
        within: Seconds that it was tried for.
    """
    if (answer := _answer(err)) is not None:
        return _explain_answer(url, answer)
    if isinstance(err, OSError):
        return _explain_network(url, err, within)
    if isinstance(err, SecurityError):
        return f"{url} sends its visitors round in a circle: {CHECK}"
    return f"What answers at {url} is not Home Assistant, or wants https instead of http: {CHECK}"


def sent_on(url: str, to: str) -> str:
    """Return the sentence for a redirect to an address that the token is not shown to."""
    return (
        f"{url} sends its visitors on to {origin(to)}, and the token is not shown at another "
        f"address than the one in home_assistant.url: {_PUT_THERE}. If it is the login of a proxy, "
        f"let that proxy pass /api/websocket without one, {_OWN_ADDRESS}"
    )


def explain_end(err: ConnectionClosed, silent: float) -> str:
    """Return the sentence for a connection that ended without Home Assistant having closed it.

    Args:
        err: What the library raised.
        silent: Seconds since the last message came.
    """
    # What `websockets` ends a connection with when a ping is not answered.
    if err.rcvd is None and err.sent and err.sent.code == CloseCode.INTERNAL_ERROR:
        return (
            "Home Assistant is not heard any more, it has answered no ping: see whether it hangs, "
            "and whether the network holds"
        )
    words = "The connection to Home Assistant broke: see whether it restarted"
    if silent < _SILENT:
        return words
    return (
        f"{words}; if it did not, a proxy in front of it may cut connections that are silent for "
        f"{silent:.0f} s: raise that limit (proxy_read_timeout of nginx)"
    )


def _answer(err: BaseException) -> Response | None:
    """Return the HTTP answer that came instead of a WebSocket; none if there was none."""
    behind: BaseException | None = err
    while behind is not None:
        if isinstance(behind, InvalidStatus):
            return behind.response
        behind = behind.__cause__ or behind.__context__
    return None


def _explain_network(url: str, err: OSError, within: float) -> str:
    if isinstance(err, ssl.SSLCertVerificationError):
        return (
            f"The certificate of {url} is not trusted: {phrase(err.verify_message)}. Use the name "
            "that the certificate was made for, or let this machine trust it (SSL_CERT_FILE)"
        )
    # Some servers answer a handshake that they do not understand by hanging up.
    if isinstance(err, (ssl.SSLError, ConnectionResetError)) and url.startswith("https:"):
        return f"{url} does not speak TLS: is it an address with http instead of https?"
    if isinstance(err, TimeoutError):
        return (
            f"{url} did not answer within {within:g} s: see whether Home Assistant runs, "
            f"and {CHECK}"
        )
    return (
        f"Home Assistant cannot be reached at {url}: {_reason(err)}. See whether it runs, and "
        f"{CHECK}"
    )


def _explain_answer(url: str, answer: Response) -> str:
    status = answer.status_code
    if status in _REDIRECTS:
        return _explain_redirect(url, answer)
    if status == HTTPStatus.BAD_REQUEST:
        return f"{url} answered HTTP 400: {_explain_bad_request(url, answer)}"
    what = _BY_STATUS.get(status, _BEHIND_A_PROXY if status in _OF_A_PROXY else _OTHER)
    return f"{url} answered HTTP {status}{what}"


def _explain_bad_request(url: str, answer: Response) -> str:
    """Return why; the servers that give this answer have words of their own for it.

    aiohttp, in Home Assistant, names the WebSocket if the request did not ask for one. Home
    Assistant says nothing to a proxy that it does not trust (`http/forwarded.py`, 2026.11). nginx
    says that it was sent plain HTTP.
    """
    body = (answer.body or b"").lower()
    if b"to https port" in body or b"http request to an https" in body:
        return f"what answers there wants https: {_PUT_THERE}"
    passes = "see that the proxy in front of Home Assistant passes WebSockets on (Upgrade)"
    if b"websocket" in body:
        return passes
    trusts = (
        "Home Assistant gives this answer to a proxy that it does not trust. Put the proxy's "
        "address at trusted_proxies under `http:` in its configuration.yaml, beside "
        "use_x_forwarded_for: true"
    )
    plain = "" if url.startswith("https:") else ", and whether the address wants https"
    return f"{trusts}. If that is so, {passes}{plain}"


def _explain_redirect(url: str, answer: Response) -> str:
    where = answer.headers.get("Location")
    if not where:
        return (
            f"{url} answered HTTP {answer.status_code}, which sends visitors on, and does not say "
            f"where to: {CHECK}"
        )
    try:
        to = urljoin(url, where)
        elsewhere = urlsplit(to).hostname != urlsplit(url).hostname
    except ValueError:
        to, elsewhere = where, False
    if elsewhere:
        return sent_on(url, to)
    return (
        f"{url} sends its visitors on to {origin(to)} (HTTP {answer.status_code}): put that "
        "address at home_assistant.url in the configuration file"
    )


def origin(address: str) -> str:
    """Return scheme, host and port of a web address, as they can be put into the file."""
    try:
        parts = urlsplit(address)
        scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
        usual = {"http": 80, "https": 443}.get(scheme)
        port = "" if parts.port in {None, usual} else f":{parts.port}"
    except ValueError:
        return printable(address)
    if not parts.hostname:
        return printable(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return printable(f"{scheme}://{host}{port}")


def _reason(err: OSError) -> str:
    """Return the system's words for an error, which the loop wraps in its own."""
    if err.errno is None or err.errno <= 0:
        return phrase(err.strerror or str(err) or "the connection broke off")
    return os.strerror(err.errno)
