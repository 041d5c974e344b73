"""Looks for the assistants and voice satellites of a house, as far as a user may see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_warmer.errors import CommandFailed, NotUnderstood
from ollama_warmer.house.client import BUILT_IN, OLD_BUILT_IN, UNAUTHORIZED, HomeAssistant, connect
from ollama_warmer.house.credentials import Token
from ollama_warmer.words import printable

PREFERRED = "preferred"
NO_AGENT = (
    "Add an agent that asks a model first, such as Ollama Warm's: in Home Assistant under "
    "Settings, Devices & services, Add integration"
)
_ANY_LANGUAGE = "*"
_SATELLITE = "assist_satellite."
_SELECT = "select."
# A satellite with two wake words has two selects; the second one's key is `pipeline_n`.
_PIPELINE_KEYS = {"pipeline", "pipeline_n"}
_SILENT = {"unavailable", "unknown"}

_Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Assistant:
    """A pipeline.

    Attributes:
        name: What its owner calls it.
        agent: Entity id of its conversation agent.
        language: The language that the agent is asked in.
    """

    name: str
    agent: str
    language: str


@dataclass(frozen=True, kw_only=True)
class Satellite:
    """A voice satellite.

    Attributes:
        entity: Its entity id.
        name: What its owner calls it.
        device: Its device registry id, if it is known.
        area: The name of the room it stands in, if it is known.
        choices: What each of its selects says: `preferred`, an assistant's name, or nothing if
            the select has no state that this user can see.
        disabled: Whether its owner switched it off for good.
    """

    entity: str
    name: str
    device: str | None = None
    area: str | None = None
    choices: tuple[str | None, ...] = ()
    disabled: bool = False


@dataclass(frozen=True, kw_only=True)
class Discovered:
    """What a user can see of a house.

    Attributes:
        language: The house's own language.
        agents: Ids of all conversation agents; none if they are not reported.
        assistants: All pipelines; none if they are not reported.
        preferred: The preferred pipeline; none if there is none, or it is not reported.
        satellites: All voice satellites, in the order of their names.
        missing: What could not be seen, a sentence for each, with the right that is missing.
    """

    language: str
    agents: frozenset[str] | None
    assistants: tuple[Assistant, ...] | None
    preferred: Assistant | None
    satellites: tuple[Satellite, ...]
    missing: tuple[str, ...] = ()

    @property
    def models(self) -> frozenset[str]:
        """The agents that ask a model, as far as this user sees any."""
        agents = self.agents
        if agents is None:
            agents = frozenset(assistant.agent for assistant in self.assistants or ())
        return agents - {BUILT_IN, OLD_BUILT_IN}

    def assistants_of(self, satellite: Satellite) -> list[tuple[str | None, Assistant]] | None:
        """Return each choice of a satellite with the assistant that it stands for.

        None if they are not reported. A satellite without a select talks to the preferred one,
        and so does one whose choice is gone.
        """
        if self.assistants is None or self.preferred is None:
            return None
        # Of two with one name Home Assistant takes the first.
        by_name = {assistant.name: assistant for assistant in reversed(self.assistants)}
        return [
            (choice, by_name.get(choice or PREFERRED, self.preferred))
            for choice in satellite.choices or (PREFERRED,)
        ]


async def look_around(url: str, token: Token, start_timeout: float) -> Discovered:
    """Return what the user of a token can see of a house.

    Args:
        url: Web address of Home Assistant.
        token: A long-lived access token; no administrator rights are needed.
        start_timeout: Seconds to wait until Home Assistant has started.

    Raises:
        CannotConnect: Home Assistant cannot be reached.
        AuthenticationFailed: Home Assistant refused the token.
        NotUnderstood: Home Assistant answers in an unknown shape.
    """
    async with connect(url, token) as home:
        await home.wait_until_running(start_timeout)
        return await _Search(home).findings()


class _Search:
    """One look around, which goes on where something is refused and notes it."""

    def __init__(self, home: HomeAssistant) -> None:
        self._home = home
        self._missing: list[str] = []

    async def findings(self) -> Discovered:
        config = await self._ask("get_config", "the language of the house")
        language = str(config.get("language") or "en") if isinstance(config, dict) else "en"
        agents = await self._agents()
        assistants, preferred = await self._assistants(language)
        satellites = await self._satellites()
        return Discovered(
            language=language,
            agents=agents,
            assistants=assistants,
            preferred=preferred,
            satellites=satellites,
            missing=tuple(self._missing),
        )

    async def _ask(self, kind: str, what: str) -> Any:  # noqa: ANN401 - as `HomeAssistant.query`
        """Return the result of a command; nothing if Home Assistant refuses it."""
        try:
            return await self._home.query(kind)
        except CommandFailed as err:
            self._note(err, kind, what)
            return None

    def _note(self, err: CommandFailed, kind: str, what: str) -> None:
        why = (
            "the user of this token would have to be an administrator"
            if err.code == UNAUTHORIZED
            else f"{err.message} ({err.code})"
        )
        self._missing.append(f"Home Assistant does not report {what} ({kind}): {why}")

    async def _rows(self, kind: str, what: str) -> list[_Row]:
        result = await self._ask(kind, what)
        return [] if result is None else _rows(result, what)

    async def _agents(self) -> frozenset[str] | None:
        try:
            return await self._home.agents()
        except CommandFailed as err:
            self._note(err, "conversation/agent/list", "which conversation agents there are")
            return None

    async def _assistants(
        self, house_language: str
    ) -> tuple[tuple[Assistant, ...] | None, Assistant | None]:
        what = "which assistants there are"
        result = await self._ask("assist_pipeline/pipeline/list", what)
        if result is None:
            return None, None
        if not isinstance(result, dict):
            raise _unknown_shape(what)
        rows = _rows(result.get("pipelines"), what)
        assistants = [_assistant(row) for row in rows]
        preferred_id = str(result.get("preferred_pipeline") or "")
        for row, assistant in zip(rows, assistants, strict=True):
            if row.get("id") == preferred_id:
                return tuple(assistants), assistant
        # Home Assistant takes an agent in place of a pipeline, too.
        if not preferred_id.startswith("conversation."):
            return tuple(assistants), None
        preferred = Assistant(name=preferred_id, agent=preferred_id, language=house_language)
        return tuple(assistants), preferred

    async def _satellites(self) -> tuple[Satellite, ...]:
        entities = await self._rows(
            "config/entity_registry/list", "which device a satellite belongs to"
        )
        devices = _by(await self._rows("config/device_registry/list", "devices' names"), "id")
        areas = _by(await self._rows("config/area_registry/list", "rooms' names"), "area_id")
        states = _by(await self._rows("get_states", "the states of entities"), "entity_id")
        registered = {str(row.get("entity_id")): row for row in entities}
        unregistered: dict[str, _Row] = {
            entity: {} for entity in states if entity not in registered
        }
        satellites = []
        for entity, row in {**registered, **unregistered}.items():
            if not entity.startswith(_SATELLITE):
                continue
            device = row.get("device_id")
            about = devices.get(str(device), {})
            area = areas.get(str(row.get("area_id") or about.get("area_id")), {}).get("name")
            satellites.append(
                Satellite(
                    entity=entity,
                    name=_name(entity, row, about, states.get(entity, {})),
                    device=None if device is None else str(device),
                    area=None if area is None else str(area),
                    choices=_choices(row, entities, states),
                    disabled=row.get("disabled_by") is not None,
                )
            )
        return tuple(sorted(satellites, key=lambda it: (it.name.casefold(), it.entity)))


def _assistant(row: _Row) -> Assistant:
    agent = str(row.get("conversation_engine"))
    language = row.get("conversation_language")
    return Assistant(
        name=str(row.get("name")),
        agent=BUILT_IN if agent == OLD_BUILT_IN else agent,
        # An agent that speaks every language is asked in the pipeline's own.
        language=str(row.get("language") if language in {None, _ANY_LANGUAGE} else language),
    )


def _choices(
    satellite: _Row, entities: Sequence[_Row], states: Mapping[str, _Row]
) -> tuple[str | None, ...]:
    """Return what the selects beside a satellite say."""
    if satellite.get("device_id") is None:
        return ()
    choices = []
    for row in entities:
        entity = str(row.get("entity_id"))
        if (
            entity.startswith(_SELECT)
            and row.get("translation_key") in _PIPELINE_KEYS
            and row.get("device_id") == satellite["device_id"]
            and row.get("platform") == satellite.get("platform")
            and row.get("disabled_by") is None
        ):
            state = states.get(entity, {}).get("state")
            choices.append(None if state is None or state in _SILENT else str(state))
    return tuple(choices)


def _name(entity: str, row: _Row, device: _Row, state: _Row) -> str:
    """Return the first name that someone gave the satellite."""
    attributes = state.get("attributes")
    friendly = attributes.get("friendly_name") if isinstance(attributes, dict) else None
    for name in (device.get("name_by_user"), device.get("name"), row.get("name"), friendly):
        if name and (shown := printable(name).strip()):
            return shown
    return entity.removeprefix(_SATELLITE)


def _by(rows: Sequence[_Row], key: str) -> dict[str, _Row]:
    return {str(row.get(key)): row for row in rows}


def _rows(result: object, what: str) -> list[_Row]:
    if not isinstance(result, list) or not all(isinstance(row, dict) for row in result):
        raise _unknown_shape(what)
    return result


def _unknown_shape(what: str) -> NotUnderstood:
    return NotUnderstood(
        f"Home Assistant reports {what} in an unknown shape: update the older of Home Assistant "
        "and this warmer"
    )
