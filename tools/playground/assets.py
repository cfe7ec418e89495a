"""Files of the playground: packages of fixed versions, and the code of this repository.

Everything is served from the site itself. `package-lock.json` and `wheels.txt` have the hashes.
"""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent

PYODIDE = ('pyodide.mjs', 'pyodide.asm.mjs', 'pyodide.asm.wasm', 'python_stdlib.zip')

PINNED = ('package.json', 'package-lock.json', '.npmrc', 'wheels.txt')

PLATFORM = (
    *('--only-binary=:all:', '--platform', 'pyemscripten_2026_0_wasm32'),
    *('--implementation', 'cp', '--python-version', '314', '--abi', 'cp314'),
)
"""Options of pip for the wheels of Pyodide."""

ROOMS_LEFT_OUT = ('check', 'live', 'program', 'toolhost')
"""Parts of the library that need packages which the browser has not."""

STDLIB_LEFT_OUT = ('distutils', 'lib2to3', 'tkinter')

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of the files in an archive, so that two builds have equal archives."""

CHECKER_SETTINGS = {
    'typeCheckingMode': 'standard',
    'typeshedPath': '/typeshed',
    'pythonVersion': '3.14',
    'pythonPlatform': 'Linux',
    # The last expression of a program is its result.
    'reportUnusedExpression': 'none',
}


def write_playground(root: Path, site: Path) -> None:
    """Write the files of the playground into a built site.

    Args:
        root: Folder of the repository; packages are kept in its `build/playground`.
        site: Folder of the site.

    Raises:
        subprocess.CalledProcessError: npm, pip or esbuild failed.
        FileNotFoundError: npm is not installed.
    """
    packages = root / 'build' / 'playground'
    node, wheels = _install(packages)
    target = site / '_static' / 'playground'
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(node / 'pyodide' / name, target / name)
    shutil.copy(node / 'browser-basedpyright' / 'dist' / 'pyright.worker.js', target)
    (target / 'checker.bin').write_bytes(gzip.compress(_checker_files(root, wheels), 9, mtime=0))
    _write_python(root, wheels, target / 'python.zip')
    sizes = {
        path.name: [path.stat().st_size, len(gzip.compress(path.read_bytes(), 6))]
        for path in sorted(target.iterdir())
    }
    _bundle(root, node, target, sizes)


def _install(packages: Path) -> tuple[Path, Path]:
    """Install the packages if the pinned versions have changed, and return their folders."""
    pinned = [
        FOLDER / name for name in ('package.json', 'package-lock.json', '.npmrc', 'wheels.txt')
    ]
    stamp = hashlib.sha256(b'\0'.join(path.read_bytes() for path in pinned)).hexdigest()
    done = packages / stamp
    if not done.exists():
        shutil.rmtree(packages, ignore_errors=True)
        packages.mkdir(parents=True)
        for path in pinned:
            shutil.copy(path, packages)
        # The node of the development extra is used if the machine has none.
        programs = os.pathsep.join([os.environ['PATH'], str(Path(sys.executable).parent)])
        command = ['npm', 'ci', '--loglevel=error', '--no-audit', '--no-fund']
        _run(command, packages, PATH=programs)
        command = [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', *PLATFORM]
        command += ['--require-hashes', '-r', 'wheels.txt', '-d', 'wheels']
        _run(command, packages)
        done.touch()
    return packages / 'node_modules', packages / 'wheels'


def _library(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of the library that run in the browser."""
    source = root / 'src'
    for path in sorted(source.rglob('*.*')):
        name = path.relative_to(source)
        is_used = path.suffix in {'.py', '.pyi', '.mo', '.typed'}
        if is_used and not (name.parts[0] == 'seamwise' and name.parts[1] in ROOMS_LEFT_OUT):
            yield name.as_posix(), path.read_bytes()


def _wheel_files(wheels: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(wheels.glob('*.whl')):
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                if not name.endswith('/'):
                    yield name, wheel.read(name)


def _write_python(root: Path, wheels: Path, target: Path) -> None:
    """Write the packages that Python loads in the browser, as one archive."""
    own = ['tools/__init__.py']
    own += [f'tools/playground/{name}.py' for name in ('__init__', 'event_loop', 'program')]
    files = dict(_library(root))
    files |= {name: data for name, data in _wheel_files(wheels) if not name.endswith('.pyi')}
    files |= {name: (root / name).read_bytes() for name in own}
    with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, FIXED_TIME), data, zipfile.ZIP_DEFLATED)


def _checker_files(root: Path, wheels: Path) -> bytes:
    """Return what the type checker reads, as a JSON object of paths and contents."""
    files: dict[str, str] = {}
    for name, data in (*_library(root), *_wheel_files(wheels)):
        if name.endswith(('.py', '.pyi', 'py.typed')):
            files[f'/src/{name}'] = data.decode()
    spec = find_spec('mypy')
    if spec is None or spec.origin is None:
        raise FileNotFoundError('mypy, whose stubs of the standard library are used')
    typeshed = Path(spec.origin).parent / 'typeshed'
    for path in sorted((typeshed / 'stdlib').rglob('*')):
        stub = path.relative_to(typeshed)
        is_used = path.suffix == '.pyi' and stub.parts[1] not in STDLIB_LEFT_OUT
        if is_used or path.name == 'VERSIONS':
            files[f'/typeshed/{stub.as_posix()}'] = path.read_text(encoding='utf-8')
    files['/src/pyrightconfig.json'] = json.dumps(CHECKER_SETTINGS)
    return json.dumps(files, ensure_ascii=False).encode()


def _bundle(root: Path, node: Path, target: Path, sizes: Mapping[str, list[int]]) -> None:
    """Bundle the scripts and styles, with those of the page of `seamwise serve`."""
    examples = {
        path.stem: path.read_text(encoding='utf-8')
        for path in sorted((root / 'docs' / 'playground').glob('*.py'))
    }
    # Python loads no packages of its distribution.
    lock = json.loads((node / 'pyodide' / 'pyodide-lock.json').read_text(encoding='utf-8'))
    lock['packages'] = {}
    page = FOLDER / 'page'
    _run(
        [
            *map(str, (node / '.bin' / 'esbuild', page / 'page.js', page / 'playground.css')),
            *(str(page / 'python_worker.js'), f'--outdir={target}'),
            *('--bundle', '--minify', '--format=esm', '--target=es2023', '--log-level=warning'),
            '--external:./pyodide.mjs',
            f'--define:SIZES={json.dumps(sizes)}',
            f'--define:EXAMPLES={json.dumps(examples)}',
            f'--define:LOCK={json.dumps(json.dumps(lock))}',
        ],
        root,
        # The modules are not in a folder above the page.
        NODE_PATH=str(node),
    )


def _run(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Run a program of the build."""
    subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=True)  # noqa: S603 -- fixed commands
