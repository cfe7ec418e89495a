"""`seamwise map`: output and exit codes."""

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from typing_extensions import override

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.collection.code_base import CodeBase
from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import Graph
from seamwise.check.map.page import render_map_page
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


def run_map(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['map', *arguments])


@pytest.fixture(autouse=True)
def change_to_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def replace_sources(
    monkeypatch: pytest.MonkeyPatch,
    files: Sequence[FileFacts],
    problems: list[SourceProblem] | None = None,
) -> None:
    """Replace the reader of the sources by one that returns these files."""

    def read(paths: Sequence[str], *, cache: Path | None) -> CodeBase:
        return CodeBase(tuple(files), tuple(problems or ()))

    monkeypatch.setattr('seamwise.check.collection.code_base.read_code_base', read)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> list[SourceProblem]:
    """Replace the sources by the shop; return its list of source problems."""
    problems: list[SourceProblem] = []
    replace_sources(monkeypatch, SHOP, problems)
    return problems


def code(*arguments: str) -> object:
    result = CliRunner().invoke(seamwise, ['map', *arguments], standalone_mode=False)
    return result.return_value if result.exit_code == 0 else result.exit_code


@pytest.mark.slow
def test_path_of_an_error_is_shown() -> None:
    Path('disk.py').write_text(SOURCE, encoding='utf-8')
    result = run_map('disk.py', '--of', 'DiskFull')
    assert result.stderr == ''
    assert result.stdout == (
        'DiskFull, RESOURCE\n'
        'disk.DiskFull, disk.py:5\n'
        'created in 1 function; shown by cli; never handled\n'
        '\n'
        'created in disk.save, disk.py:13\n'
        '-> disk.run, disk.py:17\n'
        '=> shown by cli, disk.py:21\n'
    )


@pytest.mark.slow
def test_unreadable_file_is_reported_and_the_rest_is_drawn() -> None:
    Path('disk.py').write_text(SOURCE, encoding='utf-8')
    Path('broken.py').write_text('def (:', encoding='utf-8')
    result = run_map('.', '--to', 'cli')
    assert result.stderr == 'seamwise: broken.py:1: it does not parse: invalid syntax.\n'
    assert result.stdout.startswith('cli: 1 error arrives.\n')
    assert code('.') == 2


@pytest.mark.usefixtures('shop')
def test_summary_is_shown_without_options() -> None:
    assert run_map('shop').stdout == (
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
    result = run_map('shop')
    assert result.stderr == 'seamwise: shop/web.py: an import is missing.\n'
    assert code('shop') == 0


@pytest.mark.usefixtures('shop')
def test_every_format_is_written_to_standard_output_or_a_file() -> None:
    for form, prefix in {
        'dot': 'digraph ',
        'mermaid': 'flowchart ',
        'json': '{"errors":',
        'html': '<!doctype html>',
    }.items():
        output = run_map('shop', '--format', form).stdout
        assert output.startswith(prefix)
        assert run_map('shop', '--format', form, '-o', 'file').stdout == ''
        assert Path('file').read_text(encoding='utf-8') == output
    assert json.loads(run_map('shop', '--json').stdout) == json.loads(
        run_map('shop', '--format', 'json').stdout
    )
    run_map('shop', '--output', 'text.txt')
    assert Path('text.txt').read_text(encoding='utf-8') == run_map('shop').stdout


@pytest.mark.usefixtures('shop')
def test_part_of_the_map_can_be_drawn() -> None:
    output = json.loads(run_map('shop', '--of', 'Busy', '--json').stdout)
    assert [error['tag'] for error in output['errors']] == ['Busy']
    assert 'Memory.find' not in run_map('shop', '--to', 'http', '--format', 'dot').stdout


def test_name_of_several_errors_shows_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    more = FileFacts(
        'old',
        'old.py',
        classes=(error_class('old.NoSuchOrder', 1),),
        functions=(function('old.f', 2, created(3, 'old.NoSuchOrder')),),
    )
    replace_sources(monkeypatch, [*SHOP, more])
    output = run_map('shop', '--of', 'NoSuchOrder').stdout
    assert [output.count(f'\n{item}, ') for item in ('old.NoSuchOrder', NO_ORDER)] == [1, 1]


@pytest.mark.usefixtures('shop')
@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((), 'name a file or a folder'),
        (
            ('shop', '--of', 'NoSuchOder'),
            "there is no error 'NoSuchOder'. Did you mean 'NoSuchOrder'",
        ),
        (('shop', '--of', 'zzz'), "there is no error 'zzz'.\n"),
        (('shop', '--to', 'cli'), "there is no seam 'cli'; there are 'http'."),
        (('shop', '--of', 'Busy', '--to', 'http'), '--of and --to cannot be combined.'),
        (('shop', '--json', '--format', 'dot'), '--json cannot be combined with --format dot.'),
        (('shop', '--format', 'dott'), "Did you mean 'dot'"),
    ],
)
def test_incorrect_use_exits_with_2_and_a_message(arguments: tuple[str, ...], message: str) -> None:
    result = run_map(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ''


def test_seam_is_not_found_in_a_program_without_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sources(monkeypatch, [])
    assert "there is no seam 'cli'; there are no seams." in run_map('shop', '--to', 'cli').stderr


@pytest.mark.usefixtures('shop')
def test_page_is_not_printed_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('seamwise.program.map.std_stream', Terminal)
    result = run_map('shop', '--format', 'html')
    assert result.exit_code == 2
    assert 'a page cannot be shown on a terminal: add -o FILE' in result.stderr
    assert run_map('shop', '--format', 'html', '-o', 'map.html').exit_code == 0
    assert Path('map.html').read_text(encoding='utf-8') == render_map_page(build_graph(SHOP))


@pytest.mark.usefixtures('shop')
def test_unwritable_file_is_reported() -> None:
    result = CliRunner().invoke(
        seamwise, ['map', 'shop', '-o', 'nowhere/map.txt'], standalone_mode=False
    )
    assert (
        result.stderr == "seamwise: cannot write to 'nowhere/map.txt': No such file or directory\n"
    )
    assert code('shop', '-o', 'nowhere/map.txt') == 74


def test_drawing_too_large_for_mermaid_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sources(monkeypatch, [])

    def graph(files: Sequence[FileFacts]) -> Graph:
        return large(600)

    monkeypatch.setattr('seamwise.check.map.build.build_graph', graph)
    result = run_map('shop', '--format', 'mermaid')
    assert result.stderr.startswith('seamwise: Mermaid rejects a drawing of this size')
    assert result.stdout.startswith('flowchart LR\n')


def test_invalid_settings_are_reported() -> None:
    Path('pyproject.toml').write_text(
        '[tool.seamwise.check]\nignore = ["E501"]\n', encoding='utf-8'
    )
    assert "names 'E501'" in run_map('.').stderr
    assert code('.') == 2


@pytest.mark.slow
def test_cache_is_written_where_the_settings_say_unless_disabled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path('disk.py').write_text(SOURCE, encoding='utf-8')
    monkeypatch.setenv('SEAMWISE_CACHE_DIR', 'kept')
    output = run_map('disk.py', '--no-cache', '--json').stdout
    assert '"disk.DiskFull"' in output
    assert not Path('kept').exists()
    assert [run_map('disk.py', '--json').stdout for _ in range(2)] == [output, output]
    assert Path('kept').is_dir()


def test_help_shows_examples_and_exit_codes() -> None:
    text = run_map('--help').stdout
    assert 'seamwise map src --format html -o map.html' in text
    assert 'Exit codes:' in text
