"""`seamwise check`: output and exit codes."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from seamwise.check.rules.registry import RULES
from seamwise.program.cli import seamwise

from .helpers import CLEAN, COMMAND
from .test_terminal import ANSI, on_terminal

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

SOURCE = (
    'from seamwise import Failure, Result, Success\n'
    'def save(number: int = 1) -> Result[int, str]: '
    "return Success(number) if number else Failure('none')\n"
)


@pytest.fixture(autouse=True)
def change_to_folder_with_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'clean.py').write_text(SOURCE, encoding='utf-8')
    (tmp_path / 'dirty.py').write_text(f'{SOURCE}def run() -> None:\n\tsave()\n', encoding='utf-8')


def check(*arguments: str) -> Result:
    result = CliRunner().invoke(seamwise, ['check', *arguments], standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def code(result: Result) -> object:
    return result.return_value if result.exit_code == 0 else result.exit_code


def usage_error(*arguments: str) -> str:
    """Return the message of an incorrect use, without the lines of the usage."""
    result = CliRunner().invoke(seamwise, ['check', *arguments])
    assert result.exit_code == 2
    assert result.stderr.startswith('Usage: ')
    return result.stderr.partition('Error: ')[2].strip()


def test_clean_file_exits_with_0_and_prints_no_finding() -> None:
    result = check('clean.py')
    assert result.output.startswith('no findings in 1 file (')
    assert code(result) == 0


def test_finding_is_shown_with_its_line_and_a_caret() -> None:
    result = check('dirty.py')
    lines = result.output.splitlines()
    assert lines[:3] == [
        'dirty.py:4:2: error[SW101] The Result of `save(…)` is discarded; its error is lost (str).',
        '        save()',
        '        ^^^^^^',
    ]
    assert lines[-1].startswith('1 finding in 1 file (')
    assert code(result) == 1


def test_json_contains_every_finding() -> None:
    result = check('dirty.py', 'clean.py', '--json')
    output = json.loads(result.stdout)
    assert output.keys() == {'findings', 'problems', 'files', 'seconds'}
    assert output['files'] == 2
    (finding,) = output['findings']
    assert finding.keys() == {
        *('code', 'path', 'line', 'column', 'message', 'help', 'severity'),
        *('end_line', 'end_column', 'edits', 'explain', 'page'),
    }
    assert [finding[name] for name in ('code', 'path', 'line', 'column', 'severity')] == [
        'SW101',
        'dirty.py',
        4,
        2,
        'error',
    ]
    assert code(result) == 1


def test_every_format_prints_one_document() -> None:
    sarif = check('dirty.py', '--format', 'sarif')
    assert [finding['ruleId'] for finding in json.loads(sarif.stdout)['runs'][0]['results']] == [
        'SW101'
    ]
    github = check('dirty.py', '--format', 'github')
    assert github.stdout.startswith(
        '::error file=dirty.py,line=4,endLine=4,col=2,endColumn=8,title=SW101%3A '
    )
    assert json.loads(check('clean.py', '--format', 'json', '--json').stdout)['findings'] == []
    assert (code(sarif), code(github)) == (1, 1)


@pytest.mark.parametrize('form', ['text', 'json', 'sarif', 'github'])
def test_unreadable_file_is_reported_in_addition_to_the_findings(form: str) -> None:
    Path('broken.py').write_text('def (:', encoding='utf-8')
    result = check('.', '--format', form)
    message = 'seamwise: broken.py:1: it does not parse: invalid syntax.\n'
    assert result.stderr == ('' if form == 'github' else message)
    assert ('broken.py' in result.stdout) == (form != 'text')
    assert 'dirty.py' in result.stdout
    assert code(result) == 2


def test_missing_import_alone_exits_with_0() -> None:
    Path('clean.py').write_text('import nowhere\n', encoding='utf-8')
    result = check('clean.py')
    assert 'clean.py:1: Cannot find implementation' in result.stderr
    assert code(result) == 0


def test_settings_are_read_and_invalid_ones_are_reported() -> None:
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nignore = ["SW101"]\n', encoding='utf-8'
    )
    assert code(check('dirty.py')) == 0
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nignore = ["E501"]\n', encoding='utf-8'
    )
    result = check('dirty.py')
    assert "names 'E501'" in result.stderr
    assert code(result) == 2


def test_hints_alone_exit_with_0() -> None:
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nseverity = {SW101 = "hint"}\n', encoding='utf-8'
    )
    result = check('dirty.py')
    assert 'hint[SW101]' in result.stdout
    assert code(result) == 0
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nseverity = {SW101 = "warning"}\n', encoding='utf-8'
    )
    assert code(check('dirty.py')) == 1


@pytest.mark.parametrize(
    ('options', 'codes'),
    [
        ((), ['SW102']),
        (('--select', 'SW101'), ['SW101']),
        (('--select', ' sw101, SW104'), ['SW101', 'SW104']),
        (('--select', 'SW101,SW104', '--ignore', 'SW104'), ['SW101']),
        (('--ignore', 'SW102'), []),
    ],
)
def test_command_line_overrides_the_configuration(
    options: tuple[str, ...], codes: list[str]
) -> None:
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nselect = ["SW101", "SW102"]\nignore = ["SW101"]\n', encoding='utf-8'
    )
    Path('all.py').write_text(
        f'{SOURCE}def f() -> Result[int, str]:\n'
        '    save().unwrap()\n    save()\n    raise OSError\n',
        encoding='utf-8',
    )
    output = json.loads(check('all.py', '--json', *options).stdout)
    assert sorted(finding['code'] for finding in output['findings']) == codes


def test_whole_program_rule_runs_with_the_option_whole() -> None:
    source = "class Lost(TaggedError, category=Category.NOT_FOUND, message='Lost.'):\n    pass\n"
    Path('unmade.py').write_text(
        f'from seamwise import Category, TaggedError\n{source}', encoding='utf-8'
    )
    assert code(check('unmade.py')) == 0
    assert 'SW111' in check('unmade.py', '--whole').stdout


def test_cache_is_written_unless_no_cache_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / 'cache'
    monkeypatch.setenv('SEAMWISE_CACHE_DIR', str(cache))
    assert code(check('clean.py', '--no-cache')) == 0
    assert not cache.exists()
    assert code(check('clean.py')) == 0
    assert cache.exists()


@pytest.mark.parametrize('code_in_any_case', ['SW101', 'sw101', ' Sw101 '])
def test_explain_prints_the_page_of_a_rule(code_in_any_case: str) -> None:
    result = check('--explain', code_in_any_case)
    assert result.output.startswith('# SW101: discarded Result\n')
    assert code(result) == 0


def test_incorrect_use_exits_with_2_and_a_message() -> None:
    assert usage_error() == 'name a file or a folder, e.g. "seamwise check src".'
    assert usage_error('--explain', 'SW01') == (
        "Invalid value for '--explain': there is no rule 'SW01'. "
        "Did you mean 'SW101', 'SW100' or 'SW102'?"
    )
    assert usage_error('--explain', 'F').startswith(
        "Invalid value for '--explain': there is no rule 'F'. There are 'SW100', "
    )
    assert usage_error('x.py', '--select', 'SW101,SW9').startswith(
        "Invalid value for '--select': there is no rule 'SW9'."
    )
    assert usage_error('x.py', '--ignore', 'SW101,') == (
        "Invalid value for '--ignore': 'SW101,' must be codes separated by commas, "
        'e.g. SW101,SW103.'
    )
    assert (
        usage_error('x.py', '--select', 'SW111')
        == 'SW111 needs all files of the program: add --whole if PATH… are all of them.'
    )
    assert usage_error('x.py', '--format', 'jsn').endswith("Did you mean 'json'?")
    assert usage_error('x.py', '--json', '--format', 'sarif').startswith(
        '--json cannot be combined with --format sarif.'
    )


def test_diff_shows_only_new_findings() -> None:
    git = ['git', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    for arguments in (['init', '--quiet'], ['add', '.'], ['commit', '--quiet', '--message', 'one']):
        subprocess.run([*git, *arguments], check=True)
    result = check('dirty.py', '--diff', 'HEAD')
    assert result.stdout.startswith('no new findings since HEAD in 1 file (')
    assert code(result) == 0
    Path('new.py').write_text('from clean import save\nsave()\n', encoding='utf-8')
    assert check('.', '--diff', 'HEAD', '--format', 'github').stdout.count('::error ') == 1
    assert code(check('.', '--diff', 'HEAD', '--select', 'SW102')) == 0
    result = check('.', '--diff', '--output=x')
    assert result.stderr == "seamwise: --diff: '--output=x' is not the name of a commit.\n"
    assert code(result) == 2


def test_interrupted_comparison_leaves_no_files_behind(tmp_path: Path) -> None:
    git = ['git', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    for arguments in (['init', '--quiet'], ['add', '.'], ['commit', '--quiet', '--message', 'one']):
        subprocess.run([*git, *arguments], check=True)
    temporary = tmp_path / 'temporary'
    temporary.mkdir()
    command = [*COMMAND, 'check', '.', '--diff', 'HEAD']
    with subprocess.Popen(
        command,
        env={**CLEAN, 'TMPDIR': str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        # Once its order is written, the second process is running as well.
        deadline = time.monotonic() + 30
        while not list(temporary.glob('*/request.json')) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, message = process.communicate(timeout=30)
    assert (process.returncode, message.strip()) == (130, b'seamwise: interrupted.')
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_check_without_a_problem(number: signal.Signals) -> None:
    Path('slow.py').write_text(
        'import time\nfrom pathlib import Path\n'
        'from mypy.plugin import Plugin\n'
        'class Slow(Plugin):\n'
        '    def get_function_hook(self, fullname):\n'
        '        Path("started").touch()\n'
        # Python runs its handler of a signal only after a sleep that begins just then.
        '        for _ in range(6000): time.sleep(0.01)\n'
        'def plugin(version): return Slow\n',
        encoding='utf-8',
    )
    Path('mypy.ini').write_text('[mypy]\nplugins = slow.py\n', encoding='utf-8')
    with subprocess.Popen(
        [*COMMAND, 'check', 'clean.py'], env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 30
        while not Path('started').exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        output = process.communicate(timeout=30)
    assert (process.returncode, output) == (128 + number, (b'', b''))


def test_output_on_a_terminal_is_coloured_and_fits_its_width() -> None:
    Path('long.py').write_text(
        f"{SOURCE}def run() -> None:\n\tprint('错误{'ab' * 60}'); save(); {'x = 1; ' * 20}\n",
        encoding='utf-8',
    )
    status, text = on_terminal('check', 'long.py')
    assert status == 1
    assert '\x1b[36m\x1b[1mlong.py:4:' in text
    lines = ANSI.sub('', text).split('\n')
    assert max(map(cell_len, lines)) <= 80
    (marks,) = [line for line in lines if re.fullmatch(r' +\^+', line)]
    source = lines[lines.index(marks) - 1]
    assert cell_len(source[: source.index('save()')]) == marks.index('^')


def test_output_on_a_terminal_without_colour_has_the_same_text() -> None:
    status, text = on_terminal('check', 'dirty.py', env={**CLEAN, 'NO_COLOR': '1'})
    assert status == 1
    assert '\x1b' not in text
    status, text = on_terminal(
        'check', 'dirty.py', env={**CLEAN, 'SEAMWISE_STYLE': 'screen-reader'}
    )
    assert '^' not in text
    assert 'is discarded; its error is lost (str).\n' in text


def test_unusual_file_name_is_shown_on_one_line() -> None:
    Path('a b\n说.py').write_text(f'{SOURCE}save()\n', encoding='utf-8')
    for form, shown_name in {
        'text': r'a b\n说.py:3:1',
        'json': r'a b\n说.py',
        'sarif': 'a%20b%0A%E8%AF%B4.py',
    }.items():
        result = check('.', '--format', form)
        assert shown_name in result.stdout
        assert code(result) == 1


def test_ended_reader_is_not_a_defect() -> None:
    command = [*COMMAND, 'check', 'dirty.py', '--format', 'sarif']
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CLEAN
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b''


def test_full_disk_is_reported() -> None:
    with Path('/dev/full').open('wb') as full:
        done = subprocess.run(
            [*COMMAND, 'check', 'dirty.py'],
            stdout=full,
            stderr=subprocess.PIPE,
            env=CLEAN,
            check=False,
        )
    assert done.returncode == 74
    assert done.stderr.startswith(b'seamwise: cannot write to standard output: ')


PAGES = Path(__file__).parents[2] / 'docs' / 'check'
EXAMPLE = re.compile(
    r'^`seamwise (check orders\.py[^`]*)`:\n\n```\w+\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
SECONDS = re.compile(r'\d+\.\d+(?= s\))|(?<="seconds":)[\d.]+')


def test_documentation_shows_the_real_output() -> None:
    pages = [(PAGES / name).read_text(encoding='utf-8') for name in ('README.md', 'output.md')]
    source = re.search(r'^```python\n(.*?)^```$', pages[0], re.MULTILINE | re.DOTALL)
    assert source is not None
    Path('orders.py').write_text(source[1], encoding='utf-8')
    examples = [example for page in pages for example in EXAMPLE.findall(page)]
    assert len(examples) == 3
    for command, output in examples:
        assert SECONDS.sub('0', check(*command.split()[1:]).stdout) == SECONDS.sub('0', output), (
            command
        )


def test_documentation_lists_every_rule() -> None:
    page = (PAGES / 'rules.md').read_text(encoding='utf-8')
    rows = [
        f'| [{rule.code}]({rule.code}.md) | {rule.title} | {rule.severity} |'
        for rule in RULES.values()
    ]
    assert re.findall(r'^\| \[SW.*$', page, re.MULTILINE) == rows


def test_adoption_reports_the_progress_and_exits_with_0() -> None:
    result = check('dirty.py', '--adoption')
    assert result.output.startswith(
        '0 % of the fallible functions declare tagged errors (0 of 1).\n'
    )
    assert code(result) == 0
    report = json.loads(check('dirty.py', '--adoption', '--json').stdout)
    assert (report['percent'], [step['name'] for step in report['steps']]) == (0, ['save'])


def test_adoption_reports_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / 'broken.py').write_text('def (', encoding='utf-8')
    result = check('.', '--adoption')
    assert 'seamwise: broken.py:1: ' in result.stderr
    assert ' 3  functions\n' in result.stdout
    assert code(result) == 2


@pytest.mark.parametrize(
    'option',
    ['--fix', '--whole', '--diff=HEAD', '--select=SW101', '--ignore=SW101', '--format=sarif'],
)
def test_adoption_can_be_combined_with_json_only(option: str) -> None:
    assert (
        usage_error('dirty.py', '--adoption', option)
        == '--adoption can be combined with --json, --no-cache and --python-executable only.'
    )
