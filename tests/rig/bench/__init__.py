"""What every promised number costs today: `python -m tests.rig.bench`."""
