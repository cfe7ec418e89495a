"""`seamwise map`: output and exit codes."""

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from typing_extensions import override

from seamwise.check.code_base import CodeBase
from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import Graph
from seamwise.check.map.page import render_map_page
from seamwise.check.mypy_sources import SourceProblem
from seamwise.program.cli import seamwise
from tests.check.map.files import NO_ORDER, SHOP, created, error_class, function
from tests.check.map.test_formats import large

SOURCE = """\
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.cli import on


class DiskFull(TaggedError, category=Category.RESOURCE, message='No room for {name}.'):
    name: str


TABLE = on(DiskFull).exits(1)


def save(name: str) -> Result[None, DiskFull]:
    return Failure(DiskFull(name)) if name == 'big' else Success(None)


def run(name: str) -> str:
    match save(name):
        case Success():
            return 'saved'
        case Failure(error):
            return TABLE(error).text
"""


class Terminal(StringIO):
    @override
    def isatty(self) -> bool:
        return True


def drawn(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['map', *arguments])


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read_as(
    monkeypatch: pytest.MonkeyPatch,
    files: Sequence[FileFacts],
    problems: list[SourceProblem] | None = None,
) -> None:
    """Let these files be what is read."""

    def read(paths: Sequence[str], *, cache: Path | None) -> CodeBase:
        return CodeBase(tuple(files), tuple(problems or ()))

    monkeypatch.setattr('seamwise.check.code_base.read_code_base', read)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> list[SourceProblem]:
    """Let the shop be what is read, and give the list of what could not be."""
    problems: list[SourceProblem] = []
    read_as(monkeypatch, SHOP, problems)
    return problems


def code(*arguments: str) -> object:
    ended = CliRunner().invoke(seamwise, ['map', *arguments], standalone_mode=False)
    return ended.return_value if ended.exit_code == 0 else ended.exit_code


def test_path_of_an_error_is_shown() -> None:
    Path('disk.py').write_text(SOURCE, encoding='utf-8')
    ended = drawn('disk.py', '--of', 'DiskFull')
    assert ended.stderr == ''
    assert ended.stdout == (
        'DiskFull, RESOURCE\n'
        'disk.DiskFull, disk.py:5\n'
        'created in 1 function; shown by cli; never handled\n'
        '\n'
        'created in disk.save, disk.py:13\n'
        '-> disk.run, disk.py:17\n'
        '=> shown by cli, disk.py:21\n'
    )


def test_unreadable_file_is_reported_and_the_rest_is_drawn() -> None:
    Path('disk.py').write_text(SOURCE, encoding='utf-8')
    Path('broken.py').write_text('def (:', encoding='utf-8')
    ended = drawn('.', '--to', 'cli')
    assert ended.stderr == 'seamwise: broken.py:1: it does not parse: invalid syntax.\n'
    assert ended.stdout.startswith('cli: 1 error arrives.\n')
    assert code('.') == 2


@pytest.mark.usefixtures('shop')
def test_summary_is_shown_without_options() -> None:
    assert drawn('shop').stdout == (
        '3 errors, 7 functions, 1 seam, 1 external function\n'
        'http: 2 errors arrive.\n'
        'Neither shown nor handled: CardDeclined.\n'
        '\n'
        'More:\n'
        '  seamwise map shop --of ERROR\n'
        '  seamwise map shop --to SEAM\n'
        '  seamwise map shop --format html -o map.html\n'
    )
    assert code('shop') == 0


def test_partly_analysed_code_exits_with_0(shop: list[SourceProblem]) -> None:
    shop.append(SourceProblem('shop/web.py', 'an import is missing.', is_unread=False))
    ended = drawn('shop')
    assert ended.stderr == 'seamwise: shop/web.py: an import is missing.\n'
    assert code('shop') == 0


@pytest.mark.usefixtures('shop')
def test_every_format_is_written_to_standard_output_or_a_file() -> None:
    for form, begin in {
        'dot': 'digraph ',
        'mermaid': 'flowchart ',
        'json': '{"errors":',
        'html': '<!doctype html>',
    }.items():
        output = drawn('shop', '--format', form).stdout
        assert output.startswith(begin)
        assert drawn('shop', '--format', form, '-o', 'file').stdout == ''
        assert Path('file').read_text(encoding='utf-8') == output
    assert json.loads(drawn('shop', '--json').stdout) == json.loads(
        drawn('shop', '--format', 'json').stdout
    )
    drawn('shop', '--output', 'text.txt')
    assert Path('text.txt').read_text(encoding='utf-8') == drawn('shop').stdout


@pytest.mark.usefixtures('shop')
def test_part_of_the_map_can_be_drawn() -> None:
    output = json.loads(drawn('shop', '--of', 'Busy', '--json').stdout)
    assert [error['tag'] for error in output['errors']] == ['Busy']
    assert 'Memory.find' not in drawn('shop', '--to', 'http', '--format', 'dot').stdout


def test_name_of_several_errors_shows_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    more = FileFacts(
        'old',
        'old.py',
        classes=(error_class('old.NoSuchOrder', 1),),
        functions=(function('old.f', 2, created(3, 'old.NoSuchOrder')),),
    )
    read_as(monkeypatch, [*SHOP, more])
    output = drawn('shop', '--of', 'NoSuchOrder').stdout
    assert [output.count(f'\n{item}, ') for item in ('old.NoSuchOrder', NO_ORDER)] == [1, 1]


@pytest.mark.usefixtures('shop')
@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ((), 'name a file or a folder'),
        (
            ('shop', '--of', 'NoSuchOder'),
            "there is no error 'NoSuchOder'. Did you mean 'NoSuchOrder'",
        ),
        (('shop', '--of', 'zzz'), "there is no error 'zzz'.\n"),
        (('shop', '--to', 'cli'), "there is no seam 'cli'; there are 'http'."),
        (('shop', '--of', 'Busy', '--to', 'http'), '--of and --to cannot be combined'),
        (('shop', '--json', '--format', 'dot'), '--json cannot be combined with --format dot'),
        (('shop', '--format', 'dott'), "Did you mean 'dot'"),
    ],
)
def test_a_wrong_use_is_told(arguments: tuple[str, ...], said: str) -> None:
    ended = drawn(*arguments)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert ended.stdout == ''


def test_map_without_seams_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, [])
    assert "there is no seam 'cli'; there are no seams." in drawn('shop', '--to', 'cli').stderr


@pytest.mark.usefixtures('shop')
def test_page_is_not_printed_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('seamwise.program.map.std_stream', Terminal)
    ended = drawn('shop', '--format', 'html')
    assert ended.exit_code == 2
    assert 'add -o FILE' in ended.stderr
    assert drawn('shop', '--format', 'html', '-o', 'map.html').exit_code == 0
    assert Path('map.html').read_text(encoding='utf-8') == render_map_page(build_graph(SHOP))


@pytest.mark.usefixtures('shop')
def test_unwritable_file_is_reported() -> None:
    ended = CliRunner().invoke(
        seamwise, ['map', 'shop', '-o', 'nowhere/map.txt'], standalone_mode=False
    )
    assert (
        ended.stderr == "seamwise: cannot write to 'nowhere/map.txt': No such file or directory\n"
    )
    assert code('shop', '-o', 'nowhere/map.txt') == 74


def test_drawing_too_large_for_mermaid_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, [])

    def graph(files: Sequence[FileFacts]) -> Graph:
        return large(600)

    monkeypatch.setattr('seamwise.check.map.build.build_graph', graph)
    ended = drawn('shop', '--format', 'mermaid')
    assert ended.stderr.startswith('seamwise: Mermaid rejects a drawing of this size')
    assert ended.stdout.startswith('flowchart LR\n')


def test_invalid_settings_are_reported() -> None:
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nignore = ["E501"]\n', encoding='utf-8'
    )
    assert "names 'E501'" in drawn('.').stderr
    assert code('.') == 2


def test_cache_is_written_where_the_settings_say_unless_disabled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path('disk.py').write_text(SOURCE, encoding='utf-8')
    monkeypatch.setenv('SEAMWISE_CACHE_DIR', 'kept')
    anew = drawn('disk.py', '--no-cache', '--json').stdout
    assert '"disk.DiskFull"' in anew
    assert not Path('kept').exists()
    assert [drawn('disk.py', '--json').stdout for _ in range(2)] == [anew, anew]
    assert Path('kept').is_dir()


def test_help_shows_examples_and_exit_codes() -> None:
    text = drawn('--help').stdout
    assert 'seamwise map src --format html -o map.html' in text
    assert 'Exit codes:' in text
