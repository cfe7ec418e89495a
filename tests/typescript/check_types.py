"""Type checks of the catalogue's TypeScript with `tsc --strict`.

The environment variable TSC names the compiler. The name of this file keeps it out of a plain test
run, for which no compiler is required.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parent / 'client.ts'


@pytest.fixture(scope='module')
def module() -> str:
    result = subprocess.run(
        [sys.executable, '-m', 'seamwise', 'catalog', '--format', 'typescript'],
        capture_output=True,
        check=True,
    )
    return result.stdout.decode()


def compile_client(folder: Path, module: str, client: str) -> tuple[int, str]:
    (folder / 'errors.ts').write_text(module, encoding='utf-8')
    (folder / 'client.ts').write_text(client, encoding='utf-8')
    options = [
        '--strict',
        '--noEmit',
        '--noUnusedLocals',
        '--exactOptionalPropertyTypes',
        '--target',
        'es2022',
        '--module',
        'esnext',
    ]
    command = [os.environ['TSC'], *options, '--moduleResolution', 'bundler', 'client.ts']
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    return result.returncode, result.stdout


def test_the_module_compiles_and_its_unions_narrow_by_type(tmp_path: Path, module: str) -> None:
    assert compile_client(tmp_path, module, CLIENT.read_text(encoding='utf-8')) == (0, '')


@pytest.mark.parametrize(
    ('right', 'wrong'),
    [
        ('case "DeadlineExceeded":', 'case "CircuitOpen":'),
        ('error.details.path}, or', 'error.details.paht}, or'),
        ('"FILE_NOT_FOUND" = error.code', '"FILE_NOT_FUOND" = error.code'),
    ],
)
def test_mistake_in_a_client_is_a_type_error(
    tmp_path: Path, module: str, right: str, wrong: str
) -> None:
    client = CLIENT.read_text(encoding='utf-8')
    assert right in client
    code, output = compile_client(tmp_path, module, client.replace(right, wrong))
    assert code != 0
    assert 'client.ts' in output
