"""What keeps an agent from being warm, for Home Assistant's repairs."""
