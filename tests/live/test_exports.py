"""Tests of the names that `seamwise.live` imports on first use."""

import subprocess
import sys

import pytest

import seamwise.live


@pytest.mark.parametrize(
    ('name', 'package', 'message'),
    [
        ('connect', 'websockets', "needs websockets: pip install 'seamwise[live]'"),
        ('gateway', 'starlette', "needs Starlette: pip install 'seamwise[live]'"),
        ('signed_tokens', 'jwt', "needs PyJWT: pip install 'seamwise[live]'"),
        ('Tokens', 'jwt', "needs PyJWT: pip install 'seamwise[live]'"),
        ('RedisLog', 'redis', "needs redis-py: pip install 'seamwise[redis]'"),
    ],
)
def test_a_name_without_its_package_says_what_to_install(
    name: str, package: str, message: str
) -> None:
    script = f'import sys; sys.modules[{package!r}] = None; from seamwise.live import {name}'
    process = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True)  # noqa: PLW1510 -- it fails
    assert process.stderr.endswith(f'ModuleNotFoundError: seamwise.live.{name} {message}\n')


def test_the_log_needs_no_further_package() -> None:
    packages = ['starlette', 'jwt', 'redis', 'websockets', 'uvicorn']
    script = f'import sys, seamwise.live; print([n for n in {packages} if n in sys.modules])'
    process = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, check=True
    )
    assert process.stdout == '[]\n'


def test_all_names_are_listed_and_others_do_not_exist() -> None:
    names = {'Event', 'Principal', 'RedisLog', 'Tokens', 'connect', 'gateway', 'signed_tokens'}
    assert names <= {*dir(seamwise.live)}
    for name in names:
        assert getattr(seamwise.live, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        _ = seamwise.live.missing  # type: ignore[attr-defined]  # a wrong name
