"""What holds for all tests."""

from hypothesis import settings

# A busy machine takes its time; how long one example takes is no property of the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
