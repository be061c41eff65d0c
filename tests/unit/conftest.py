"""Settings of the unit tests."""

from hypothesis import settings

# A slow machine is no failure.
settings.register_profile("unit", deadline=None)
settings.load_profile("unit")
