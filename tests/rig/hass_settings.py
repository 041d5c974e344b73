"""Changing a house's settings the way its owner does: flows, agents, pipelines, exposure."""

import asyncio
from collections.abc import Sequence
from typing import TypedDict, Unpack

from .hass_accounts import Accounts
from .hass_api import HassError, Json, until
from .hass_client import HassClient, Room
from .hass_flows import Flows

ENTITY_SECONDS = 30.0


class AgentOptions(TypedDict, total=False):
    """What can be chosen for an agent beside its model."""

    name: str | None
    prompt: str | None
    apis: Sequence[str]
    num_ctx: int
    max_history: int
    keep_alive: int
    think: bool
    auto_warm: bool


class HassSettings(HassClient):
    """The owner at the settings page."""

    def __init__(self, url: str, accounts: Accounts | None) -> None:
        """Take the address, and the tokens if they are known yet."""
        super().__init__(url, accounts)
        self._flows = Flows(self.rest, self.command)
        # Home Assistant never tells the URL of an entry again.
        self._servers: dict[str, str] = {}

    async def config_flow(
        self, handler: str, *steps: Json, expect: str | None = "create_entry"
    ) -> Json:
        """Set up an integration and wait until it is loaded."""
        return await self._flows.config_flow(handler, *steps, expect=expect)

    async def subentry_flow(
        self,
        entry_id: str,
        subentry_type: str,
        *steps: Json,
        subentry_id: str | None = None,
        expect: str | None = "create_entry",
    ) -> Json:
        """Add a subentry (or change one) and wait until the entry is loaded again."""
        return await self._flows.subentry_flow(
            entry_id, subentry_type, *steps, expect=expect, subentry_id=subentry_id
        )

    async def wait_loaded(self, entry_id: str) -> None:
        """Wait until a config entry is set up."""
        await self._flows.wait_loaded(entry_id)

    async def add_core_ollama(
        self, url: str, *, model: str, **options: Unpack[AgentOptions]
    ) -> str:
        """Set up Home Assistant's own Ollama agent, and return its entity."""
        return await self._add_agent("ollama", {"url": url}, [_form("Core", model, options)])

    async def add_ollama_warm(
        self, url: str, *, model: str, api_key: str | None = None, **options: Unpack[AgentOptions]
    ) -> str:
        """Set up our agent, and return its entity.

        It warms itself only if that is asked for: whoever counts has to know who warmed, however
        long everything takes.
        """
        options = {"auto_warm": False, **options}
        form = _in_sections(_form("Warm", model, options))
        # Whatever the form says of moving instructions or of a small window: it is meant so.
        insisting = {**form, "prompt": {**form["prompt"], "keep_as_is": True}}
        steps = [{"next_step_id": "agent"}, form, insisting, {"next_step_id": "save"}]
        server = {"url": url} | ({"api_key": api_key} if api_key else {})
        return await self._add_agent("ollama_warm", server, steps)

    async def _add_agent(self, domain: str, server: Json, steps: Sequence[Json]) -> str:
        """Add an agent to the entry of a server, and return its entity."""
        key = f"{domain} {server['url']}"
        if key not in self._servers:
            result = await self.config_flow(domain, {"next_step_id": "server"}, server)
            self._servers[key] = result["result"]["entry_id"]
        entry_id = self._servers[key]
        before = {one["subentry_id"] for one in await self._flows.subentries(entry_id)}
        await self.subentry_flow(entry_id, "conversation", *steps)
        after = {one["subentry_id"] for one in await self._flows.subentries(entry_id)}
        return await self._wait_agent(*(after - before))

    async def _wait_agent(self, subentry_id: str) -> str:
        """Wait until the conversation entity of a subentry answers questions."""

        async def agent() -> str | None:
            states = await self.states()
            for entity in await self.command("config/entity_registry/list"):
                entity_id: str = entity["entity_id"]
                is_ours = entity["config_subentry_id"] == subentry_id
                state = states.get(entity_id, {"state": "unavailable"})["state"]
                if is_ours and entity_id.startswith("conversation.") and state != "unavailable":
                    return entity_id
            return None

        try:
            async with asyncio.timeout(ENTITY_SECONDS):
                return str(await until(agent))
        except TimeoutError:
            raise HassError("The new subentry got no conversation entity") from None

    async def make_pipeline(
        self, name: str, conversation_engine: str, *, prefer_local_intents: bool = False
    ) -> str:
        """Make an assistant that understands text and satellites' speech; return its id."""
        ears = [entity for entity in await self.states() if entity.startswith("stt.")]
        pipeline = await self.command(
            "assist_pipeline/pipeline/create",
            name=name,
            language="en",
            conversation_engine=conversation_engine,
            conversation_language="en",
            prefer_local_intents=prefer_local_intents,
            stt_engine=ears[0] if ears else None,
            stt_language="en" if ears else None,
            tts_engine=None,
            tts_language=None,
            tts_voice=None,
            wake_word_entity=None,
            wake_word_id=None,
        )
        return str(pipeline["id"])

    async def select_pipeline(self, room: Room, pipeline_name: str) -> None:
        """Let the satellite of a room talk to another assistant."""
        data = {"entity_id": room.pipeline_entity_id, "option": pipeline_name}
        await self.call_action("select", "select_option", data)

    async def expose(self, entity_id: str, exposed: bool) -> None:  # noqa: FBT001
        """Let the assistant see an entity, or hide it."""
        await self.expose_all([entity_id], exposed=exposed)

    async def expose_all(self, entity_ids: Sequence[str], *, exposed: bool) -> None:
        """Let the assistant see several entities at once, or hide them."""
        await self.command(
            "homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=list(entity_ids),
            should_expose=exposed,
        )

    async def _find_rooms(self) -> list[Room]:
        """Return the rooms that have a satellite, in the order of their names."""
        areas = await self.command("config/area_registry/list")
        area_names = {area["area_id"]: area["name"] for area in areas}
        devices = await self.command("config/device_registry/list")
        device_areas = {device["id"]: device["area_id"] for device in devices}
        states = await self.states()
        entities: dict[tuple[str, str], str] = {}
        for entity in await self.command("config/entity_registry/list"):
            kind = f"{entity['entity_id'].partition('.')[0]}.{entity['translation_key']}"
            entities[entity["device_id"], kind] = entity["entity_id"]
        rooms = []
        for (device_id, kind), entity_id in entities.items():
            if kind.startswith("assist_satellite.") and entity_id in states:
                rooms.append(
                    Room(
                        name=area_names[device_areas[device_id]],
                        device_id=device_id,
                        satellite_entity_id=entity_id,
                        pipeline_entity_id=entities[device_id, "select.pipeline"],
                        keeps_timers=states[entity_id]["attributes"]["keeps_timers"],
                    )
                )
        return sorted(rooms, key=lambda room: room.name)


def _form(kind: str, model: str, options: AgentOptions) -> Json:
    """Return the fields of an agent's form as Home Assistant's own integration asks for them."""
    form: Json = {
        "name": f"{kind} {model}",
        "num_ctx": 16384,
        "max_history": 20,
        "keep_alive": -1,
        "think": False,
        **{key: value for key, value in options.items() if value is not None},
        "model": model,
        "llm_hass_api": list(options.get("apis", ("assist",))),
    }
    form.pop("apis", None)
    return form


def _in_sections(form: Json) -> Json:
    """Return the same fields as our integration asks for them."""
    basics = {key: form[key] for key in ("name", "model", "llm_hass_api")}
    prompt = {key: form[key] for key in ("prompt",) if key in form}
    rest = {key: value for key, value in form.items() if key not in basics | prompt}
    return {"basics": basics, "prompt": prompt, "performance": rest}
