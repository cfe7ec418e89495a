"""The packages of a release: build them, check them, and say what the release publishes.

`nox -s release -- --dry-run` runs it. Nothing here signs or publishes: for a tag, the workflow
`release.yml` does, with trusted publishing.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
NEEDED_IN_WHEEL = (
    'seamwise/py.typed',
    'seamwise/_results/containers.pyi',
    'seamwise/locale/zh_CN/LC_MESSAGES/seamwise.mo',
    'seamwise/live/client.js',
)
"""Files that no import misses, so that a test of an installed wheel can pass without them."""


def version() -> str:
    """Return the version in `pyproject.toml`."""
    found: str = _settings()['project']['version']
    return found


def wheel_roots() -> set[str]:
    """Return the packages and modules of the wheel that `pyproject.toml` names."""
    paths: list[str] = _settings()['tool']['hatch']['build']['targets']['wheel']['packages']
    return {PurePosixPath(path).name for path in paths}


def obstacles(tag: str | None) -> Iterator[str]:
    """Yield the reasons why a tag cannot be released.

    Args:
        tag: The tag that is released; None for a dry run, which may run on any commit.
    """
    changelog = (ROOT / 'CHANGELOG.md').read_text(encoding='utf-8')
    if tag is None:
        if '## [Unreleased]' not in changelog and f'## [{version()}]' not in changelog:
            yield f'CHANGELOG.md has no section [Unreleased] or [{version()}].'
        return
    if tag != f'v{version()}':
        yield f'The tag is {tag!r}, and the version in pyproject.toml is {version()!r}.'
    if f'## [{version()}]' not in changelog:
        yield f'CHANGELOG.md has no section [{version()}].'
    if 'urls' not in _settings()['project']:
        yield (
            'pyproject.toml has no [project.urls] with Documentation and Source: '
            'the links of the README would lead nowhere on PyPI.'
        )


def check_wheel(wheel: Path) -> Iterator[str]:
    """Yield the mistakes in the contents of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    roots = wheel_roots()
    for name in names:
        top = PurePosixPath(name).parts[0]
        if top not in roots and not top.endswith('.dist-info'):
            yield f'The wheel has {name}, which belongs to no package.'
    yield from (f'The wheel lacks {name}.' for name in NEEDED_IN_WHEEL if name not in names)
    packaged = {name for name in names if name.startswith('seamwise/')}
    expected = {name.removeprefix('src/') for name in tracked('src/seamwise')}
    yield from (f'The wheel lacks {name}.' for name in sorted(expected - packaged))


def check_sdist(sdist: Path) -> Iterator[str]:
    """Yield the files of the repository that a source distribution lacks, for its own tests."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition('/')[2] for member in archive.getmembers()}
    yield from (f'The sdist lacks {name}.' for name in tracked('.') if name not in names)


def tracked(folder: str) -> list[str]:
    """Return the files below a folder that git tracks."""
    return _output('git', 'ls-files', '-z', '--', folder).rstrip('\0').split('\0')


def build(output: Path) -> tuple[Path, Path]:
    """Build the wheel and the source distribution, and return their paths."""
    packages = output / 'packages'
    _run(sys.executable, '-m', 'build', '--outdir', str(packages), str(ROOT))
    [wheel], [sdist] = packages.glob('*.whl'), packages.glob('*.tar.gz')
    return wheel, sdist


def write_bill_of_materials(wheel: Path, output: Path) -> Path:
    """Write the CycloneDX bill of materials of an environment with the wheel."""
    path = output / 'sbom.cdx.json'
    with tempfile.TemporaryDirectory() as folder:
        _run(sys.executable, '-m', 'venv', folder)
        python = str(Path(folder) / 'bin' / 'python')
        _run(python, '-m', 'pip', 'install', '--quiet', str(wheel))
        _run(
            *(sys.executable, '-m', 'cyclonedx_py', 'environment', python),
            *('--output-reproducible', '--output-file', str(path)),
        )
    return path


def run_tests_of(sdist: Path) -> None:
    """Run the tests of an unpacked source distribution in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter='data')
        [unpacked] = Path(folder).iterdir()
        _run(sys.executable, '-m', 'venv', str(unpacked / '.venv'))
        python = str(unpacked / '.venv' / 'bin' / 'python')
        _run(python, '-m', 'pip', 'install', '--quiet', '--editable', '.[dev]', folder=unpacked)
        _run(
            *(python, '-m', 'pytest', '-q', '-n', 'auto', '-p', 'no:cacheprovider'),
            folder=unpacked,
        )


def main() -> None:
    """Build and check the packages; exit with 1 and the reasons if they cannot be released."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--dry-run', action='store_true', help='accept a commit without a tag')
    parser.add_argument('--output', type=Path, default=ROOT / 'dist', help='an empty folder')
    parser.add_argument('--test-sdist', action='store_true', help='run the tests of the sdist too')
    options = parser.parse_args()
    tag = None if options.dry_run else _output('git', 'describe', '--exact-match', '--tags').strip()
    if options.output.exists() and any(options.output.iterdir()):
        sys.exit(f'{options.output} is not empty: an old package in it would be published too.')
    if problems := [*obstacles(tag)]:
        sys.exit('\n'.join(problems))
    wheel, sdist = build(options.output)
    if problems := [*check_wheel(wheel), *check_sdist(sdist)]:
        sys.exit('\n'.join(problems))
    _run(sys.executable, '-m', 'twine', 'check', '--strict', str(wheel), str(sdist))
    _run(str(Path(sys.executable).with_name('check-wheel-contents')), str(wheel))
    sbom = write_bill_of_materials(wheel, options.output)
    if options.test_sdist:
        run_tests_of(sdist)
    verb = 'would publish' if options.dry_run else 'publishes'
    _say(f'The release of {version()} {verb}:')
    for path in (wheel, sdist, sbom):
        _say(f'  {path.relative_to(options.output)}: {path.stat().st_size:,} bytes')
    if options.dry_run:
        _say(f'To release it, push the tag v{version()}; nothing was signed or published.')
        for problem in obstacles(f'v{version()}'):
            _say(f'The release would stop: {problem}')


def _settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / 'pyproject.toml').read_text(encoding='utf-8'))


def _run(program: str, *arguments: str, folder: Path = ROOT) -> None:
    _say(' '.join(('$', Path(program).name, *arguments)))
    subprocess.run((program, *arguments), check=True, cwd=folder)  # noqa: S603 -- our own commands


def _say(line: str) -> None:
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


def _output(*command: str) -> str:
    return subprocess.run(  # noqa: S603 -- git
        command, check=True, cwd=ROOT, capture_output=True, text=True
    ).stdout


if __name__ == '__main__':
    main()
