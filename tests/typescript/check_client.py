"""Type checks of the JavaScript client of live sessions with `tsc --strict`.

The environment variable TSC names the compiler. The name of this file keeps it out of a plain test
run, for which no compiler is required.
"""

import os
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

CONSUMER = Path(__file__).parent / 'live_client.ts'


def compile_consumer(folder: Path, consumer: str) -> tuple[int, str]:
    for name in ('client.d.ts', 'client.js'):
        (folder / name).write_bytes(files('seamwise.live').joinpath(name).read_bytes())
    (folder / 'consumer.ts').write_text(consumer, encoding='utf-8')
    options = [
        '--strict',
        '--noEmit',
        '--noUnusedLocals',
        '--exactOptionalPropertyTypes',
        '--lib',
        'es2022,esnext.disposable,dom',
        '--target',
        'es2022',
        '--module',
        'esnext',
        '--moduleResolution',
        'bundler',
    ]
    command = [os.environ['TSC'], *options, 'client.d.ts', 'consumer.ts']
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    return result.returncode, result.stdout


def test_a_consumer_compiles_and_its_errors_narrow_by_type(tmp_path: Path) -> None:
    assert compile_consumer(tmp_path, CONSUMER.read_text(encoding='utf-8')) == (0, '')


@pytest.mark.parametrize(
    ('right', 'wrong'),
    [
        ('case "ReplayGap":', 'case "Gap":'),
        ('error.first_available', 'error.firstAvailable'),
        ('if (result.ok)', 'if (!result.ok)'),
        ('{ epoch: "e1", seq: 4 }', '"e1:4"'),
        ('content: "Hello"', 'text: "Hello"'),
        ('watch: false', 'watching: false'),
        ('case "AccessDenied":', ''),
    ],
)
def test_a_mistake_in_a_consumer_is_a_type_error(tmp_path: Path, right: str, wrong: str) -> None:
    consumer = CONSUMER.read_text(encoding='utf-8')
    assert right in consumer
    code, output = compile_consumer(tmp_path, consumer.replace(right, wrong))
    assert code != 0
    assert 'consumer.ts' in output


def test_the_exports_are_those_of_the_types(tmp_path: Path) -> None:
    consumer = 'import * as client from "./client.js"; const all = client; void all;\n'
    names = ['backoff', 'connect']
    checks = ''.join(f'void client.{name};\n' for name in names)
    assert compile_consumer(tmp_path, consumer + checks) == (0, '')
    source = files('seamwise.live').joinpath('client.js').read_text(encoding='utf-8')
    exported = [
        line.split('(')[0].split()[-1].lstrip('*')
        for line in source.splitlines()
        if line.startswith('export ')
    ]
    assert sorted(exported) == names
