"""Where the token comes from, and what keeps it from being used or shown."""

import asyncio
from pathlib import Path

from click.testing import CliRunner
import pytest

from ollama_warmer.cli import main
from ollama_warmer.credentials import Token, load_token
from ollama_warmer.errors import ExitCode, TokenError
from tests.warmer.conftest import Run
from tests.warmer.house import AGENT, TOKEN, House


def token_file(folder: Path, content: str = f"{TOKEN}\n", mode: int = 0o600) -> Path:
    """Write a token file."""
    path = folder / "ha-token"
    path.write_text(content)
    path.chmod(mode)
    return path


def test_order(tmp_path: Path) -> None:
    """The option wins over the credential, the credential over the variable."""
    asked_for = tmp_path / "asked-for"
    asked_for.write_text("from-option")
    asked_for.chmod(0o600)
    token_file(tmp_path, "from-credential")
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path), "HA_TOKEN": "from-variable"}

    assert load_token(asked_for, environ).secret == "from-option"
    assert load_token(None, environ).secret == "from-credential"
    assert load_token(None, {"HA_TOKEN": "from-variable"}).secret == "from-variable"


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
    """An empty file is told apart from a wrong token."""
    path = token_file(tmp_path, content)

    with pytest.raises(TokenError) as caught:
        load_token(path, {})

    assert str(caught.value) == (
        f"There is nothing in the token file {path}: put a long-lived access token of Home "
        "Assistant there"
    )


@pytest.mark.parametrize("content", ["two words", "HA_TOKEN=a\nX=b", "tökén", "a\x00b"])
def test_something_else_than_a_token(tmp_path: Path, content: str) -> None:
    """What cannot be a token is not sent anywhere, and not shown either."""
    with pytest.raises(TokenError, match="something else than a token") as caught:
        load_token(token_file(tmp_path, content), {})

    assert content not in str(caught.value)


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
        house.url, "--token-file", str(token_file(tmp_path)), token="from-the-variable"
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
