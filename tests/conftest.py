"""What holds for all tests: machines are shared and noisy, so no example has a deadline, and none is kept on disk."""

from hypothesis import settings

settings.register_profile('seamwise', deadline=None, database=None)
settings.load_profile('seamwise')
