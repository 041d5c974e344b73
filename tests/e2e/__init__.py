"""End-to-end tests on the rig."""
