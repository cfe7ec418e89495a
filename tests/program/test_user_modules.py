"""`explain`, `catalog` and `map` of a user's own errors: `--module` and `--table`."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from seamwise.documents.collect import collect_entry
from seamwise.documents.library import library_catalog
from seamwise.documents.page import render_html
from seamwise.program.cli import seamwise
from tests.program.helpers import run as run_command

SHOP = {
    'shop/__init__.py': "print('imported')\n",
    'shop/errors.py': """\
from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias
from uuid import UUID

from seamwise import Category, Cause, Internal, Secret, TaggedError
from seamwise.catalog.storage import RecordNotFound

if TYPE_CHECKING:
    from shop.unknown import Unknown


class Currency(Enum):
    EUR = 'eur'
    USD = 'usd'


class OrderNotFound(TaggedError, category=Category.NOT_FOUND, message='订单 {order} 不存在。'):
    '''There is no order with this number. The caller checks the number.'''

    order: int
    currency: Currency = Currency.EUR
    at: datetime | None = None


class PaymentDeclined(
    TaggedError, category=Category.CONFLICT, retryable=True, message='{bank}: {reason}.'
):
    '''The bank declined the payment.'''

    bank: str
    reason: Literal['funds', 'fraud']
    card: Secret[str] = Secret('hunter2')
    password: str = 'hunter3'
    retry_after: float | None = None
    cause: Cause | None = None


class BankDown(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='{host} does not answer.',
    public='The bank does not answer.',
):
    host: Internal[str]


class EvenNumber(TaggedError, category=Category.EXECUTION):
    number: int

    def __post_init__(self) -> None:
        raise ValueError('token=hunter4 is refused')


class Opaque(TaggedError, category=Category.EXECUTION):
    value: Unknown


OrderError: TypeAlias = OrderNotFound | PaymentDeclined
CheckoutError: TypeAlias = OrderNotFound | PaymentDeclined | RecordNotFound
""",
    'shop/http.py': """\
from seamwise.seams.http import on
from seamwise.seams.http.tables import STORAGE

from shop.errors import OrderNotFound, PaymentDeclined

DOCS = 'https://shop.example/errors'
TABLE = (
    on(OrderNotFound).responds(404, 'ORDER_NOT_FOUND', docs=DOCS)
    | on(PaymentDeclined).responds(409, 'DECLINED', details=lambda error: {'n': {}[error.bank]})
    | STORAGE
)
ADMIN = on(OrderNotFound).responds(404, 'NO_ORDER')


def function(error: object) -> None: ...
""",
    'shop/others.py': """\
from seamwise.seams import cli, jsonrpc, model, planner, session
from seamwise.seams.adapter import Adapter

from shop.errors import EvenNumber, OrderNotFound, PaymentDeclined

CLI = cli.on(OrderNotFound).exits(66, hint='check the number') | cli.on(PaymentDeclined).hidden()
SESSION = session.on(OrderNotFound).publishes('error.permanent', 'ERR_ORDER_001')
MODEL = model.on(OrderNotFound).guides('content_error', suggestion='List the orders.')
PLANNER = planner.on(OrderNotFound).classifies('TOOL_ARGUMENT_ERROR')
RPC = jsonrpc.on(OrderNotFound).answers(-32000)
TOOL = jsonrpc.on(OrderNotFound).as_tool_result()
REVISIONS = {('mcp', '2025-11-25'): TOOL, ('lsp', '3.17'): RPC}
MIXED = Adapter({**CLI.arms, **jsonrpc.on(EvenNumber).answers(1).arms})
""",
}
TABLES = ('--table', 'shop.http:TABLE', '--table', 'shop.others:CLI')


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, source in SHOP.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(source, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', [*sys.path])
    yield tmp_path
    for name in [name for name in sys.modules if name.partition('.')[0] == 'shop']:
        del sys.modules[name]


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, arguments)


def entry(word: str, *arguments: str) -> dict[str, Any]:
    result = invoke('explain', word, '--json', *arguments)
    assert result.exit_code == 0, result.stderr
    [value] = json.loads(result.stdout)['entries']
    return dict(value)


def summaries(value: dict[str, Any]) -> dict[str, str | None]:
    return {answer['seam']: answer.get('summary') for answer in value['answers']}


# Explain


def test_an_error_is_explained_with_its_fields_and_the_answers_of_the_tables(shop: Path) -> None:
    result = invoke('explain', 'ordernotfound', '--module', 'shop.errors', *TABLES)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        'OrderNotFound: 订单 3 不存在。\n'
        '\n'
        'There is no order with this number. The caller checks the number.\n'
        '(class shop.errors.OrderNotFound, one of OrderError, category not_found, not retryable, '
        'recovery correct)\n'
        '\n'
        'Message: 订单 {order} 不存在。\n'
        'Fields:\n'
        '  order: int\n'
        '  currency: Currency (optional)\n'
        '  at: datetime or none (optional)\n'
        'Example:\n'
        "  OrderNotFound(order=3, currency=<Currency.EUR: 'eur'>, at="
    )
    assert '\nAt each seam:\n  cli: exit code 66\n    订单 3 不存在。\n' in result.stdout
    assert '  http: 404 ORDER_NOT_FOUND\n' in result.stdout
    assert '"docs": "https://shop.example/errors"' in result.stdout
    assert result.stdout.endswith('  The caller checks the number.\n  Check the number\n')


@pytest.mark.parametrize(
    ('table', 'seam', 'summary'),
    [
        ('http:ADMIN', 'http', '404 NO_ORDER'),
        ('others:CLI', 'cli', 'exit code 66'),
        ('others:SESSION', 'session', 'error.permanent, ERR_ORDER_001'),
        ('others:MODEL', 'model', 'error, content_error'),
        ('others:PLANNER', 'planner', 'TOOL_ARGUMENT_ERROR, validation'),
        ('others:RPC', 'jsonrpc', 'error -32000'),
        ('others:TOOL', 'jsonrpc', 'a result with isError'),
    ],
)
def test_the_seam_of_a_table_is_known_from_its_arms(
    shop: Path, table: str, seam: str, summary: str
) -> None:
    value = entry('OrderNotFound', '--module', 'shop.errors', '--table', f'shop.{table}')
    assert summaries(value) == {seam: summary, 'log': 'info, not_found'}


def test_a_table_can_be_a_mapping_of_revisions(shop: Path) -> None:
    value = entry('OrderNotFound', '--table', 'shop.others:REVISIONS')
    assert [(item.get('where'), item['summary']) for item in value['answers']] == [
        ('mcp 2025-11-25', 'a result with isError'),
        ('lsp 3.17', 'error -32000'),
        (None, 'info, not_found'),
    ]


def test_several_tables_of_a_seam_are_told_apart_by_their_names(shop: Path) -> None:
    value = entry('OrderNotFound', '--table', 'shop.http:TABLE', '--table', 'shop.http:ADMIN')
    http = [(item['where'], item['summary']) for item in value['answers'] if item['seam'] == 'http']
    assert http == [
        ('shop.http:TABLE', '404 ORDER_NOT_FOUND'),
        ('shop.http:ADMIN', '404 NO_ORDER'),
    ]


@pytest.mark.parametrize(
    'word', ['ORDER_NOT_FOUND', '404', 'not_found', 'OrderError', 'shop.errors.OrderNotFound']
)
def test_words_of_own_tables_are_found(shop: Path, word: str) -> None:
    result = invoke('explain', word, '--module', 'shop.errors', *TABLES)
    assert result.exit_code == 0
    assert 'OrderNotFound: ' in result.stdout


def test_a_class_without_docstring_is_listed_with_its_message(shop: Path) -> None:
    result = invoke('explain', 'execution', '--module', 'shop.errors')
    assert '\n  EvenNumber: Even number.\n' in result.stdout


@pytest.mark.parametrize('command', ['explain', 'catalog', 'map', 'scaffold'])
def test_help_fits_a_terminal(command: str) -> None:
    lines = invoke(command, '--help').stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_words_of_the_library_are_found_after_the_own_ones(shop: Path) -> None:
    result = invoke('explain', 'FileNotFound', '--module', 'shop.errors')
    assert result.stdout.startswith("FileNotFound: 'src/ap.py' does not exist.")


def test_a_misspelt_word_is_answered_with_own_words(shop: Path) -> None:
    result = invoke('explain', 'ORDER_NOT_FUOND', '--module', 'shop.errors', *TABLES)
    assert result.exit_code == 2
    assert "Did you mean 'ORDER_NOT_FOUND'" in result.stderr
    assert 'Use --module' not in result.stderr


def test_no_secret_is_printed(shop: Path) -> None:
    for form in ('text', 'json', 'html', 'typescript', 'openapi'):
        result = invoke('catalog', '--format', form, '--module', 'shop', *TABLES)
        assert result.exit_code == 0
        assert 'hunter' not in result.output
    text = invoke('explain', 'PaymentDeclined', '--module', 'shop', *TABLES).stdout
    assert "card=Secret(***), password='***'" in text
    assert '  card: secret (optional and not public)\n' in text


def test_internal_fields_and_public_messages_are_shown_as_such(shop: Path) -> None:
    text = invoke('explain', 'BankDown', '--module', 'shop.errors').stdout
    assert '\nPublic message: The bank does not answer.\n' in text
    assert '\n  host: str (not public)\n' in text


def test_an_arm_that_fails_for_the_example_shows_its_declaration(shop: Path) -> None:
    value = entry('PaymentDeclined', '--module', 'shop.errors', *TABLES)
    assert summaries(value) == {
        'cli': None,
        'http': "409 DECLINED (it fails for the example: KeyError: 'bank')",
        'log': 'info, conflict',
    }


def test_a_class_that_refuses_the_example_is_explained_without_one(shop: Path) -> None:
    value = entry('EvenNumber', '--module', 'shop.errors', *TABLES)
    assert value['example'] == {
        'problem': 'EvenNumber refuses the example values: ValueError: token=*** is refused'
    }
    assert summaries(value) == {
        'http': 'no arm in shop.http:TABLE',
        'cli': 'no arm in shop.others:CLI',
    }
    text = invoke('explain', 'EvenNumber', '--module', 'shop.errors').stdout
    assert '\nNo example: EvenNumber refuses the example values: ' in text


def test_a_type_that_only_type_checkers_import_has_no_example(shop: Path) -> None:
    assert "the field 'value' has the type 'Unknown'" in str(
        entry('Opaque', '--module', 'shop.errors')['example']
    )


# Catalog


def test_catalog_contains_the_errors_of_a_package_by_union(shop: Path) -> None:
    result = invoke('catalog', '--json', '--module', 'shop')
    assert [(item['tag'], item['union']) for item in json.loads(result.stdout)] == [
        ('OrderNotFound', 'OrderError'),
        ('PaymentDeclined', 'OrderError'),
        ('BankDown', ''),
        ('EvenNumber', ''),
        ('Opaque', ''),
    ]


def test_catalog_of_a_table_contains_the_errors_that_it_covers(shop: Path) -> None:
    result = invoke('catalog', '--json', '--table', 'shop.http:TABLE')
    entries = {item['tag']: item for item in json.loads(result.stdout)}
    assert {'OrderNotFound', 'PaymentDeclined', 'RecordNotFound', 'StoreClosed'} <= set(entries)
    # A table of the library answers at the seams of which no table is given.
    assert summaries(entries['RecordNotFound'])['cli'] == 'exit code 66'


def test_errors_of_the_library_can_be_included(shop: Path) -> None:
    result = invoke(
        'catalog', '--json', '--module', 'shop.errors', '--module', 'seamwise.catalog.storage'
    )
    entries = {item['tag']: item for item in json.loads(result.stdout)}
    assert entries['RecordNotFound']['example']['constructor']
    assert set(summaries(entries['RecordNotFound'])) == {
        'cli', 'http', 'session', 'model', 'planner', 'jsonrpc', 'log',
    }  # fmt: skip


def test_html_has_the_title_and_the_sections_of_the_module(shop: Path) -> None:
    page = invoke('catalog', '--format', 'html', '--module', 'shop.errors', *TABLES).stdout
    assert '<title>shop.errors: every error</title>' in page
    assert '<h2 id="union-OrderError">OrderError</h2>' in page
    assert '<h2 id="union-none">Errors of no union</h2>' in page
    assert '<li>currency: Currency (optional)</li>' in page
    assert '<p>No example: EvenNumber refuses' in page


def test_classes_with_the_same_tag_have_different_anchors(shop: Path) -> None:
    library = library_catalog()
    first = collect_entry(library.kinds[0], library)
    page = render_html([first, first], 'Twice')
    assert page.count(f'id="{first.name}"') == 2


def test_typescript_has_interfaces_for_the_fields_and_the_unions(shop: Path) -> None:
    result = invoke('catalog', '--format', 'typescript', '--module', 'shop.errors', *TABLES)
    assert result.exit_code == 0
    assert (
        'readonly details: { readonly order: number; readonly currency: "eur" | "usd"; '
        'readonly at?: string; };'
    ) in result.stdout
    assert 'export type OrderError = OrderNotFound | PaymentDeclined;' in result.stdout
    assert (
        'export type CheckoutError = OrderNotFound | PaymentDeclined | RecordNotFound;'
        in result.stdout
    )
    assert '// EvenNumber has no arm.' in result.stdout


def test_openapi_has_the_statuses_of_the_table(shop: Path) -> None:
    result = invoke('catalog', '--format', 'openapi', '--module', 'shop.errors', *TABLES)
    document = json.loads(result.stdout)
    assert document['info'] == {'title': 'The errors of shop.errors', 'version': '0'}
    assert {'404', '409'} <= set(document['components']['responses'])
    assert 'StoreClosed' not in result.stdout


@pytest.mark.parametrize('form', ['typescript', 'openapi'])
def test_formats_of_http_need_a_table(shop: Path, form: str) -> None:
    result = invoke('catalog', '--format', form, '--module', 'shop.errors')
    assert result.exit_code == 2
    assert 'add the table of your errors, for example --table shop.http:TABLE' in result.stderr


# Mistakes of the user


@pytest.mark.parametrize(
    ('source', 'code', 'message'),
    [
        (
            "\nraise ValueError('password=hunter2\\nsecond line')",
            65,
            "cannot import 'broken': ValueError: password=*** (broken.py:2)",
        ),
        ('def (:', 65, "cannot import 'broken': SyntaxError: invalid syntax (broken.py, line 1)"),
        ('import sys\nsys.exit(5)', 65, "cannot import 'broken': SystemExit: 5 (broken.py:2)"),
        (
            'import no_such_package.part',
            78,
            "cannot import 'broken': it imports 'no_such_package', which is not installed in this",
        ),
        (
            'from seamwise import NoSuchName',
            65,
            "cannot import 'broken': ImportError: cannot import name 'NoSuchName' from 'seamwise'",
        ),
        ('x = 1', 65, "there are no errors in 'broken'."),
    ],
)
def test_a_module_that_cannot_be_used_is_reported_in_one_line(
    tmp_path: Path, source: str, code: int, message: str
) -> None:
    (tmp_path / 'broken.py').write_text(source)
    result = run_command('catalog', '--module', 'broken', cwd=tmp_path)
    assert (result.returncode, result.stdout) == (code, b'')
    assert result.stderr.decode().startswith(f'seamwise: {message}')
    assert result.stderr.count(b'\n') == 1


@pytest.mark.parametrize(
    ('name', 'hint'),
    [
        ('nowhere', ''),
        ('shop.nowhere', ''),
        ('shop/errors.py', ' Did you mean shop.errors?'),
    ],
)
def test_a_module_that_does_not_exist_has_its_own_exit_code(
    shop: Path, name: str, hint: str
) -> None:
    for command in (('explain', 'X'), ('catalog',), ('map',)):
        result = invoke(*command, '--module', name)
        assert result.exit_code == 66
        assert result.stderr.endswith(
            f'seamwise: there is no module {name!r} in this directory or environment.{hint}\n'
        )


@pytest.mark.parametrize('name', ['', '.errors'])
def test_a_name_that_no_module_can_have_is_reported(shop: Path, name: str) -> None:
    result = invoke('explain', 'X', '--module', name)
    assert result.exit_code in {65, 66}
    assert result.stderr.startswith('seamwise: ')


@pytest.mark.parametrize(
    ('table', 'message'),
    [
        ('shop.http', "'shop.http' names no table."),
        ('shop.http:TABEL', "has no name 'TABEL'. Did you mean 'TABLE'?"),
        ('shop.http:function', 'function: Expected a class of tagged errors'),
        ('shop.http:DOCS', 'shop.http:DOCS is a value of the type str.'),
        ('shop.others:MIXED', 'shop.others:MIXED has arms of several seams (cli, jsonrpc).'),
    ],
)
def test_a_name_that_is_no_table_is_a_usage_error(shop: Path, table: str, message: str) -> None:
    result = invoke('catalog', '--table', table)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_submodule_that_cannot_be_imported_is_named(shop: Path) -> None:
    (shop / 'shop' / 'job.py').write_text('1 / 0')
    (shop / 'shop' / '__main__.py').write_text('raise SystemExit')
    result = invoke('catalog', '--module', 'shop')
    assert result.exit_code == 65
    assert "cannot import 'shop.job': ZeroDivisionError: division by zero" in result.stderr


def test_the_output_of_a_module_does_not_get_into_the_document(shop: Path) -> None:
    result = run_command('catalog', '--json', '--module', 'shop.errors', cwd=shop)
    assert result.returncode == 0
    assert result.stderr == b'imported\n'
    json.loads(result.stdout)


def test_the_current_directory_is_not_importable_in_safe_mode(shop: Path) -> None:
    command = [sys.executable, '-P', '-m', 'seamwise', 'catalog', '--module', 'shop.errors']
    assert subprocess.run(command, cwd=shop, capture_output=True, check=False).returncode == 66


# Map


@pytest.mark.slow
def test_map_takes_a_module_instead_of_a_path(shop: Path) -> None:
    (shop / 'shop' / 'app.py').write_text(
        'from shop.errors import OrderNotFound\n'
        'from seamwise import Failure\n'
        'def load() -> Failure[OrderNotFound]:\n'
        '    return Failure(OrderNotFound(1))\n'
    )
    result = invoke('map', '--module', 'shop.app', '--json', '--no-cache')
    assert result.exit_code == 0
    assert [item['name'] for item in json.loads(result.stdout)['errors']] == [
        'shop.errors.OrderNotFound'
    ]
    # The map needs no import.
    assert 'shop' not in sys.modules


@pytest.mark.nightly
@pytest.mark.slow
def test_map_shows_the_errors_of_a_table(shop: Path) -> None:
    (shop / 'shop' / 'others.py').unlink()
    result = invoke('map', '--table', 'shop.http:ADMIN', '--json', '--no-cache')
    assert result.exit_code == 0
    assert [item['name'] for item in json.loads(result.stdout)['errors']] == [
        'shop.errors.OrderNotFound'
    ]
    wrong = invoke('map', '--table', 'shop.http:ADMNI', '--no-cache')
    assert wrong.exit_code == 2
    assert "Did you mean 'shop.http:ADMIN'" in wrong.stderr


@pytest.mark.slow
def test_map_accepts_one_selection_only(shop: Path) -> None:
    result = invoke('map', 'shop', '--table', 'shop.http:ADMIN', '--of', 'OrderNotFound')
    assert result.exit_code == 2
    assert '--of and --table cannot be combined.' in result.stderr


def test_a_module_without_source_cannot_be_mapped(shop: Path) -> None:
    result = invoke('map', '--module', 'sys')
    assert (result.exit_code, result.stderr) == (
        66,
        "seamwise: the module 'sys' has no source file.\n",
    )


# The page


@pytest.mark.slow
def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / 'docs' / 'your-errors.md').read_text(encoding='utf-8')
    errors, tables, *_ = re.findall(r'```python\n(.*?)```', page, re.DOTALL)
    first_line = re.search(r'its first line is `(.*?)`', page)
    assert first_line
    (tmp_path / 'shop').mkdir()
    (tmp_path / 'shop' / '__init__.py').touch()
    (tmp_path / 'shop' / 'errors.py').write_text(errors)
    (tmp_path / 'shop' / 'tables.py').write_text(f'{first_line[1]}\n{tables}')
    for block in re.findall(r'```console\n(.*?)```', page, re.DOTALL):
        commands = re.findall(r'^\$ seamwise (.*)\n((?:(?!\$).*\n)*)', block, re.MULTILINE)
        for command, output in commands:
            arguments, _, _ = command.partition(' > ')
            result = run_command(*arguments.split(), cwd=tmp_path)
            assert (result.returncode, result.stderr) == (0, b'')
            start, _, end = output.partition('    …\n')
            assert result.stdout.decode().startswith(start)
            assert result.stdout.decode().endswith(end)


# Start


LOADED = """\
import sys
from seamwise.program.cli import seamwise
try:
    seamwise.main({arguments!r}, standalone_mode=False)
except SystemExit:
    pass
print(*sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ('arguments', 'unloaded'),
    [
        (['--version'], {'seamwise.documents', 'seamwise.toolhost', 'seamwise.policies', 'mypy'}),
        (['--help'], {'seamwise.documents', 'seamwise.toolhost', 'seamwise.policies', 'mypy'}),
        (
            ['explain', 'OrderNotFound', '--module', 'shop.errors'],
            {
                'seamwise.documents.library',
                'seamwise.documents.recipes',
                'seamwise.seams.http',
                'seamwise.seams.session',
                'seamwise.toolhost',
                'mypy',
            },
        ),
        (
            ['catalog', '--format', 'typescript', '--table', 'shop.http:ADMIN'],
            {'seamwise.documents.recipes', 'seamwise.toolhost', 'seamwise.seams.session', 'mypy'},
        ),
        (['explain', 'SW101'], {'seamwise.documents', 'seamwise.toolhost'}),
    ],
)
def test_a_subcommand_loads_only_what_it_uses(
    shop: Path, arguments: list[str], unloaded: set[str]
) -> None:
    result = subprocess.run(
        [sys.executable, '-c', LOADED.format(arguments=arguments)],
        capture_output=True,
        check=True,
        cwd=shop,
    )
    assert not unloaded & set(result.stderr.decode().splitlines()[-1].split())


@pytest.mark.skipif('TSC' not in os.environ, reason='the variable TSC names no compiler')
def test_the_typescript_of_a_program_compiles(shop: Path) -> None:
    module = invoke('catalog', '--format', 'typescript', '--module', 'shop.errors', *TABLES).stdout
    (shop / 'errors.ts').write_text(module, encoding='utf-8')
    command = [os.environ['TSC'], '--strict', '--noEmit', 'errors.ts']
    subprocess.run(command, cwd=shop, check=True)
