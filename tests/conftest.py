"""What holds for all tests: machines are shared and noisy, so no example has a deadline, and none is kept on disk.

The same code is tried with the same examples, so that whoever runs the tests sees what the others saw;
HYPOTHESIS_PROFILE=explore looks for new ones.
"""

import os

import pytest
from hypothesis import settings

settings.register_profile('seamwise', deadline=None, database=None, derandomize=True)
settings.register_profile('explore', deadline=None, database=None)
settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'seamwise'))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests that run mypy come last: what it leaves makes every later look for garbage a long one."""
    items.sort(
        key=lambda item: item.nodeid.startswith(
            ('tests/check/', 'tests/program/test_check', 'tests/program/test_map')
        )
    )
