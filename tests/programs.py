"""Programs that some tests need and pip does not bring: without one they are skipped, aloud; `.ci/run` lets none be."""

import os
import shutil

import pytest


def program(name: str) -> str:
    """Give the path of a program, or skip the test; where SEAMWISE_EVERY_TEST is set, the test fails."""
    found = shutil.which(name)
    if found is not None:
        return found
    missing = f'{name} is not installed: `apt-get install {name}`, or `brew install {name.removesuffix("-server")}`'
    if os.environ.get('SEAMWISE_EVERY_TEST'):
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
