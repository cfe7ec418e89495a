"""Tools for the tests of isolation. Each one is bounded by itself, also where nothing contains it.

Every process ends after `ALARM` seconds at the latest.
"""

import datetime
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from msgspec import Struct

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise._errors.causes import Raised
from seamwise.toolhost import ToolLimits, tool

ALARM = 30
LIMITS = ToolLimits(seconds=20)


class Report(Struct):
    """A value with types that JSON does not have."""

    at: datetime.date
    sizes: tuple[int, ...]
    data: bytes = b''


class Surroundings(Struct):
    """The surroundings of a process."""

    environment: dict[str, str]
    folder: str
    files: list[str]
    input: str
    descriptors: list[str]
    path: list[str]


class Refused(TaggedError, category=Category.CONFLICT, namespace='isolation-tests'):
    """An error of a tool."""

    why: str
    count: int = 0


class Undeclared(TaggedError, category=Category.CONFLICT, namespace='isolation-tests'):
    """An error that no tool declares."""


class ConnectionLost(ConnectionResetError):
    """An exception without an entry in the table of kinds."""


@tool(isolated=LIMITS)
def look() -> Surroundings:
    """Describe the process."""
    return Surroundings(
        environment=dict(os.environ),
        folder=str(Path.cwd()),
        files=[file.name for file in Path().iterdir()],
        input=sys.stdin.read(),
        descriptors=[_target(file) for file in Path('/proc/self/fd').iterdir()],
        path=sys.path,
    )


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except FileNotFoundError:
        return 'closed'


@tool(isolated=LIMITS)
async def report(day: datetime.date, data: bytes = b'') -> Result[Report, Refused]:
    """Return a Struct, or an error."""
    print('printed')
    if data:
        return Success(Report(day, (1, 2**60), data))
    return Failure(Refused('no data', count=3))


@tool(isolated=LIMITS)
def power(exponent: int) -> int:
    """Return a large number."""
    return int(2**exponent)


@tool(isolated=LIMITS)
def anything(kind: str) -> object:
    """Return a value without a declared type."""
    values: dict[str, object] = {
        'plain': {'a': [1, None, 'x', 0.1, b'\0']},
        'infinity': {'a': [1, float('inf')]},
        'tuple': (1, 2),
        'object': {'a': object()},
    }
    return values[kind]


@tool(isolated=LIMITS)
def fail(kind: str) -> Result[int, Refused]:
    """Fail in one of many ways."""
    match kind:
        case 'undeclared':
            return Failure(Undeclared())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        case 'raised':
            raise Raised(Refused('raised'))
        case 'connection':
            raise ConnectionLost('password=hunter2')
        case 'bug':
            raise KeyError(kind)
        case 'wrong':
            return Success('1')  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        case 'exit':
            os._exit(3)
        case 'system_exit':
            sys.exit(4)
        case 'forged':
            os.write(3, b'\x93\x01\x02')
            os._exit(0)
        case _:
            os.kill(os.getpid(), signal.SIGKILL)
            return Success(0)


@tool(isolated=ToolLimits(seconds=20, output=100_000))
def write(size: int, target: int = 1) -> int:
    """Write to a descriptor."""
    size = min(size, 20_000_000)
    chunk = b'x' * 10_000
    for _ in range(size // len(chunk)):
        os.write(target, chunk)
    return size


@tool(isolated=ToolLimits(seconds=20, output=100_000))
def answer(size: int) -> str:
    """Return a long text."""
    return 'x' * min(size, 20_000_000)


@tool(isolated=ToolLimits(seconds=20, memory=128 * 2**20))
def allocate(size: int, children: int = 0) -> int:
    """Allocate memory here or, divided, in child processes."""
    signal.alarm(ALARM)
    size = min(size, 2**30)
    if not children:
        return len(b'x' * size)
    for _ in range(min(children, 8)):
        if os.fork() == 0:
            signal.alarm(ALARM)
            data = b'x' * (size // children)
            time.sleep(ALARM)
            os._exit(len(data) % 2)
    time.sleep(ALARM)
    return size


@tool(isolated=ToolLimits(seconds=1))
def ignore_signals(folder: str) -> int:
    """Sleep, and ignore every signal that can be ignored."""
    signal.alarm(ALARM)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return sleep_forever(folder)


@tool(isolated=LIMITS)
def spawn(folder: str, count: int, *, wait: bool = False, attack: bool = False) -> int:
    """Start processes that leave the session and the family of this one.

    Args:
        folder: Gets a file for each process.
        count: The number of processes, at most 20.
        wait: Sleep then.
        attack: Kill the supervisor then.
    """
    signal.alarm(ALARM)
    count = min(count, 20)
    for _ in range(count):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                signal.alarm(ALARM)
                sleep_forever(folder)
            os._exit(0)
    while len(list(Path(folder).iterdir())) < count:
        time.sleep(0.01)
    if attack:
        os.kill(os.getppid(), signal.SIGKILL)
    return sleep_forever(folder) if wait else count


@tool(isolated=LIMITS)
def start_many() -> int:
    """Start more processes than a tool may have, each of which ends by itself."""
    processes = [subprocess.Popen(['sleep', '3'], start_new_session=True) for _ in range(80)]
    time.sleep(3)
    return len(processes)


@tool(isolated=LIMITS)
def fork_and_return() -> int:
    """Return in two processes."""
    return int(os.fork() == 0) * 0 + 1


def sleep_forever(folder: str) -> int:
    """Write a file with the name of this process, and sleep."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(ALARM)
    return 0


def plain(day: datetime.date) -> Report:
    """Return a Struct; this is no tool here."""
    return Report(day, ())


@tool(isolated=ToolLimits(seconds=1))
def stop_supervisor(folder: str) -> int:
    """Stop the supervisor, and sleep."""
    signal.alarm(ALARM)
    os.kill(os.getppid(), signal.SIGSTOP)
    return sleep_forever(folder)
