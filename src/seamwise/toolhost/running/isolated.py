"""Calls of isolated tools: each one in a process of its own, under a supervisor."""

import os
import sys
from asyncio import CancelledError, get_running_loop, sleep, timeout
from pathlib import Path
from secrets import token_hex
from subprocess import DEVNULL
from tempfile import TemporaryFile, gettempdir
from typing import Final, TypeVar

import msgspec

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result
from seamwise.catalog.tools import InvalidResult, ResourceExhausted, ToolTimedOut
from seamwise.toolhost.containment.client import (
    END_SECONDS,
    Bounds,
    Report,
    Supervision,
    parse_report,
    start_supervisor,
)
from seamwise.toolhost.containment.importable import import_name
from seamwise.toolhost.containment.limits import ToolLimits
from seamwise.toolhost.running.transfer import Invalid, decode_answer, encode_request
from seamwise.toolhost.tools import Invocation

E = TypeVar('E', bound=TaggedError)

MAX_PROCESSES: Final = 64
"""The maximum number of processes of a call at once; a fork bomb ends there."""

STALL_SECONDS: Final = 5.0
"""The maximum time after the limit until the supervisor reports the end."""

_WORKER: Final = Path(__file__).with_name('worker.py')
_READ_SIZE: Final = 64 * 1024


class ProcessEnded(Exception):
    """The process of a tool ended without an answer, or broke a limit."""


async def run_isolated(
    invocation: Invocation[E], limits: ToolLimits, *, tool: str, attempts: int
) -> Result[object, E | InvalidResult | ResourceExhausted | ToolTimedOut]:
    """Run a call in a process of its own, and return its checked result.

    When this function ends, everything that the tool has started has ended too.

    Args:
        invocation: The call.
        limits: The limits of the process.
        tool: The name of the tool.
        attempts: The number of attempts, including this one.

    Raises:
        WorkerException: The tool raised an exception.
        Raised: The tool raised a tagged error.
        ProcessEnded: The process gave no answer.
        OSError: The process cannot be started.
    """
    # seamwise: allow[SW102] the attempt turns it into a ToolFailed
    report = await _run_process(invocation, limits, tool=tool)
    match report.reason:
        case 'exited' if report.answer and report.status == 0:
            return _read_answer(invocation, report.answer, tool=tool)
        case 'timeout':
            return Failure(ToolTimedOut(tool, limits.seconds, attempts))
        case 'memory':
            return Failure(ResourceExhausted('memory'))
        case 'processes':
            # seamwise: allow[SW102] the attempt turns it into a ToolFailed
            raise ProcessEnded(f'The tool started more than {MAX_PROCESSES} processes.')
        case 'output':
            # seamwise: allow[SW102] the attempt turns it into a ToolFailed
            raise ProcessEnded(f'The tool wrote more than {limits.output} bytes.')
        case 'failed':
            # seamwise: allow[SW102] the attempt turns it into a ToolFailed
            raise OSError(report.status, os.strerror(report.status))
        case 'stopped' | 'lost':
            # seamwise: allow[SW102] the attempt turns it into a ToolFailed
            raise ProcessEnded('The supervisor of the tool was killed.')
        case 'exited':
            # seamwise: allow[SW102] the attempt turns it into a ToolFailed
            raise ProcessEnded(f'The process of the tool ended with status {report.status}.')


def _read_answer(
    invocation: Invocation[E], answer: bytes, *, tool: str
) -> Result[object, E | InvalidResult | ResourceExhausted]:
    try:
        result = decode_answer(answer, invocation.result_type)
    except MemoryError:
        return Failure(ResourceExhausted('memory'))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        # seamwise: allow[SW102] the attempt turns it into a ToolFailed
        raise ProcessEnded('The process of the tool gave an unreadable answer.') from error
    if isinstance(result, Invalid):
        return Failure(InvalidResult(tool, result.problems))
    return invocation.check(result)


async def _run_process(invocation: Invocation[E], limits: ToolLimits, *, tool: str) -> Report:
    request = encode_request(import_name(invocation.function), tool, invocation.arguments)
    with TemporaryFile() as stdin:
        stdin.write(request)
        stdin.seek(0)
        supervision = start_supervisor(
            [sys.executable, '-P', '-s', str(_WORKER), str(limits.memory)],
            Bounds(
                seconds=limits.seconds,
                memory=limits.memory,
                processes=MAX_PROCESSES,
                output=limits.output,
            ),
            environment=_environment(),
            stdin=stdin,
            stdout=DEVNULL,
            cwd=Path('/'),
            folder=os.path.join(gettempdir(), f'seamwise-{token_hex(8)}'),
        )
    data = bytearray()
    try:
        # The supervisor enforces the limit, unless the tool has stopped it.
        async with timeout(limits.seconds + STALL_SECONDS):
            await _receive(supervision, data)
    except TimeoutError:
        return Report('timeout')
    finally:
        await _end(supervision)
    return parse_report(bytes(data))


async def _receive(supervision: Supervision, data: bytearray) -> None:
    loop = get_running_loop()
    supervision.control.settimeout(0)
    while chunk := await loop.sock_recv(supervision.control, _READ_SIZE):
        data += chunk


async def _end(supervision: Supervision) -> None:
    """End the processes of a call; a cancellation does not shorten the wait for their end."""
    supervision.close()
    end = get_running_loop().time() + END_SECONDS
    interruption: CancelledError | None = None
    while supervision.process.poll() is None:
        if get_running_loop().time() > end:
            supervision.log_remains()
            break
        try:
            await sleep(0.001)
        except CancelledError as error:
            interruption = error
    if interruption is not None:
        try:
            raise interruption
        finally:
            del interruption


def _environment() -> dict[str, str]:
    """Return the environment of an isolated tool: `PATH`, `LANG` and the import path."""
    environment = {name: os.environ[name] for name in ('PATH', 'LANG') if name in os.environ}
    # An empty entry stands for the working directory, which is another one there.
    environment['PYTHONPATH'] = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return environment
