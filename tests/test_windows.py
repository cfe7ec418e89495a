"""Test of the imports where the modules, functions and signals of POSIX are missing."""

import subprocess
import sys

import pytest

ROOMS = (
    '_text', 'redaction', '_errors', '_results', '_defects', '_runtime', 'catalog', 'policies',
    'seams', 'testing', 'messages', 'typing',
)  # fmt: skip

SIMULATION = """
import importlib, os, pkgutil, signal, sys

import seamwise


def import_rooms():
    names = [f'seamwise.{room}' for room in sys.argv[1:]]
    for name in names:
        module = importlib.import_module(name)
        for inner in pkgutil.walk_packages(getattr(module, '__path__', ()), f'{name}.'):
            importlib.import_module(inner.name)


# Other packages and the standard library have modules of their own for Windows: import them first.
import_rooms()
for name in [name for name in sys.modules if name.partition('.')[0] == 'seamwise']:
    del sys.modules[name]
for name in ('fcntl', 'grp', 'pwd', 'resource', 'termios', 'tty', 'pty', 'syslog'):
    sys.modules[name] = None
for name in [
    'O_NONBLOCK', 'O_NOCTTY', 'O_CLOEXEC', 'O_NOFOLLOW', 'O_DIRECTORY', 'WNOHANG', 'chown',
    'chroot', 'fchmod', 'fchown', 'fork', 'forkpty', 'getegid', 'geteuid', 'getgid', 'getpgid',
    'getuid', 'killpg', 'mkfifo', 'openpty', 'pread', 'pwrite', 'register_at_fork',
    'sched_getaffinity', 'setpgid', 'setsid', 'uname', 'waitid',
]:
    if hasattr(os, name):
        delattr(os, name)
kept = {
    'signal', 'SIGABRT', 'SIGFPE', 'SIGILL', 'SIGINT', 'SIGSEGV', 'SIGTERM', 'SIG_DFL', 'SIG_IGN',
}
for name in dir(signal):
    if name.startswith(('SIG', 'ITIMER', 'pthread', 'set', 'sig')) and name not in kept:
        delattr(signal, name)
import_rooms()

from seamwise import Category, Failure, Success, TaggedError
from seamwise.policies import retry
from seamwise.seams.cli import Rendered, main


class Gone(TaggedError, category=Category.NOT_FOUND, message='Gone.'):
    pass


assert retry(attempts=2, base=0.0).run_sync(lambda: Failure(Gone())) == Failure(Gone())
main(lambda: Success(None), lambda error: Rendered('gone', 1))
"""


@pytest.mark.slow
def test_core_seams_and_guards_import_without_posix() -> None:
    process = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', SIMULATION, *ROOMS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
