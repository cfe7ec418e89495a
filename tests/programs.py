"""External programs that some tests need; without them these tests are skipped, except in CI."""

import os
import shutil

import pytest


def program(name: str) -> str:
    """Return the path of a program, or skip the test; with SEAMWISE_EVERY_TEST, the test fails."""
    path = shutil.which(name)
    if path is not None:
        return path
    formula = name.removesuffix('-server')
    message = f'{name} is not installed: `apt-get install {name}`, or `brew install {formula}`'
    if os.environ.get('SEAMWISE_EVERY_TEST'):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
