"""Hypothesis profiles, and plugins for all tests.

Examples have no deadline, because machines are shared, and are not stored on disk. The default
profile generates the same 50 examples in every run; HYPOTHESIS_PROFILE=explore looks for new ones,
and for more.
"""

import gc
import os
import signal

import pytest
from hypothesis import settings

import _seamwise_pytestplugin

pytest_plugins = ['tests.mypy_garbage', 'tests.warm_cache']

# It configures logging when it is imported, for a server in a process of its own.
collect_ignore = ['seams/logged_app.py']

settings.register_profile(
    'seamwise', deadline=None, database=None, derandomize=True, max_examples=50
)
settings.register_profile('explore', deadline=None, database=None)
settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'seamwise'))


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin of this project where it is not installed, such as in a new worktree.

    A shell starts background jobs with SIGINT ignored, and their processes inherit that. The tests
    interrupt such processes.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not config.pluginmanager.has_plugin('seamwise'):
        config.pluginmanager.register(_seamwise_pytestplugin, 'seamwise')


def pytest_collection_finish() -> None:
    """Freeze the modules and tests: a full garbage collection would scan them for half a second."""
    gc.collect()
    gc.freeze()
