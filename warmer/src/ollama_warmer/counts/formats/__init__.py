"""The logs that are understood: one file for each kind, which `counts.register` finds by itself."""
