"""Run type checkers over case files, and compare their reports with the comments of the files.

    python typing_check.py --site PYTHON --cases DIR
        [--checkers mypy,mypy+plugin,pyright,pyrefly,ty] [--tools BIN] [--only catch,bind] [-v]

PYTHON is an interpreter in whose environment seamwise is installed. mypy runs as
`PYTHON -m mypy`; pyright, pyrefly and ty come from the same bin folder, or from --tools.

A case marks its lines by comments:

    # want: error, reason        every checker must report this line
    # want[ty,pyright]: error    these checkers must report it, the others may
    # may[mypy]: error, reason   these checkers may report it, no checker must

A report on any other line is an error. Checkers are named exactly, so `may[mypy]` does not
apply to `mypy+plugin`.

Each run also checks three files with planted errors: a plain error, an error that is visible only
if seamwise is found and typed, and one that is visible only if seamwise finds `returns`.
The last line is a summary. Exit codes: 0, every file is as marked; 1, a report differs; 2, a
planted error was not reported, so the run is invalid.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

CHECKERS = ('mypy', 'mypy+plugin', 'pyright', 'pyrefly', 'ty')
MARK = re.compile(r'#\s*(want|may)(?:\[([^\]]*)\])?:\s*error')
ANY_MARK = re.compile(r'#\s*(want|may)\b')
STYLE_ONLY = re.compile('reportUnused|reportUnnecessary')

CANARIES = {
    'canary_plain.py': (
        'from typing_extensions import assert_type\n'
        'x: int = "a"  # want: error\n'
        'assert_type(len(""), str)  # want: error\n'
    ),
    'canary_library.py': (
        'from seamwise import Failure, Success\n'
        'good = Success(len(""))\n'
        'bad: Failure[int] = good  # want: error\n'
        'text: str = good.unwrap()  # want: error\n'
    ),
    'canary_base.py': (
        'from returns.result import Result as Open\n'
        'from seamwise import Success\n'
        'taken: Open[int, str] = Success(len(""))\n'
        'refused: Open[str, str] = Success(len(""))  # want: error\n'
        'Success(len("")).no_such_name  # want: error\n'
    ),
}

Report = tuple[str, int, str]


class Unusable(Exception):
    """The checker did not run, or its reports are incomplete."""


def run(folder: Path, *command: str) -> str:
    # Settings of the environment must not change the result.
    clean = {
        k: v
        for k, v in os.environ.items()
        if not re.match('MYPY|PYRIGHT_PYTHON_PYLANCE|PYREFLY|TY_|PYTHONPATH|VIRTUAL_ENV|CONDA', k)
    }
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=clean, timeout=900
    )
    if done.returncode not in {0, 1} or (done.returncode and not done.stdout.strip()):
        output = ' '.join((done.stderr or done.stdout).split())
        raise Unusable(f'{Path(command[0]).name} ended with {done.returncode}: {output[-400:]}')
    return done.stdout


def tool(options: argparse.Namespace, name: str) -> str:
    path = Path(options.tools or Path(options.site).parent) / name
    if not path.exists():
        raise Unusable(f'{path} is missing')
    return str(path)


def mypy(
    folder: Path, options: argparse.Namespace, names: list[str], plugin: bool
) -> Iterator[Report]:
    lines = ['[mypy]', 'strict = True', f'python_version = {options.python}', 'incremental = False']
    lines += ['plugins = seamwise.check.plugin'] if plugin else []
    (folder / 'mypy.ini').write_text('\n'.join(lines) + '\n')
    out = run(
        folder,
        options.site,
        '-m',
        'mypy',
        '--config-file',
        'mypy.ini',
        '--no-error-summary',
        '--no-pretty',
        '--no-color-output',
        '--hide-error-context',
        *names,
    )
    for name, line, message in re.findall(r'^(\S+?):(\d+): error: (.*)$', out, re.MULTILINE):
        yield name, int(line), message


def pyright(folder: Path, options: argparse.Namespace, names: list[str]) -> Iterator[Report]:
    # A relative include: an absolute one checks nothing and exits 0.
    config = {'include': ['.'], 'typeCheckingMode': 'strict', 'pythonVersion': options.python}
    (folder / 'pyrightconfig.json').write_text(json.dumps(config))
    answer = json.loads(
        run(folder, tool(options, 'pyright'), '--outputjson', '--pythonpath', options.site)
    )
    if answer['summary']['filesAnalyzed'] < len(names):
        raise Unusable(f'pyright read {answer["summary"]["filesAnalyzed"]} of {len(names)} files')
    for diagnostic in answer['generalDiagnostics']:
        if diagnostic['severity'] == 'error' and not STYLE_ONLY.search(diagnostic.get('rule', '')):
            yield Path(diagnostic['file']).name, diagnostic['range']['start']['line'] + 1, diagnostic['message']


def pyrefly(folder: Path, options: argparse.Namespace, names: list[str]) -> Iterator[Report]:
    # With file names, pyrefly would use the configuration nearest to each file. It would read an
    # editable seamwise without `returns`, and nearly every file would pass.
    (folder / 'pyrefly.toml').write_text(
        f'preset = "strict"\npython-version = "{options.python}"\npython-interpreter-path = {json.dumps(options.site)}\n',
    )
    out = run(
        folder,
        tool(options, 'pyrefly'),
        'check',
        '--config',
        'pyrefly.toml',
        '--output-format',
        'json',
    )
    for error in json.loads(out)['errors']:
        if error.get('severity', 'error') == 'error':
            yield Path(error['path']).name, error['line'], error['description']


def ty(folder: Path, options: argparse.Namespace, names: list[str]) -> Iterator[Report]:
    out = run(
        folder,
        tool(options, 'ty'),
        'check',
        '--output-format',
        'concise',
        '--python',
        options.site,
        '--python-version',
        options.python,
        *names,
    )
    for name, line, message in re.findall(r'^(\S+?):(\d+):\d+: error(.*)$', out, re.MULTILINE):
        yield Path(name).name, int(line), message


def answers(
    checker: str, folder: Path, options: argparse.Namespace, names: list[str]
) -> Iterator[Report]:
    match checker:
        case 'mypy' | 'mypy+plugin':
            return mypy(folder, options, names, plugin='+' in checker)
        case 'pyright':
            return pyright(folder, options, names)
        case 'pyrefly':
            return pyrefly(folder, options, names)
        case _:
            return ty(folder, options, names)


def marks(text: str, checker: str) -> tuple[set[int], set[int]]:
    """Return the lines that `checker` must report, and those that it may report."""
    must: set[int] = set()
    may: set[int] = set()
    for number, line in enumerate(text.splitlines(), 1):
        match = MARK.search(line)
        if not match:
            if ANY_MARK.search(line):
                raise Unusable(f'cannot read the mark in: {line.strip()}')
            continue
        kind, named = match.group(1), match.group(2)
        checkers = [name.strip() for name in named.split(',')] if named else list(CHECKERS)
        if unknown := set(checkers) - set(CHECKERS):
            raise Unusable(f'no such checker as {", ".join(sorted(unknown))} in: {line.strip()}')
        if kind == 'want' and checker in checkers:
            must.add(number)
        elif kind == 'want' or checker in checkers:
            may.add(number)
    return must, may


def compare(
    checker: str, folder: Path, options: argparse.Namespace, texts: dict[str, str]
) -> tuple[int, list[str]]:
    reported: dict[str, dict[int, str]] = defaultdict(dict)
    for name, line, message in answers(checker, folder, options, [*texts]):
        reported[name].setdefault(line, message.strip().splitlines()[0])
    passed = 0
    problems: list[str] = []
    for name, text in texts.items():
        must, may = marks(text, checker)
        messages = reported.get(name, {})
        missing = [
            f'{name}:{n}: not reported: {text.splitlines()[n - 1].strip()}'
            for n in sorted(must - messages.keys())
        ]
        unexpected = [f'{name}:{n}: {messages[n]}' for n in sorted(messages.keys() - must - may)]
        if name in CANARIES and (missing or unexpected):
            raise Unusable(
                'a planted error was not reported, so this run is invalid: '
                + '; '.join(missing + unexpected)
            )
        passed += name not in CANARIES and not missing and not unexpected
        problems += missing + unexpected
        if options.verbose:
            problems += [
                f'{name}:{n}: (as expected) {messages[n]}' for n in sorted(messages.keys() & (must | may))
            ]
    if not options.only and (foreign := reported.keys() - texts.keys()):
        problems.append(f'reports outside the cases: {", ".join(sorted(foreign))}')
    return passed, problems


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        '--site', required=True, help='interpreter with seamwise and mypy installed'
    )
    parser.add_argument('--cases', required=True, type=Path)
    parser.add_argument('--checkers', default=','.join(CHECKERS))
    parser.add_argument(
        '--tools', help='folder of pyright, pyrefly and ty (default: next to the interpreter)'
    )
    parser.add_argument('--only', help='names of case files without .py, separated by commas')
    parser.add_argument('--python', default='3.11')
    parser.add_argument(
        '-v', '--verbose', action='store_true', help='show expected reports also'
    )
    options = parser.parse_args()
    # Not resolved, because the interpreter of a virtual environment is a symbolic link.
    options.site = os.path.abspath(options.site)
    options.tools = options.tools and os.path.abspath(options.tools)
    checkers = options.checkers.split(',')
    if unknown := set(checkers) - set(CHECKERS):
        parser.error(f'no such checker: {", ".join(sorted(unknown))}')
    files = sorted(options.cases.glob('*.py'))
    sources = [source for source in files if not options.only or source.stem in options.only.split(',')]
    if not sources:
        parser.error(f'no cases in {options.cases}')
    texts = {source.name: source.read_text() for source in sources} | CANARIES
    exit_code = 0
    figures: list[str] = []
    for checker in checkers:
        # Each checker gets a new folder, without the caches and configurations of the others.
        with tempfile.TemporaryDirectory(prefix='cases-') as name:
            folder = Path(name).resolve()
            for source in files:
                shutil.copy(source, folder)
            for canary, text in CANARIES.items():
                (folder / canary).write_text(text)
            try:
                passed, problems = compare(checker, folder, options, texts)
            except (Unusable, json.JSONDecodeError, KeyError, subprocess.TimeoutExpired) as reason:
                print(f'{checker:12} unusable: {reason}')
                figures.append(f'{checker} unusable')
                exit_code = 2
                continue
        failed = passed < len(sources) or any('(as expected)' not in line for line in problems)
        print(f'{checker:12} {"ok" if not failed else "FAILED"} {passed}/{len(sources)}')
        figures.append(f'{checker} {passed}/{len(sources)}')
        for line in problems:
            print(f'    {line}')
        exit_code = max(exit_code, int(failed))
    print(('ok: ' if not exit_code else 'falls short: ') + ', '.join(figures))
    return exit_code


if __name__ == '__main__':
    sys.exit(main())
