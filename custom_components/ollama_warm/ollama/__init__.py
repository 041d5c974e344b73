"""The model server: how it is asked, whose turn it is there, and what is known of it."""
