"""The command against https addresses."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
import pytest

from tests.warmer.conftest import Run
from tests.warmer.support.house import House, open_house


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Write a certificate that no one trusts, with its key, for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "house")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
async def safe_house(certificate: Path) -> AsyncIterator[House]:
    """Return a house behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with open_house(House(), context) as house:
        yield house


async def test_certificate_that_nobody_trusts(safe_house: House, run: Run) -> None:
    """A self-signed certificate is refused, with what to do; the token is not sent."""
    result = await run(safe_house.url)

    assert result.exit_code == 3
    assert f"The certificate of {safe_house.url} is not trusted: " in result.stderr
    assert "self-signed certificate" in result.stderr.replace("self signed", "self-signed")
    assert "let this machine trust it (SSL_CERT_FILE)" in result.stderr
    assert not safe_house.logins


async def test_certificate_that_this_machine_trusts(
    safe_house: House, run: Run, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The advice of the message works."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    assert (await run(safe_house.url)).exit_code == 0


async def test_https_where_http_is_spoken(house: House, run: Run) -> None:
    """The wrong scheme is recognised."""
    result = await run(house.url.replace("http:", "https:"))

    assert result.exit_code == 3
    assert "does not speak TLS: is it an address with http instead of https?" in result.stderr


async def test_http_where_https_is_spoken(safe_house: House, run: Run) -> None:
    """And the other way round."""
    result = await run(safe_house.url.replace("https:", "http:"))

    assert result.exit_code == 3
    assert "or wants https instead of http: check home_assistant.url" in result.stderr
