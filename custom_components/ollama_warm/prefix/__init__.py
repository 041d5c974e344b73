"""What of a prompt stays the same, and what moves.

Pure Python: nothing in this package knows of Home Assistant or of a model server.
"""
