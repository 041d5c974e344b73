"""Where the token comes from, and what keeps it from being used or shown."""

import asyncio
import codecs
from pathlib import Path

from click.testing import CliRunner
import pytest

from ollama_warmer.cli import main
from ollama_warmer.errors import ExitCode, TokenError
from ollama_warmer.house.credentials import Token, load_token
from tests.warmer.conftest import Run
from tests.warmer.support.house import AGENT, TOKEN, House


def token_file(folder: Path, content: str = f"{TOKEN}\n", mode: int = 0o600) -> Path:
    """Write a token file."""
    path = folder / "ha-token"
    path.write_text(content)
    path.chmod(mode)
    return path


def test_order(tmp_path: Path) -> None:
    """The option wins over the credential, the credential over the variable."""
    asked_for = tmp_path / "asked-for"
    asked_for.write_text("from.the.option")
    asked_for.chmod(0o600)
    token_file(tmp_path, "from.the.credential")
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path), "HA_TOKEN": "from.the.variable"}

    assert load_token(asked_for, environ).secret == "from.the.option"
    assert load_token(None, environ).secret == "from.the.credential"
    assert load_token(None, {"HA_TOKEN": "from.the.variable"}).secret == "from.the.variable"


def test_credentials_without_the_token(tmp_path: Path) -> None:
    """Credentials of something else do not hide the variable."""
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path), "HA_TOKEN": TOKEN}

    assert load_token(None, environ).secret == TOKEN


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602])
def test_token_file_that_others_can_read(tmp_path: Path, mode: int) -> None:
    """A token that others can read, or put there, is refused."""
    path = token_file(tmp_path, mode=mode)

    with pytest.raises(TokenError) as caught:
        load_token(path, {})

    assert str(caught.value) == (
        f"The token file {path} is open to other users of this machine: close it with "
        f"chmod 600 {path}"
    )


def test_systemd_guards_its_credentials(tmp_path: Path) -> None:
    """Inside the credentials directory the mode is systemd's business."""
    path = token_file(tmp_path, mode=0o440)
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}

    assert load_token(None, environ).secret == TOKEN
    assert load_token(path, environ).secret == TOKEN


def test_way_out_of_the_credentials(tmp_path: Path) -> None:
    """A link in the credentials directory does not make another file systemd's."""
    path = token_file(tmp_path, mode=0o644)
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "ha-token").symlink_to(path)

    with pytest.raises(TokenError, match="open to other users"):
        load_token(None, {"CREDENTIALS_DIRECTORY": str(credentials)})


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_empty_token_file(tmp_path: Path, content: str) -> None:
    """An empty file is kept apart from a wrong token."""
    path = token_file(tmp_path, content)

    with pytest.raises(TokenError) as caught:
        load_token(path, {})

    assert str(caught.value) == (
        f"There is nothing in the token file {path}: put a long-lived access token of Home "
        "Assistant there"
    )


@pytest.mark.parametrize("content", ["two words", "tökén", "a\x00b"])
def test_something_else_than_a_token(tmp_path: Path, content: str) -> None:
    """What cannot be a token is not sent anywhere, and not shown either."""
    with pytest.raises(TokenError, match="something else than a token") as caught:
        load_token(token_file(tmp_path, content), {})

    assert content not in str(caught.value)


# As people paste it, and what of it the sentence names.
WRAPPED = {
    "double quotes": (f'"{TOKEN}"', "has quotes"),
    "single quotes": (f"'{TOKEN}'", "has quotes"),
    "one quote": (f'{TOKEN}"', "has quotes"),
    "backticks": (f"`{TOKEN}`", "has quotes"),
    "typographic quotes": (f"\u201c{TOKEN}\u201d", "has quotes"),
    "German quotes": (f"\u201e{TOKEN}\u201c", "has quotes"),
    "French quotes": (f"\u00ab\u00a0{TOKEN}\u00a0\u00bb", "has quotes"),
    "a variable": (f"HA_TOKEN={TOKEN}", "a name in front"),
    "a variable with blanks": (f"ha_token = {TOKEN}", "a name in front"),
    "an exported variable": (f"export HA_TOKEN={TOKEN}", "a name in front"),
    "an exported variable in quotes": (f'export HA_TOKEN="{TOKEN}"', "has quotes"),
    "YAML": (f"token: {TOKEN}", "a name in front"),
    "JSON": (f'{{"token": "{TOKEN}"}}', "has quotes"),
    "an HTTP header": (f"Authorization: Bearer {TOKEN}", "a name in front"),
    "half of one": (f"Bearer {TOKEN}", '"Bearer" in front'),
    "a comment": (f"{TOKEN} # made in May", "a comment behind"),
    "two lines": (f"{TOKEN[:20]}\n{TOKEN[20:]}", "several lines"),
    "a comment above": (f"# of the warmer\n{TOKEN}", "several lines"),
    "two tokens": (f"{TOKEN}\n{TOKEN}\n", "several lines"),
    "two words": (f"{TOKEN} warmer", "has blanks"),
    "no width within": (f"{TOKEN[:20]}\u200b{TOKEN[20:]}", "may not be seen"),
    "a soft hyphen within": (f"{TOKEN[:20]}\u00ad{TOKEN[20:]}", "may not be seen"),
    "other letters": (f"\u0430{TOKEN}", "may not be seen"),
    "control characters": (f"\x1b[200~{TOKEN}", "control characters"),
    "UTF-16 without its mark": ("\0".join(TOKEN), "control characters"),
    "its end alone": (TOKEN.partition(".")[2], "three parts"),
    "its beginning alone": (TOKEN.rpartition(".")[0], "three parts"),
    "cut at a dot": (TOKEN.rpartition(".")[0] + ".", "three parts"),
    "too much": (f"{TOKEN}.more", "three parts"),
    "a password": ("correct-horse-battery", "three parts"),
    "base64 of another kind": (f"{TOKEN}+/", "three parts"),
    "base64 with its ends": (TOKEN.replace(".", "=."), "three parts"),
    "base64 with its end": (f"{TOKEN}==", "three parts"),
    "far too much": (TOKEN + "x" * 5_000, "far too long"),
    "brackets": (f"<{TOKEN}>", "three parts"),
    "a full stop": (f"{TOKEN}.", "three parts"),
}


@pytest.mark.parametrize(("content", "words"), WRAPPED.values(), ids=WRAPPED)
async def test_what_can_be_no_token_is_not_sent(
    house: House, run: Run, tmp_path: Path, content: str, words: str
) -> None:
    """From a file and from the variable: what is wrong is said, and nothing of it is shown."""
    file = token_file(tmp_path, content)

    results = [await run(house.url, "--token-file", str(file))]
    if "\0" not in content:
        results.append(await run(house.url, token=content))

    for result in results:
        assert result.exit_code == ExitCode.CONFIGURATION
        assert words in result.stderr
        assert not {part for part in TOKEN.split(".") if part in result.output}
    assert not house.logins


@pytest.mark.parametrize("more", ["x" * 1_000_000, "\n" * 65_530 + "and more"])
def test_a_file_that_is_cut_off(tmp_path: Path, more: str) -> None:
    """The beginning of a very large file, which is all that is read of it, is no token."""
    with pytest.raises(TokenError, match="it is far too long"):
        load_token(token_file(tmp_path, TOKEN + more), {})


@pytest.mark.parametrize(
    "content",
    [
        TOKEN.encode("utf-8-sig"),
        codecs.BOM_UTF8 * 2 + TOKEN.encode(),
        TOKEN.encode("utf-16"),
        codecs.BOM_UTF16_BE + TOKEN.encode("utf-16-be"),
        f"\r\n{TOKEN}\r\n\r\n".encode(),
        f"\t{TOKEN} \n".encode(),
        f"\u200b{TOKEN}\u2060\n\ufeff".encode(),
        f"\u00a0{TOKEN}\u00ad".encode(),
    ],
)
async def test_what_nobody_sees_around_a_token(
    house: House, run: Run, tmp_path: Path, content: bytes
) -> None:
    """A person could not find what editors write of themselves, so it is left out."""
    file = token_file(tmp_path)
    file.write_bytes(content)

    assert (await run(house.url, "--token-file", str(file))).exit_code == 0
    assert [login["access_token"] for login in house.logins] == [TOKEN]


@pytest.mark.parametrize("content", ["\ufeff", "\u200b\n", "\u00a0\r\n"])
def test_a_file_that_only_looks_written(tmp_path: Path, content: str) -> None:
    """Nothing but what no one sees is nothing."""
    with pytest.raises(TokenError, match="There is nothing in the token file"):
        load_token(token_file(tmp_path, content), {})


def test_missing_token_file(tmp_path: Path) -> None:
    """A file that is not there is not passed over in favour of the variable."""
    path = tmp_path / "none"

    with pytest.raises(TokenError) as caught:
        load_token(path, {"HA_TOKEN": TOKEN})

    assert str(caught.value) == (
        f"The token file {path} cannot be read: No such file or directory. Put the token there, or "
        "name another file with --token-file"
    )


def test_token_is_not_printed() -> None:
    """A token's representation keeps the secret."""
    assert TOKEN not in repr(Token(TOKEN))


@pytest.mark.parametrize("secret", ["", None])
def test_no_token_anywhere(tmp_path: Path, secret: str | None) -> None:
    """Without a token the command says the three ways to give one, with exit code 2."""
    config = tmp_path / "home.toml"
    config.write_text(
        '[home_assistant]\nurl = "http://127.0.0.1:9"\n[[targets]]\nname = "a"\nagent = "b"'
    )

    result = CliRunner().invoke(main, ["warm", "--config", str(config)], env={"HA_TOKEN": secret})

    assert result.exit_code == ExitCode.CONFIGURATION
    assert "No token for Home Assistant: give --token-file FILE" in result.stderr
    assert "ha-token" in result.stderr
    assert "HA_TOKEN" in result.stderr


async def test_token_file_on_the_command_line(house: House, run: Run, tmp_path: Path) -> None:
    """`--token-file` works, and wins."""
    result = await run(
        house.url, "--token-file", str(token_file(tmp_path)), token="from.the.variable"
    )

    assert result.exit_code == 0
    assert house.logins[0]["access_token"] == TOKEN


async def test_as_systemd_starts_it(house: House, tmp_path: Path) -> None:
    """With nothing but the credentials directory the real command finds the token."""
    token_file(tmp_path)
    config = tmp_path / "home.toml"
    config.write_text(
        f'[home_assistant]\nurl = "{house.url}"\n[[targets]]\nname = "app"\nagent = "{AGENT}"'
    )

    result = await asyncio.to_thread(
        CliRunner().invoke,
        main,
        ["warm", "--config", str(config)],
        env={"CREDENTIALS_DIRECTORY": str(tmp_path)},
    )

    assert result.exit_code == 0
