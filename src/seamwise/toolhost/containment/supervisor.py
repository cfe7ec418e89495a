"""Supervisor process: it runs one program and ends everything that the program started.

`client` starts this script without its package, so it imports the standard library only, and as
little of it as possible: the start of the supervisor is most of the cost of a command.

On Linux the supervisor is the subreaper of the program: a process whose parent ends becomes a child
of the supervisor, also after `setsid` and a double fork. It kills processes until none is left.
Elsewhere it kills the process group of the program.

Arguments: CONTROL CALLER SECONDS MEMORY PROCESSES OUTPUT FOLDER PROGRAM ARGUMENT…

CONTROL is the descriptor of a socket, and CALLER a process id. The program ends when the other side
of the socket is closed or the caller has ended. Each limit is 0 for none. With OUTPUT, the program
gets an answer pipe as descriptor 3, and its printed text is discarded. FOLDER is created as working
directory and removed at the end; empty: the current one.

The supervisor writes to the socket: the process id of the program and a newline; after the end of
all processes `REASON STATUS` and a newline, and what the program wrote to the answer pipe. REASON
is one of `exited`, `stopped`, `timeout`, `memory`, `processes`, `output` and `failed`. STATUS is
the exit status, negative after a signal; for `failed` it is the errno of the start.
"""

# ruff: noqa: PTH102, PTH106, PTH123, PTH208
# pathlib is slow to import.

import errno
import os
import select
import sys
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    # `signal` adds an enum to this module, and `enum` takes as long to import as all the rest.
    import _signal as signal

INTERVAL = 0.05
"""In seconds: the time between two checks of memory and processes."""

KILL_SECONDS = 60.0
"""The maximum time to end all processes; a process in uninterruptible sleep can outlast it."""

REFUSED_SECONDS = 1.0
"""The maximum time to end processes that this user may not kill (`exec sudo …`)."""

ANSWER = 3
"""The descriptor of the answer pipe in the program."""

_READ_SIZE = 64 * 1024
_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_DEFAULT_SIGNALS = (
    signal.SIGCHLD,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGPIPE,
    signal.SIGTERM,
    signal.SIGXFSZ,
)
_PAGE_SIZE = os.sysconf('SC_PAGE_SIZE')


def _do_nothing(_number: int, _frame: object) -> None:
    """Handle a signal that only has to wake the supervisor."""


class Supervisor:
    """The supervisor of one program.

    Args:
        control: The socket of the caller.
        caller: The process id of the caller.
        seconds: The maximum time of the program.
        memory: The maximum memory of all its processes in bytes, or 0.
        processes: The maximum number of its processes, or 0.
        output: The maximum size of its printed text and its answer in bytes; 0: nothing is read.
    """

    def __init__(
        self,
        control: int,
        caller: int,
        *,
        seconds: float,
        memory: int,
        processes: int,
        output: int,
    ) -> None:
        self._control = control
        self._caller = caller
        self._deadline = monotonic() + seconds
        self._memory = memory
        self._processes = processes
        self._output = output
        self._printed = 0
        self._answer = bytearray()
        self._answer_pipe = -1
        self._poll = select.poll()
        self._program = 0
        self._status = 0
        self._has_limits = sys.platform == 'linux' and bool(memory or processes)
        # Processes that are older than the program do not descend from it.
        self._strangers = frozenset(os.listdir('/proc') if self._has_limits else ())

    def run(self, program: list[str], *, folder: str) -> None:
        """Run the program in a new folder or the current one, end all its processes, and report."""
        self._watch_signals()
        self._watch_caller()
        try:
            if sys.platform == 'linux':
                # Processes whose parent ends become children of this one.
                _prctl(_SET_CHILD_SUBREAPER, 1)
            if folder:
                os.mkdir(folder, 0o700)
                os.chdir(folder)
            pipes = self._start(program)
        except OSError as error:
            self._send(b'0\nfailed %d\n' % (error.errno or 0))
            return
        self._send(b'%d\n' % self._program)
        reason = self._wait()
        self._end_all()
        for pipe in pipes:
            # A process that could not be killed can still write.
            while self._size() <= self._output and self._read(pipe):
                pass
        if self._output and self._size() > self._output:
            reason = 'output'
        self._send(b'%s %d\n' % (reason.encode(), self._status))
        if reason == 'exited':
            self._send(self._answer)

    def _watch_signals(self) -> None:
        """Let the end of a child wake the supervisor, and ignore requests to end."""
        wakeup, sender = os.pipe()
        os.set_blocking(wakeup, False)
        os.set_blocking(sender, False)
        signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _do_nothing)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        self._poll.register(wakeup, select.POLLIN)
        self._wakeup = wakeup

    def _watch_caller(self) -> None:
        self._poll.register(self._control, select.POLLIN)
        self._callers = {self._control}
        if sys.platform == 'linux':
            # A process that the caller forked can keep the other side of the socket open.
            try:
                caller = os.pidfd_open(self._caller)
            except OSError:
                return
            self._poll.register(caller, select.POLLIN)
            self._callers.add(caller)

    def _start(self, program: list[str]) -> list[int]:
        """Start the program, and return the pipes to read."""
        null = os.open(os.devnull, os.O_RDWR)
        pipes: list[int] = []
        targets: dict[int, int] = {}
        if self._output:
            text, text_sender = _pipe()
            self._answer_pipe, answer_sender = _pipe()
            pipes = [text, self._answer_pipe]
            targets = {1: text_sender, 2: text_sender, ANSWER: answer_sender}
        failures, failure_sender = _pipe()
        self._program = os.fork()
        if self._program == 0:
            _execute(program, targets, failure_sender)
        for sender in {failure_sender, *targets.values()}:
            os.close(sender)
        # The execution of the program closes the pipe.
        if number := os.read(failures, _READ_SIZE):
            os.waitpid(self._program, 0)
            raise OSError(int(number), 'the program cannot be executed')
        os.close(failures)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        for pipe in pipes:
            os.set_blocking(pipe, False)
            self._poll.register(pipe, select.POLLIN)
        return pipes

    def _wait(self) -> str:
        """Wait for the end of the program, and return the reason."""
        next_check = monotonic() + INTERVAL
        while not self._has_ended():
            now = monotonic()
            if now >= self._deadline:
                return 'timeout'
            if self._has_limits and now >= next_check:
                if reason := self._exceeded():
                    return reason
                next_check = monotonic() + INTERVAL
            if os.getppid() != self._caller:
                return 'stopped'
            pause = min(self._deadline - now, INTERVAL if self._has_limits else 1.0)
            for descriptor, _ in self._poll.poll(1000 * pause + 1):
                if descriptor in self._callers:
                    return 'stopped'
                self._receive(descriptor)
            if self._output and self._size() > self._output:
                return 'output'
        return 'exited'

    def _receive(self, descriptor: int) -> None:
        if descriptor == self._wakeup:
            os.read(descriptor, _READ_SIZE)
        elif not self._read(descriptor):
            self._poll.unregister(descriptor)

    def _has_ended(self) -> bool:
        """Reap orphans, and return whether the program has ended.

        The program stays a zombie, so that its process id still identifies its group.
        """
        if sys.platform == 'darwin':
            return self._reap()
        while child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if child.si_pid == self._program:
                return True
            os.waitpid(child.si_pid, 0)
        return False

    def _reap(self) -> bool:
        """Reap all children that have ended, and return whether none is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self._program:
                self._status = os.waitstatus_to_exitcode(status)

    def _exceeded(self) -> str | None:
        """Return the limit that the processes exceed, or None."""
        usage = _descendants(self._strangers)
        if self._processes and len(usage) > self._processes:
            return 'processes'
        if self._memory and sum(usage.values()) > self._memory:
            # Processes can share pages, which only the slower measure takes into account.
            private = sum(_private_memory(pid, size) for pid, size in usage.items())
            return 'memory' if private > self._memory else None
        return None

    def _end_all(self) -> None:
        """Kill all processes that the program started, and wait for their end."""
        started_at = monotonic()
        # All members of the group at once, so that a fork bomb in it cannot grow.
        _kill(-self._program, signal.SIGKILL)
        pause = 0.0002
        while not self._reap():
            limit = KILL_SECONDS if self._kill_descendants() else REFUSED_SECONDS
            if monotonic() - started_at > limit:
                return
            sleep(pause)
            pause = min(2 * pause, 0.02)

    def _kill_descendants(self) -> bool:
        """Kill all descendants; return whether at least one could be killed."""
        if sys.platform != 'linux':
            return False
        stopped: set[int] = set()
        # A process that is stopped cannot fork while others are killed.
        while new := [pid for pid in _descendants(frozenset()) if pid not in stopped]:
            for pid in new:
                _kill(pid, signal.SIGSTOP)
            stopped.update(new)
        return sum(_kill(pid, signal.SIGKILL) for pid in stopped) > 0

    def _size(self) -> int:
        return self._printed + len(self._answer)

    def _read(self, pipe: int) -> bool:
        """Read from a pipe; return False if there is nothing to read, now or ever."""
        try:
            data = os.read(pipe, _READ_SIZE)
        except BlockingIOError:
            return False
        if pipe == self._answer_pipe:
            self._answer += data
        else:
            self._printed += len(data)
        return bool(data)

    def _send(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._control, view) :]
        except (BrokenPipeError, ConnectionResetError):
            # The caller has ended, or no longer waits.
            return


def _execute(program: list[str], targets: dict[int, int], failures: int) -> 'NoReturn':
    """Execute the program in this process, which was forked.

    Args:
        program: The path of the program, and its arguments.
        targets: The pipe for each descriptor of the program.
        failures: The pipe for the errno of a failure.
    """
    try:
        os.setsid()
        if sys.platform == 'linux':
            # The program can kill the supervisor, but then ends itself.
            _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in _DEFAULT_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        for target, pipe in targets.items():
            os.dup2(pipe, target)
        os.execv(program[0], program)  # noqa: S606 -- no shell is needed
    except OSError as error:
        os.write(failures, b'%d' % (error.errno or errno.EIO))
    finally:
        os._exit(127)


def _prctl(option: int, value: int) -> None:
    import ctypes  # noqa: PLC0415 -- not needed elsewhere than on Linux

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), 'prctl failed')


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe; the second one is greater than `ANSWER`."""
    receiver, sender = os.pipe()
    lower: list[int] = []
    while sender <= ANSWER:
        lower.append(sender)
        sender = os.dup(sender)
    for descriptor in lower:
        os.close(descriptor)
    return receiver, sender


def _descendants(strangers: frozenset[str]) -> dict[int, int]:
    """Return the descendants of this process, and the resident memory of each in bytes.

    Args:
        strangers: The names in `/proc` that are known to be no descendants.
    """
    children: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    for name in os.listdir('/proc'):
        if not name.isdigit() or name in strangers:
            continue
        try:
            with open(f'/proc/{name}/stat', 'rb') as stat:
                fields = stat.read().rpartition(b')')[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(name)
        children.setdefault(int(fields[1]), []).append(pid)
        sizes[pid] = int(fields[21]) * _PAGE_SIZE
    usage: dict[int, int] = {}
    stack = [os.getpid()]
    while stack:
        for pid in children.pop(stack.pop(), ()):
            usage[pid] = sizes[pid]
            stack.append(pid)
    return usage


def _private_memory(pid: int, resident: int) -> int:
    """Return the memory of a process in bytes, with its share of shared pages."""
    try:
        with open(f'/proc/{pid}/smaps_rollup', 'rb') as rollup:
            for line in rollup:
                if line.startswith(b'Pss:'):
                    return 1024 * int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return resident
    return resident


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _remove(folder: str) -> None:
    os.chdir('/')
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return
    except OSError:
        import shutil  # noqa: PLC0415 -- slow to import, and rarely needed

        shutil.rmtree(folder, ignore_errors=True)


def main() -> 'NoReturn':
    """Run the program that the arguments describe, and exit."""
    control, caller, seconds, memory, processes, output, folder, *program = sys.argv[1:]
    os.set_inheritable(int(control), False)  # noqa: FBT003 -- positional only
    supervisor = Supervisor(
        int(control),
        int(caller),
        seconds=float(seconds),
        memory=int(memory),
        processes=int(processes),
        output=int(output),
    )
    try:
        supervisor.run(program, folder=folder)
    finally:
        if folder:
            _remove(folder)
    # The end of the interpreter would take longer than that of the process.
    os._exit(0)
