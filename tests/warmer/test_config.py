"""The configuration file: what is read, and the words for each mistake."""

import codecs
from pathlib import Path
import re

from click.testing import CliRunner
import pytest

from ollama_warmer.cli import main
from ollama_warmer.config.config import OllamaConfig, load_config
from ollama_warmer.errors import ConfigError
from ollama_warmer.questions import PLACEHOLDER

HEAD = '[home_assistant]\nurl = "http://house:8123"\n'
TARGET = '[[targets]]\nname = "app"\nagent = "conversation.a"\n'

GOOD = """
agent = "conversation.ollama_warm"

[home_assistant]
url = "https://house.example:8123/"
start_timeout = 60
answer_timeout = 900.5

[[targets]]
name = "app"

[[targets]]
name = "salon"
agent = "conversation.other"
device = "abcdef"
language = "fr"
text = " Quel jour on est ? "
"""


def write(folder: Path, content: str | bytes) -> Path:
    """Write a configuration file."""
    path = folder / "home.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def mistake(folder: Path, content: str | bytes) -> str:
    """Return the message for a wrong file, without the path that starts each line."""
    path = write(folder, content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    lines = str(caught.value).split("\n")
    assert all(line.startswith(f"{path}: ") for line in lines)
    return "\n".join(line.removeprefix(f"{path}: ") for line in lines)


def test_good_file(tmp_path: Path) -> None:
    """Everything that can be written is read."""
    config = load_config(write(tmp_path, GOOD))

    assert config.home_assistant.url == "https://house.example:8123"
    assert config.home_assistant.start_timeout == 60
    assert config.home_assistant.answer_timeout == 900.5
    app, salon = config.targets
    assert (app.agent, app.device, app.language) == ("conversation.ollama_warm", None, "en")
    assert app.text.startswith("How much is")
    assert (salon.agent, salon.device, salon.language) == ("conversation.other", "abcdef", "fr")
    assert salon.text == "Quel jour on est ?"
    assert "moins" in salon.confirm_text


def test_shortest_file_has_generous_timeouts(tmp_path: Path) -> None:
    """A cold prefill with a model load takes more than ten minutes."""
    config = load_config(write(tmp_path, HEAD + TARGET))

    assert config.home_assistant.answer_timeout >= 1200
    assert config.home_assistant.start_timeout >= 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "home_assistant: is missing\ntargets: is missing"),
        (
            "tokens = 1\n" + HEAD + TARGET,
            (
                "tokens: is not a known key, "
                "allowed are agent, counts, home_assistant, ollama, run, targets"
            ),
        ),
        (
            '[home_assistant]\nurl = "http://h"\nhots = "x"\n' + TARGET,
            (
                "home_assistant.hots: is "
                "not a known key, allowed are answer_timeout, start_timeout, url"
            ),
        ),
        (
            HEAD + TARGET + 'devise = "x"\nlang = "en"',
            (
                "targets[0].devise: is not a known key, "
                "allowed are agent, confirm_text, device, language, name, text\n"
                "targets[0].lang: is not a known key, "
                "allowed are agent, confirm_text, device, language, name, text"
            ),
        ),
        (
            HEAD + '[[targets]]\nname = "app"',
            (
                "targets[0].agent: is missing: give the target an "
                "agent, or set `agent` for all at the top of the file"
            ),
        ),
        (HEAD + '[[targets]]\nagent = "conversation.a"', "targets[0].name: is missing"),
        (HEAD + TARGET + TARGET, 'targets[1].name: "app" is the name of another target'),
        (
            HEAD + "[targets]\nname = 1",
            ("targets: has to be a list of tables, each under its own [[targets]]"),
        ),
        ("targets = []\n" + HEAD, "targets: is empty: write at least one [[targets]]"),
        (
            'targets = ["app"]\n' + HEAD,
            ("targets[0]: has to be a table, with its name in [brackets] above its keys"),
        ),
        (
            'home_assistant = "http://h"\n' + TARGET,
            ("home_assistant: has to be a table, with its name in [brackets] above its keys"),
        ),
        (
            HEAD + '[[targets]]\nname = 5\nagent = "a"',
            ("targets[0].name: has to be text in quotes, not a number"),
        ),
        (HEAD + '[[targets]]\nname = " "\nagent = "a"', "targets[0].name: is empty"),
        (HEAD + TARGET + "device = [1]", "targets[0].device: has to be text in quotes, not a list"),
        (HEAD + TARGET + "device = {}", "targets[0].device: has to be text in quotes, not a table"),
        (
            HEAD + TARGET + "device = 2026-01-01",
            ("targets[0].device: has to be text in quotes, not a date or time"),
        ),
        (
            HEAD + TARGET + 'device = "the kitchen"',
            ("targets[0].device: is not an id: it has blanks in it"),
        ),
        (
            HEAD + TARGET + 'language = "english!"',
            ('targets[0].language: is not a language tag such as "en" or "pt-BR"'),
        ),
        (
            HEAD + TARGET + 'confirm_text = "What time is it?"',
            (
                "targets[0].confirm_text: needs {number} in it, where a new number is put each "
                "time: a question that the server has seen before proves nothing"
            ),
        ),
        (
            HEAD + TARGET + 'text = "Is {number} odd?"\nconfirm_text = "Is  {number} odd?"',
            (
                "targets[0].confirm_text: has to ask something else than `text`: an exact repeat "
                "proves nothing about the next question, whatever stands for {number}"
            ),
        ),
        (
            HEAD + "answer_timeout = true\n" + TARGET,
            ("home_assistant.answer_timeout: has to be a number of seconds, not true or false"),
        ),
        (
            HEAD + 'answer_timeout = "60"\n' + TARGET,
            ("home_assistant.answer_timeout: has to be a number of seconds, not text"),
        ),
        (
            HEAD + "answer_timeout = 0\n" + TARGET,
            ("home_assistant.answer_timeout: has to be above 0 and at most 86400 seconds"),
        ),
        (
            HEAD + "start_timeout = nan\n" + TARGET,
            ("home_assistant.start_timeout: has to be above 0 and at most 86400 seconds"),
        ),
        (
            HEAD + "start_timeout = inf\n" + TARGET,
            ("home_assistant.start_timeout: has to be above 0 and at most 86400 seconds"),
        ),
    ],
)
def test_mistakes(tmp_path: Path, content: str, message: str) -> None:
    """Each mistake is told with its key, what is wrong and what would be right."""
    assert mistake(tmp_path, content) == message


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("house:8123", "is not an address with http or https"),
        ("ws://house:8123", "is not an address with http or https"),
        ("http://", "is not an address with http or https"),
        ("http://house:0", "is not an address with http or https"),
        ("http://house:port", "is not a web address"),
        ("http://[::1", "is not a web address"),
        ("http://house:8123/lovelace", "has more than scheme, host and port"),
        ("http://house:8123?x=1", "has more than scheme, host and port"),
        ("http://me:secret@house:8123", "has more than scheme, host and port"),
    ],
)
def test_wrong_addresses(tmp_path: Path, url: str, message: str) -> None:
    """An address that cannot be right is refused before anyone connects, with an example."""
    told = mistake(tmp_path, f'[home_assistant]\nurl = "{url}"\n{TARGET}')

    assert told == f'home_assistant.url: {message}: write it like "http://homeassistant.local:8123"'


def test_not_toml(tmp_path: Path) -> None:
    """The place of the mistake in the file is told."""
    told = mistake(tmp_path, "[home_assistant\nurl = 1")

    assert told.startswith("is not valid TOML: ")
    assert "line 1" in told


def test_not_text(tmp_path: Path) -> None:
    """A file in another encoding is kept apart."""
    assert mistake(tmp_path, b"\xff\xfe\x00") == "is not text in UTF-8: save it as UTF-8"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_as_the_editor_of_windows_writes_it(tmp_path: Path, encoding: str, ends: str) -> None:
    """A mark of byte order at the top and line ends of two characters are no mistakes."""
    plain = load_config(write(tmp_path, GOOD))

    assert load_config(write(tmp_path, GOOD.replace("\n", ends).encode(encoding))) == plain


def test_two_marks_of_byte_order(tmp_path: Path) -> None:
    """Files that were put together have one of each."""
    plain = load_config(write(tmp_path, GOOD))

    assert load_config(write(tmp_path, codecs.BOM_UTF8 * 2 + GOOD.encode())) == plain


def test_brackets_without_end(tmp_path: Path) -> None:
    """What the reader of TOML gives up is a mistake in the file, too."""
    assert mistake(tmp_path, b"a=" + b"[" * 5_000).startswith("is not valid TOML")


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there ends the command with exit code 2."""
    path = tmp_path / "none.toml"

    result = CliRunner().invoke(main, ["warm", "--config", str(path)])

    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: {path}: cannot be read: No such file or directory. Name the configuration file "
        "with --config\n"
    )


def test_mistake_ends_with_exit_code_two(tmp_path: Path) -> None:
    """A wrong file ends the command with exit code 2, before the token is looked for."""
    path = write(tmp_path, "x = 1")

    result = CliRunner().invoke(main, ["warm", "--config", str(path)])

    assert result.exit_code == 2
    assert f"Error: {path}: x: is not a known key" in result.stderr


def test_config_is_required() -> None:
    """Without --config the usage is shown; click's own exit code means configuration too."""
    result = CliRunner().invoke(main, ["warm"])

    assert result.exit_code == 2
    assert "Missing option '--config'" in result.stderr


def test_readme_example_is_right(tmp_path: Path) -> None:
    """The example of the README is a configuration, also with its comments taken as keys."""
    readme = Path(__file__, "../../../warmer/README.md").resolve().read_text()
    example = readme.split("```toml\n")[1].split("```")[0]
    lines = [line.strip() for line in example.splitlines()]
    load_config(write(tmp_path, "\n".join(lines)))

    spelled_out = [
        line.removeprefix("# ").split("   ")[0] if line.startswith("# ") else line for line in lines
    ]
    config = load_config(write(tmp_path, "\n".join(spelled_out)))
    assert PLACEHOLDER in config.targets[1].confirm_text
    assert config.targets[1].text == "What time is it?"


OLLAMA_TABLE = """
[home_assistant]
url = "http://house:8123"
[ollama]
{keys}
[[targets]]
name = "app"
agent = "conversation.one"
"""


def test_ollama_table(tmp_path: Path) -> None:
    """The model server has its own table, and nothing in it is needed."""
    file = tmp_path / "home.toml"
    file.write_text(OLLAMA_TABLE.format(keys=""))
    assert load_config(file).ollama == OllamaConfig(url="http://127.0.0.1:11434")
    keys = 'url = "http://gpu:11434"\nmodel = "qwen3:4b"\nnum_ctx = 16384\nkeep_alive = "-1"'
    file.write_text(OLLAMA_TABLE.format(keys=f"{keys}\nthink = false"))
    assert load_config(file).ollama == OllamaConfig(
        url="http://gpu:11434", model="qwen3:4b", num_ctx=16_384, keep_alive="-1", think=False
    )


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("num_ctx = 0", "ollama.num_ctx: has to be a whole number of tokens above 0"),
        ("num_ctx = true", "ollama.num_ctx: has to be a whole number"),
        ('keep_alive = "soon"', "ollama.keep_alive: has to be seconds such as 300"),
        ("keep_alive = -2", "ollama.keep_alive: has to be seconds"),
        ('think = "hard"', "ollama.think: is not known, allowed are low, medium, high"),
        ('url = "gpu:11434"', "ollama.url: is not an address with http or https"),
        ('models = "x"', "ollama.models: is not a known key"),
    ],
)
def test_ollama_table_mistakes(tmp_path: Path, keys: str, says: str) -> None:
    """Each mistake is named with its key."""
    file = tmp_path / "home.toml"
    file.write_text(OLLAMA_TABLE.format(keys=keys))
    with pytest.raises(ConfigError, match=re.escape(says)):
        load_config(file)
