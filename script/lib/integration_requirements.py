"""Print the pip requirements of the integrations that a test house sets up.

Home Assistant installs what an integration needs when it is set up. The rig starts it with
`--skip-pip`, so the packages are pinned beforehand: this walks the manifests of the installed
Home Assistant, from its default integrations, its entity platforms and the ones named on the
command line, through their dependencies.
"""

import json
from pathlib import Path
import sys

from homeassistant import bootstrap, components
from homeassistant.const import Platform

# Started by default, but not needed by a house in a test, with requirements of hundreds of MB.
LEFT_OUT = {"cloud", "go2rtc", "hassio", "mobile_app", "stream", "usb"}


def requirements(names: set[str]) -> set[str]:
    """Return the pinned requirements of these integrations and of all they depend on."""
    root = Path(components.__path__[0])
    found: set[str] = set()
    seen: set[str] = set()
    queue = sorted(names)
    while queue:
        name = queue.pop()
        manifest_file = root / name / "manifest.json"
        if name in seen or name in LEFT_OUT or not manifest_file.exists():
            continue
        seen.add(name)
        manifest = json.loads(manifest_file.read_text())
        found.update(manifest.get("requirements", []))
        queue += manifest.get("dependencies", []) + manifest.get("after_dependencies", [])
    return found


if __name__ == "__main__":
    wanted = {str(platform) for platform in Platform}
    wanted |= bootstrap.DEFAULT_INTEGRATIONS | bootstrap.CRITICAL_INTEGRATIONS
    wanted |= set(sys.argv[1:])
    print("\n".join(sorted(requirements(wanted))))
