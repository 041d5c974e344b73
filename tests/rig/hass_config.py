"""The configuration folder of a house that reaches nothing but this machine."""

from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import socket
from typing import Any

from .house_scripts import SCRIPTS

LOCALHOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((LOCALHOST, 0))
        port: int = probe.getsockname()[1]
        return port


def write_configuration(  # noqa: PLR0913 (all but the folder are named)
    folder: Path,
    *,
    port: int,
    components: Sequence[Path],
    extra_entities: int,
    timezone: str,
    more: Mapping[str, Any],
) -> None:
    """Write everything that Home Assistant reads at its first start, and `more` on top of it."""
    configuration: dict[str, Any] = {
        "homeassistant": {
            "name": "Demonstration house",
            "time_zone": timezone,
            "latitude": 48.85,
            "longitude": 2.35,
            "elevation": 35,
            "unit_system": "metric",
            "currency": "EUR",
            "country": "FR",
            "language": "en",
            "internal_url": f"http://{LOCALHOST}:{port}",
            "external_url": f"http://{LOCALHOST}:{port}",
        },
        "logger": {"default": "warning", "logs": {"custom_components": "debug"}},
        # `default_config` would look for devices in the network and call home.
        "assist_pipeline": None,
        "conversation": None,
        "script": SCRIPTS,
    }
    if any(component.name == "demo_house" for component in components):
        configuration["demo_house"] = {"extra_entities": extra_entities}
    configuration |= more
    folder.mkdir(parents=True, exist_ok=True)
    # JSON is YAML, and it needs no library.
    (folder / "configuration.yaml").write_text(json.dumps(configuration, indent=2))
    _link_components(folder / "custom_components", components)
    if not (folder / ".storage").exists():
        _write_storage(folder / ".storage", port)


def _link_components(folder: Path, components: Sequence[Path]) -> None:
    folder.mkdir(exist_ok=True)
    for component in components:
        link = folder / component.name
        link.unlink(missing_ok=True)
        link.symlink_to(component.resolve(), target_is_directory=True)


def _write_storage(folder: Path, port: int) -> None:
    """Write what must be in place before the first start."""
    # An `http:` block in YAML would only be on trial: nobody confirms it, so Home Assistant would
    # restart by itself after five minutes and listen to the whole network on its usual port.
    stable = {
        "server_host": [LOCALHOST],
        "server_port": port,
        "cors_allowed_origins": [],
        "login_attempts_threshold": -1,
        "ip_ban_enabled": False,
        "ssl_profile": "intermediate",
        "use_x_frame_options": True,
        "created_at": "2026-01-01T00:00:00+00:00",
        "error": None,
        "error_message": None,
    }
    http = {"stable": stable, "pending": None, "yaml_migration_done": True}
    # These steps of the onboarding would set up integrations that reach the internet.
    onboarding = {"done": ["core_config", "analytics", "integration"]}
    # The marketplace sets itself up and fetches its catalogue, unless its entry is there, disabled.
    entries = {"entries": [_disabled_entry("marketplace")]}
    folder.mkdir()
    # As 2026.10 writes it; later releases take it over.
    _store(folder, "http", 2, 2, http)
    _store(folder, "onboarding", 4, 1, onboarding)
    _store(folder, "core.config_entries", 1, 5, entries)


def _disabled_entry(domain: str) -> dict[str, Any]:
    return {
        "created_at": "2026-01-01T00:00:00+00:00",
        "data": {},
        "disabled_by": "user",
        "discovery_keys": {},
        "domain": domain,
        "entry_id": f"{domain}_is_not_wanted_here",
        "minor_version": 1,
        "modified_at": "2026-01-01T00:00:00+00:00",
        "options": {},
        "pref_disable_new_entities": False,
        "pref_disable_polling": False,
        "source": "system",
        "subentries": [],
        "title": "",
        "unique_id": None,
        "version": 1,
    }


def _store(folder: Path, key: str, version: int, minor_version: int, data: Any) -> None:  # noqa: ANN401
    stored = {"version": version, "minor_version": minor_version, "key": key, "data": data}
    (folder / key).write_text(json.dumps(stored))
