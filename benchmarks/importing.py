"""Import of the core, compared with its dependencies, each in a new interpreter."""

import atexit
import sys
from functools import cache
from shutil import rmtree
from subprocess import run
from tempfile import mkdtemp

from benchmarks.measure import Comparison, Timer

_PROGRAM = (
    'from time import perf_counter_ns as now; start = now(); import {modules}; print(now() - start)'
)


@cache
def _bytecode() -> str:
    """Return a temporary folder for bytecode, which the first run of each side fills."""
    folder = mkdtemp(prefix='seamwise-bytecode-')
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


def _import(modules: str) -> Timer:
    program = _PROGRAM.format(modules=modules)

    def timer(times: int) -> int:
        # -I: settings of the environment (no bytecode, debug modes) do not apply.
        command = [sys.executable, '-I', '-X', f'pycache_prefix={_bytecode()}', '-c', program]
        return sum(int(run(command, capture_output=True, check=True).stdout) for _ in range(times))

    return timer


COMPARISONS = (
    Comparison(
        job='`import seamwise`, each in a new interpreter',
        peer='`import returns.result, msgspec`',
        ours=_import('seamwise'),
        theirs=_import('returns.result, msgspec'),
        target=1.3,
        rounds=50,
        because=(
            'every module of the core is read, its classes are created and its patterns compiled'
        ),
    ),
)
