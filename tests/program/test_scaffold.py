"""`seamwise scaffold error`: the source passes formatters and type checkers, and imports."""

import ast
import os
import re
import stat
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from seamwise._errors.categories import Category
from seamwise.documents.library import library_catalog
from seamwise.documents.scaffold.defaults import ANSWERS, guess_category
from seamwise.documents.scaffold.source import SEAM_NAMES
from seamwise.program.cli import seamwise
from seamwise.seams.planner import ErrorCode
from seamwise.seams.session.codes import check_code

ATTRIBUTES = {'cli': 'code', 'http': 'status', 'session': 'event', 'model': 'type'}
BIN = Path(sys.executable).parent


def scaffold(*arguments: str | Path) -> Result:
    return CliRunner().invoke(seamwise, ['scaffold', 'error', *map(str, arguments)])


def run_tool(*command: str | Path) -> None:
    result = subprocess.run([*map(str, command)], capture_output=True, check=False, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def assert_formatted(*files: Path) -> None:
    run_tool(BIN / 'ruff', 'format', '--check', '--isolated', '--no-cache', *files)


def assert_imports(file: Path) -> None:
    subprocess.run([sys.executable, '-W', 'error', file.name], cwd=file.parent, check=True)


FIELDS = (
    'uid:int',
    'name:str',
    'note: str | None',
    'token:Secret[str]',
    'host:Internal[str]',
    'at:datetime',
    'price:Decimal',
    'key:UUID|None',
    "reason: Literal['empty', \"it's\", 3]",
    'tags:tuple[str, ...]',
    'pair:tuple[int,str]',
    'cause:Cause | None',
    'retry_after:float|None',
)


def with_fields(*fields: str) -> list[str]:
    return [part for field in fields for part in ('--field', field)]


@pytest.mark.nightly
def test_the_source_passes_mypy_and_is_formatted_and_imports(tmp_path: Path) -> None:
    variants = {
        'plain': ['OrderNotFound'],
        'fields': ['OrderNotFound', *with_fields(*FIELDS)],
        'http': ['PrinterJammed', '--seam', 'http'],
        'cancelled': ['DownloadCancelled'],
        'quotes': [
            'CartEmpty',
            '--message',
            'The "cart" of {name} isn\'t full.\n',
            '--field',
            'name:str',
        ],
        'double': ['CartEmpty', '--message', 'The "cart" is \\ empty.'],
        'chinese': ['订单不存在', '--field', '编号:int'],
        'longer': ['InsufficientWarehouseCapacity'],
        'longest': ['WarehouseOfTheSupplierDoesNotHaveEnoughCapacityNow'],
        **{category.value: ['PrinterJammed', '--category', category] for category in Category},
    }
    for name, arguments in variants.items():
        result = scaffold(*arguments)
        assert result.exit_code == 0, result.stderr
        file = tmp_path / f'made_{name}.py'
        file.write_text(result.stdout, encoding='utf-8')
        assert_imports(file)
    files = sorted(tmp_path.glob('*.py'))
    assert_formatted(*files)
    rules = ('--select', 'E,F,I,UP', '--ignore', 'E501', '--target-version', 'py311')
    run_tool(BIN / 'ruff', 'check', '--isolated', '--no-cache', *rules, *files)
    options = ('--strict', '--cache-dir', os.devnull, '--config-file', os.devnull)
    run_tool(sys.executable, '-m', 'mypy', *options, *files)


def test_the_source_has_the_class_and_an_arm_at_each_seam() -> None:
    source = scaffold('OrderNotFound', '--field', 'uid:int').stdout
    assert (
        '    category=Category.NOT_FOUND,\n    message="Order not found (uid {uid}).",\n' in source
    )
    assert (
        'ORDER_NOT_FOUND_HTTP = http.on(OrderNotFound).responds(404, "ORDER_NOT_FOUND")\n' in source
    )
    tables = [node.targets[0] for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    assert [ast.unparse(table) for table in tables] == [
        f'ORDER_NOT_FOUND_{seam.upper()}' for seam in SEAM_NAMES
    ]


def test_options_choose_the_category_the_message_and_the_seams() -> None:
    source = scaffold(
        'OrderNotFound', '--category', 'conflict', '--message', 'No {uid}.', '--field', 'uid:int',
        '--seam', 'cli', '--seam', 'http',
    ).stdout  # fmt: skip
    assert 'from seamwise.seams import cli, http\n' in source
    assert 'category=Category.CONFLICT' in source
    assert 'message="No {uid}."' in source
    assert '.responds(409, ' in source
    assert 'session' not in source


def test_a_message_prints_no_secret_and_no_optional_field() -> None:
    source = scaffold(
        'LoginFailed', *with_fields('user:str', 'token:Secret[str]', 'n:int|None')
    ).stdout
    assert 'message="Login failed (user {user!r})."' in source


@pytest.mark.parametrize(
    ('name', 'category'),
    [
        ('OrderNotFound', Category.NOT_FOUND),
        ('UnknownTool', Category.NOT_FOUND),
        ('EmailTaken', Category.CONFLICT),
        ('InvalidAddress', Category.VALIDATION),
        ('AccessDenied', Category.PERMISSION),
        ('QueryTimedOut', Category.TIMEOUT),
        ('TooManyLogins', Category.RATE_LIMIT),
        ('QueueFull', Category.CAPACITY),
        ('BankUnavailable', Category.UNAVAILABLE),
        ('HostUnreachable', Category.CONNECTION),
        ('UploadCancelled', Category.CANCELLED),
        ('PrinterJammed', Category.EXECUTION),
    ],
)
def test_the_name_suggests_the_category(name: str, category: Category) -> None:
    assert guess_category(name) is category


def test_the_default_answers_are_those_of_the_library() -> None:
    library = library_catalog()
    assert set(ANSWERS) == set(Category)
    for category, answers in ANSWERS.items():
        ErrorCode(answers.planner_code)
        declared: defaultdict[str, set[object]] = defaultdict(set)
        for kind in library.kinds:
            if kind.__traits__.category is category:
                for arm in library.arms_of(kind):
                    name = ATTRIBUTES.get(arm.seam, '')
                    declared[arm.seam].add(getattr(arm.declared, name, None))
        assert answers.status in declared['http']
        assert answers.exit_code in declared['cli']
        assert answers.event in declared['session']
        assert answers.model_type in declared['model']


def test_session_codes_have_the_required_form() -> None:
    for name in ('OrderNotFound', 'HTTPFailed', '订单不存在', 'X2Lost'):
        source = scaffold(name, '--seam', 'session').stdout
        [code] = re.findall(r'"(ERR_\w+)"', source)
        assert check_code(code) == code


# Refusals


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['order-not-found'], 'cannot be the name of a class. Did you mean OrderNotFound?'),
        (['order_not_found'], 'is not the name of a class. Did you mean OrderNotFound?'),
        (['class'], "'class' cannot be the name of a class."),
        (['1Order'], "'1Order' cannot be the name of a class. Did you mean Order?"),
        (['x; import os'], 'cannot be the name of a class.'),
        (['OrderError'], "'OrderError' does not say what happened. Name the event, for example"),
        (['Error'], "'Error' does not say what happened."),
        (['Category'], "'Category' is a name that the module imports"),
        (['A' * 51], 'is longer than 50 characters.'),
        (['A', '--field', 'uid'], "'uid' is no field. Write a name and a type, such as uid:int."),
        (['A', '--field', '1:int'], "'1' cannot be the name of a field."),
        (['A', '--field', 'class:int'], "'class' cannot be the name of a field."),
        (['A', '--field', 'tag:int'], "'tag' is an attribute of every error"),
        (['A', '--field', 'x:list[int]'], 'cannot be a list: an error is immutable and hashable.'),
        (['A', '--field', 'x:Order'], "the type 'Order' of 'x' is unknown. Use Cause, Decimal"),
        (['A', '--field', 'x:__import__("os")'], "of 'x' is unknown."),
        (['A', '--field', 'x:int)'], "'int)' is no type."),
        (['A', '--field', 'x:Literal[1.5]'], "the Literal of 'x' must list texts or whole numbers"),
        (['A', '--field', f'x:Literal["{"a" * 60}"]'], "the type of 'x' is longer than 60"),
        (['A', '--field', 'x:int', '--field', 'x:str'], "the field 'x' is given twice."),
        (['A', '--message', '{y}'], "the message '{y}' does not work: there is no field 'y'"),
        (['A', '--category', 'notfound'], "Did you mean 'not_found'?"),
        (['A', '--seam', 'htpp'], "Did you mean 'http'?"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_a_usage_error(arguments: list[str], message: str) -> None:
    result = scaffold(*arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert message in ' '.join(result.stderr.split())


# Files


def test_a_new_file_is_created(tmp_path: Path) -> None:
    file = tmp_path / 'errors.py'
    result = scaffold('OrderNotFound', '--write', file)
    assert result.exit_code == 0
    assert result.stdout == f'Added OrderNotFound to {file}.\n'
    assert file.read_text(encoding='utf-8') == scaffold('OrderNotFound').stdout


EXISTING = {
    'empty': '',
    'docstring': '"""Errors of the shop."""\n',
    'comment': '#!/usr/bin/env python\n# Licence: MIT\n',
    'future': '"""Errors."""\n\nfrom __future__ import annotations\n\nimport os\n\nprint(os)\n',
    'class': 'class Order:\n    pass\n',
    'constant': '"""Errors."""\n\nX = 1\n',
    'conflict': (
        'import http\n\nfrom logging import Logger as Category\n\nprint(http, Category)\n'
    ),
    'alias': 'import os\n\nfrom seamwise import TaggedError as Base\n\nprint(os, Base)\n',
    'parentheses': 'from seamwise import (\n    Category,\n    TaggedError,\n)\n\nX = Category\n',
    'late import': 'import os\n\nX = os.name\n\nimport sys  # noqa: E402\n\nprint(sys)\n',
    'no newline': 'X = 1',
}  # fmt: skip


@pytest.mark.parametrize('source', EXISTING.values(), ids=EXISTING)
def test_a_class_is_added_to_a_file_with_its_imports(tmp_path: Path, source: str) -> None:
    file = tmp_path / 'errors_of_shop.py'
    file.write_text(source, encoding='utf-8')
    for name in ('OrderNotFound', 'OrderClosed'):
        assert scaffold(name, '--write', file, '--field', 'at:datetime').exit_code == 0
    text = file.read_text(encoding='utf-8')
    assert source.rstrip() in text or all(line in text for line in source.splitlines())
    assert_formatted(file)
    assert_imports(file)


def test_existing_imports_are_used_under_their_names(tmp_path: Path) -> None:
    file = tmp_path / 'errors.py'
    file.write_text(EXISTING['alias'])
    scaffold('OrderNotFound', '--write', file)
    assert '    Base,\n    category=Category.NOT_FOUND,\n' in file.read_text()
    assert file.read_text().count('TaggedError') == 1


def test_a_name_with_another_meaning_is_imported_under_a_free_name(tmp_path: Path) -> None:
    file = tmp_path / 'errors.py'
    file.write_text(EXISTING['conflict'])
    scaffold('OrderNotFound', '--write', file, '--seam', 'http')
    text = file.read_text()
    assert 'from seamwise.seams import http as seamwise_http\n' in text
    assert 'ORDER_NOT_FOUND_HTTP = seamwise_http.on(OrderNotFound)' in text


@pytest.mark.parametrize(
    'source', ['class OrderNotFound: ...\n', 'if True:\n    ORDER_NOT_FOUND_CLI = 1\n']
)
def test_a_name_that_exists_is_not_overwritten(tmp_path: Path, source: str) -> None:
    file = tmp_path / 'errors.py'
    file.write_text(source)
    result = scaffold('OrderNotFound', '--write', file)
    assert (result.exit_code, file.read_text()) == (73, source)
    assert 'the file already has' in result.stderr


@pytest.mark.parametrize('source', [b'def (:\n', b'\xff\xfe', b'# coding: no-such\n', b'\0'])
def test_a_file_that_is_no_python_is_not_changed(tmp_path: Path, source: bytes) -> None:
    file = tmp_path / 'errors.py'
    file.write_bytes(source)
    result = scaffold('OrderNotFound', '--write', file)
    assert (result.exit_code, file.read_bytes()) == (65, source)
    assert 'the file is not valid Python' in result.stderr


def test_line_ends_encoding_mode_and_symlink_stay(tmp_path: Path) -> None:
    file, link = tmp_path / 'errors.py', tmp_path / 'link.py'
    file.write_bytes('# -*- coding: latin-1 -*-\r\nX = "é"\r\n'.encode('latin-1'))
    file.chmod(0o640)
    link.symlink_to(file)
    assert scaffold('OrderNotFound', '--write', link).exit_code == 0
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    data = file.read_bytes()
    assert data.count(b'\n') == data.count(b'\r\n')
    assert 'é' in data.decode('latin-1')
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_a_class_of_a_name_outside_the_encoding_of_the_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / 'errors.py'
    file.write_bytes(b'# coding: ascii\n')
    result = scaffold('订单不存在', '--write', file)
    assert (result.exit_code, file.read_bytes()) == (65, b'# coding: ascii\n')


@pytest.mark.parametrize('name', ['missing/errors.py', 'folder'])
def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / 'folder').mkdir()
    result = scaffold('OrderNotFound', '--write', tmp_path / name)
    assert result.exit_code == 73
    assert f'seamwise: cannot write to {str(tmp_path / name)!r}: ' in result.stderr


def test_help_shows_an_example() -> None:
    assert 'seamwise scaffold error OrderNotFound --field uid:int' in scaffold('--help').stdout
