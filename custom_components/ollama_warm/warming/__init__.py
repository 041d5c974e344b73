"""When agents are warmed, how, and what came of it."""
