"""One round: ask every target twice, and judge what the counts prove."""
