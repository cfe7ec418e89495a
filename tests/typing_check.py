"""Run type checkers over case files and compare what they report with what the files want.

    python typing_check.py --site PYTHON --cases DIR
        [--checkers mypy,mypy+plugin,pyright,pyrefly,ty] [--tools BIN] [--only catch,bind] [-v]

PYTHON is an interpreter in whose environment seamwise is installed. mypy runs as
`PYTHON -m mypy`; pyright, pyrefly and ty come from the same bin folder, or from --tools.

A case marks its lines by comments:

    # want: error, why           every checker must report this line
    # want[ty,pyright]: error    these must report it, the others may
    # may[mypy]: error, why      these may report it, no checker must

Every other line must stay silent. A mark names a checker by the exact name, so that
`may[mypy]` does not excuse `mypy+plugin`.

Three planted errors in files of their own prove each run: a plain one, one that only shows
when seamwise is found and typed, and one that only shows when seamwise itself finds `returns`.
The last line sums up. Exit 0: every checker holds every file. 1: something differs. 2: a run
that proves nothing.
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
    'canary_plain.py': 'from typing_extensions import assert_type\nx: int = "a"  # want: error\nassert_type(len(""), str)  # want: error\n',
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

Found = tuple[str, int, str]


class Unusable(Exception):
    """The checker did not run, or its answer proves nothing."""


def run(folder: Path, *command: str) -> str:
    # No setting from outside may change what a checker sees.
    clean = {
        k: v
        for k, v in os.environ.items()
        if not re.match('MYPY|PYRIGHT_PYTHON_PYLANCE|PYREFLY|TY_|PYTHONPATH|VIRTUAL_ENV|CONDA', k)
    }
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=clean, timeout=900
    )
    if done.returncode not in {0, 1} or (done.returncode and not done.stdout.strip()):
        said = ' '.join((done.stderr or done.stdout).split())
        raise Unusable(f'{Path(command[0]).name} ended with {done.returncode}: {said[-400:]}')
    return done.stdout


def tool(options: argparse.Namespace, name: str) -> str:
    found = Path(options.tools or Path(options.site).parent) / name
    if not found.exists():
        raise Unusable(f'{found} is missing')
    return str(found)


def mypy(
    folder: Path, options: argparse.Namespace, names: list[str], plugin: bool
) -> Iterator[Found]:
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


def pyright(folder: Path, options: argparse.Namespace, names: list[str]) -> Iterator[Found]:
    # A relative include: an absolute one checks nothing and exits 0.
    config = {'include': ['.'], 'typeCheckingMode': 'strict', 'pythonVersion': options.python}
    (folder / 'pyrightconfig.json').write_text(json.dumps(config))
    answer = json.loads(
        run(folder, tool(options, 'pyright'), '--outputjson', '--pythonpath', options.site)
    )
    if answer['summary']['filesAnalyzed'] < len(names):
        raise Unusable(f'pyright read {answer["summary"]["filesAnalyzed"]} of {len(names)} files')
    for one in answer['generalDiagnostics']:
        if one['severity'] == 'error' and not STYLE_ONLY.search(one.get('rule', '')):
            yield Path(one['file']).name, one['range']['start']['line'] + 1, one['message']


def pyrefly(folder: Path, options: argparse.Namespace, names: list[str]) -> Iterator[Found]:
    # --config, and no file names: named files get the configuration nearest to each file, so
    # an editable seamwise would be read without its `returns`, and nearly everything would pass.
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
    for one in json.loads(out)['errors']:
        if one.get('severity', 'error') == 'error':
            yield Path(one['path']).name, one['line'], one['description']


def ty(folder: Path, options: argparse.Namespace, names: list[str]) -> Iterator[Found]:
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
) -> Iterator[Found]:
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
    """The lines that `checker` must report, and those that it may."""
    must: set[int] = set()
    may: set[int] = set()
    for number, line in enumerate(text.splitlines(), 1):
        found = MARK.search(line)
        if not found:
            if ANY_MARK.search(line):
                raise Unusable(f'cannot read the mark in: {line.strip()}')
            continue
        kind, named = found.group(1), found.group(2)
        who = [one.strip() for one in named.split(',')] if named else list(CHECKERS)
        if unknown := set(who) - set(CHECKERS):
            raise Unusable(f'no such checker as {", ".join(sorted(unknown))} in: {line.strip()}')
        if kind == 'want' and checker in who:
            must.add(number)
        elif kind == 'want' or checker in who:
            may.add(number)
    return must, may


def compare(
    checker: str, folder: Path, options: argparse.Namespace, texts: dict[str, str]
) -> tuple[int, list[str]]:
    reported: dict[str, dict[int, str]] = defaultdict(dict)
    for name, line, message in answers(checker, folder, options, [*texts]):
        reported[name].setdefault(line, message.strip().splitlines()[0])
    good = 0
    wrong: list[str] = []
    for name, text in texts.items():
        must, may = marks(text, checker)
        got = reported.get(name, {})
        silent = [
            f'{name}:{n}: not reported: {text.splitlines()[n - 1].strip()}'
            for n in sorted(must - got.keys())
        ]
        noisy = [f'{name}:{n}: {got[n]}' for n in sorted(got.keys() - must - may)]
        if name in CANARIES and (silent or noisy):
            raise Unusable(
                'the planted errors are not all seen, so this run proves nothing: '
                + '; '.join(silent + noisy)
            )
        good += name not in CANARIES and not silent and not noisy
        wrong += silent + noisy
        if options.verbose:
            wrong += [
                f'{name}:{n}: (as wanted) {got[n]}' for n in sorted(got.keys() & (must | may))
            ]
    if not options.only and (foreign := reported.keys() - texts.keys()):
        wrong.append(f'reports outside the cases: {", ".join(sorted(foreign))}')
    return good, wrong


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
        '--tools', help='folder of pyright, pyrefly and ty (default: beside the interpreter)'
    )
    parser.add_argument('--only', help='names of case files without .py, separated by commas')
    parser.add_argument('--python', default='3.11')
    parser.add_argument(
        '-v', '--verbose', action='store_true', help='show also the reports that are wanted'
    )
    options = parser.parse_args()
    # absolute, but not resolved: a virtual environment's interpreter is a link.
    options.site = os.path.abspath(options.site)
    options.tools = options.tools and os.path.abspath(options.tools)
    checkers = options.checkers.split(',')
    if unknown := set(checkers) - set(CHECKERS):
        parser.error(f'no such checker: {", ".join(sorted(unknown))}')
    everything = sorted(options.cases.glob('*.py'))
    sources = [one for one in everything if not options.only or one.stem in options.only.split(',')]
    if not sources:
        parser.error(f'no cases in {options.cases}')
    texts = {one.name: one.read_text() for one in sources} | CANARIES
    worst = 0
    figures: list[str] = []
    for checker in checkers:
        # Each checker in its own fresh folder: no cache or configuration of another is seen.
        with tempfile.TemporaryDirectory(prefix='cases-') as name:
            folder = Path(name).resolve()
            for one in everything:
                shutil.copy(one, folder)
            for canary, text in CANARIES.items():
                (folder / canary).write_text(text)
            try:
                good, wrong = compare(checker, folder, options, texts)
            except (Unusable, json.JSONDecodeError, KeyError, subprocess.TimeoutExpired) as reason:
                print(f'{checker:12} unusable: {reason}')
                figures.append(f'{checker} unusable')
                worst = 2
                continue
        failed = good < len(sources) or any('(as wanted)' not in line for line in wrong)
        print(f'{checker:12} {"ok" if not failed else "FAILED"} {good}/{len(sources)}')
        figures.append(f'{checker} {good}/{len(sources)}')
        for line in wrong:
            print(f'    {line}')
        worst = max(worst, int(failed))
    print(('ok: ' if not worst else 'falls short: ') + ', '.join(figures))
    return worst


if __name__ == '__main__':
    sys.exit(main())
