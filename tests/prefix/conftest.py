"""How many examples the property tests try: `--hypothesis-profile thorough` tries 10,000."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "thorough", max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
