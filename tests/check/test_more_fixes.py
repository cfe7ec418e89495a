"""Tests of fixes that mypy checks, and of the fixes of SW101, SW104, SW105 and SW107."""

from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from seamwise.program.check import command

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

IMPORTS = 'from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible\n'
START = (
    IMPORTS
    + """

class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


MissingOrBusy = Missing | Busy


def find(uid: int) -> Result[str, Missing]:
    return Failure(Missing()) if uid else Success('ada')


"""
)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / 'shop.py'


def fix(file: Path, text: str, *, start: str = START) -> tuple[Result, str]:
    """Return the output of a fix, and the fixed text."""
    file.write_text(start + dedent(text), encoding='utf-8')
    result = CliRunner().invoke(command, ['.', '--fix'])
    fixed = file.read_text(encoding='utf-8')
    assert fixed.startswith(IMPORTS.removesuffix('\n'))
    return result, fixed.removeprefix(start)


@pytest.mark.nightly
def test_fix_that_adds_a_type_error_is_taken_back(shop: Path) -> None:
    text = dedent("""\
        def wide(uid: int) -> Result[str, Missing | Busy]:
            return find(uid)


        def other(uid: int) -> Result[str, Missing | Busy]:
            return find(uid)


        class Holder:
            def __init__(self) -> None:
                self.steps = [wide(1)]

            def add(self, result: Result[str, Missing | Busy]) -> None:
                self.steps.append(result)
        """)
    result, fixed = fix(shop, text)
    # `self.steps` is inferred from `wide`, and a list is invariant.
    other = 'def other(uid: int) -> Result[str, {}]'
    assert fixed == text.replace(other.format('Missing | Busy'), other.format('Missing'))
    assert 'fixed 1 finding in 1 file.' in result.stderr
    assert 'the fix of SW105 would add a type error, so it is not applied.' in result.stderr
    assert '`wide` declares `Busy`' in result.stdout


def test_span_with_a_comment_is_left_alone(shop: Path) -> None:
    text = dedent("""\
        def wide(
            uid: int,
        ) -> Result[
            str,
            Missing  # not found
            | Busy,
        ]:
            return find(uid)
        """)
    result, fixed = fix(shop, text)
    assert (result.exit_code, fixed) == (1, text)


@pytest.mark.parametrize(
    ('annotation', 'fixed'),
    [
        ("'Result[str, Missing | Busy]'", "'Result[str, Missing]'"),
        ('"Result[str, Missing | Busy]"', '"Result[str, Missing]"'),
        ("Result['str', 'Missing | Busy']", "Result['str', 'Missing']"),
        ('Result[str, Union[Missing, Busy]]', 'Result[str, Missing]'),
        ('Result[str, MissingOrBusy]', 'Result[str, Missing]'),
    ],
)
def test_quoted_annotations_unions_and_aliases_are_narrowed(
    shop: Path, annotation: str, fixed: str
) -> None:
    start = START.replace('\n\n\nclass', '\nfrom typing import Union\n\n\nclass', 1)
    text = 'def wide(uid: int) -> {}:\n    return find(uid)\n'
    result, actual = fix(shop, text.format(annotation), start=start)
    assert (actual, result.exit_code) == (text.format(fixed), 0)


def test_union_of_more_classes_stays_a_union(shop: Path) -> None:
    start = START.replace('\n\n\nclass', '\nfrom typing import Union\n\n\nclass', 1)
    text = """\
        class Full(TaggedError, category=Category.CAPACITY, message='full'):
            pass


        def wide(uid: int) -> Result[str, Union[Missing, Busy, Full]]:
            return Failure(Busy()) if uid > 3 else find(uid)
        """
    _, fixed = fix(shop, text, start=start)
    assert 'Result[str, Union[Missing, Busy]]:' in fixed


def test_function_that_always_succeeds_declares_success(shop: Path) -> None:
    text = """\
        def always(uid: int) -> Result[int, Missing | Busy]:
            return Success(uid)
        """
    shop.write_text(START + dedent(text), encoding='utf-8')
    report = CliRunner().invoke(command, ['.']).stdout
    assert '`always` always succeeds, but declares `Busy` and `Missing`.' in report
    assert 'Return `Success[int]`, and remove the arms from the callers.' in report
    result, fixed = fix(shop, text)
    assert fixed.startswith('def always(uid: int) -> Success[int]:\n')
    assert result.exit_code == 0


def test_missing_import_of_success_is_added(shop: Path) -> None:
    shop.write_text('from orders import *\n', encoding='utf-8')
    Path('orders.py').write_text(
        START.replace(' Result, Success,', ' Result,').replace(
            "Failure(Missing()) if uid else Success('ada')", 'Failure(Missing())'
        )
        + 'import seamwise\n\n\n'
        'def always() -> Result[int, Busy]:\n    return seamwise.Success(1)\n',
        encoding='utf-8',
    )
    CliRunner().invoke(command, ['orders.py', '--fix'])
    fixed = Path('orders.py').read_text(encoding='utf-8')
    assert fixed.startswith(IMPORTS)
    assert 'def always() -> Success[int]:' in fixed


def test_discarded_result_is_propagated(shop: Path) -> None:
    result, fixed = fix(
        shop,
        """\
        def early(uid: int) -> Result[int, Missing | Busy]:
            find_result = 3
            if uid:
                find(uid)  # first
                find(find_result)
            return Failure(Busy())


        @fallible
        def direct(do: Do[Missing], uid: int) -> int:
            find(uid)
            return uid


        def unrelated(uid: int) -> int:
            find(uid)
            return uid
        """,
    )
    assert fixed == dedent("""\
        def early(uid: int) -> Result[int, Missing | Busy]:
            find_result = 3
            if uid:
                find_result_2 = find(uid)
                if isinstance(find_result_2, Failure):
                    return find_result_2  # first
                find_result_2 = find(find_result)
                if isinstance(find_result_2, Failure):
                    return find_result_2
            return Failure(Busy())


        @fallible
        def direct(do: Do[Missing], uid: int) -> int:
            do(find(uid))
            return uid


        def unrelated(uid: int) -> int:
            find(uid)
            return uid
        """)
    assert result.stdout.count('SW101') == 1


def test_unchecked_unwrap_is_propagated(shop: Path) -> None:
    result, fixed = fix(
        shop,
        """\
        def early(uid: int) -> Result[int, Missing | Busy]:
            user = find(uid)
            print(user.unwrap())
            name = find(uid).unwrap()
            return Failure(Busy()) if name else Success(len(find(uid).unwrap()))


        async def later(uid: int) -> Result[str, Missing]:
            return find(uid)


        @fallible
        async def direct(do: Do[Missing], uid: int) -> str:
            return (await later(uid)).unwrap() + find(uid).unwrap()
        """,
    )
    assert fixed == dedent("""\
        def early(uid: int) -> Result[int, Missing | Busy]:
            user = find(uid)
            if isinstance(user, Failure):
                return user
            print(user.unwrap())
            find_result = find(uid)
            if isinstance(find_result, Failure):
                return find_result
            name = find_result.unwrap()
            return Failure(Busy()) if name else Success(len(find(uid).unwrap()))


        async def later(uid: int) -> Result[str, Missing]:
            return find(uid)


        @fallible
        async def direct(do: Do[Missing], uid: int) -> str:
            return do(await later(uid)) + do(find(uid))
        """)
    assert result.stdout.count('SW104') == 1


def test_wildcard_arm_names_the_missing_errors(shop: Path) -> None:
    text = """\
        def status(error: Missing | Busy) -> int:
            match error:
                case Missing():
                    return 404
                case _:
                    return 500


        def code(error: Missing | Busy) -> int:
            match error:
                case other:
                    return len(str(other))
        """
    shop.write_text(START + dedent(text), encoding='utf-8')
    report = CliRunner().invoke(command, ['.']).stdout
    assert 'This wildcard arm handles `Busy`, and errors that are added later.' in report
    result, fixed = fix(shop, text)
    expected = dedent(text).replace('case _:', 'case Busy():')
    expected = expected.replace('case other:', 'case (Missing() | Busy()) as other:')
    assert (result.exit_code, fixed) == (0, expected)


@pytest.mark.parametrize(
    ('imports', 'prefix', 'name'),
    [
        ('from errors import Busy, Missing', '', 'Busy'),
        ('from errors import Busy as Occupied, Missing', '', 'Occupied'),
        ('import errors', 'errors.', 'errors.Busy'),
        ('import errors as shop_errors', 'shop_errors.', 'shop_errors.Busy'),
    ],
)
def test_missing_arm_has_a_name_that_only_an_annotation_uses(
    shop: Path, imports: str, prefix: str, name: str
) -> None:
    shop.with_name('errors.py').write_text(START, encoding='utf-8')
    text = f"""\
def status(error: {prefix}Missing | {name}) -> int:
    match error:
        case {prefix}Missing():
            return 404
        case _:
            return 500
"""
    result, fixed = fix(shop, text, start=f'{IMPORTS}{imports}\n\n\n')
    assert (result.exit_code, fixed) == (0, text.replace('case _:', f'case {name}():'))


def test_open_channel_names_the_errors_that_arrive(shop: Path) -> None:
    text = 'def load(uid: int) -> Result[str, TaggedError]:\n    return find(uid)\n'
    shop.write_text(START + text, encoding='utf-8')
    report = CliRunner().invoke(command, ['.']).stdout
    assert 'is `TaggedError`, which names no specific error; it can return `Missing`.' in report


@pytest.mark.parametrize(
    'text',
    [
        """\
        def final(uid: int) -> Result[str, Missing]:
            try:
                return Success('ada')
            finally:
                find(uid)
        """,
        """\
        def handler(uid: str) -> Result[int, Missing]:
            try:
                number = int(uid)
            except ValueError:
                find(0)
                raise
            return Success(number)
        """,
        """\
        def transaction(db: sqlite3.Connection, uid: int) -> Result[str, Missing]:
            with db:
                db.execute('INSERT INTO users VALUES (?)', [uid])
                find(uid)
            return Success('ada')
        """,
        """\
        def one_line(uid: int) -> Result[str, Missing]:
            find(uid); print(uid)
            return Success('ada')
        """,
    ],
)
def test_a_failure_is_not_returned_where_more_would_be_lost(shop: Path, text: str) -> None:
    result, fixed = fix(shop, text, start=START + 'import sqlite3\n\n')
    assert fixed == dedent(text)
    assert 'error[SW101]' in result.stdout
    assert 'fixed 0 findings' in result.stderr


def test_a_result_that_its_own_statement_binds_is_left_alone(shop: Path) -> None:
    text = """\
        def bind(uid: int) -> Result[str, Missing]:
            pair = ((result := find(uid)), result.unwrap())
            return Success(str(pair))
        """
    result, fixed = fix(shop, text)
    assert fixed == dedent(text)
    assert 'warning[SW104]' in result.stdout


def test_an_unwrap_whose_exception_is_handled_is_no_finding(shop: Path) -> None:
    text = """\
        from returns.primitives.exceptions import UnwrapFailedError


        def name(uid: int) -> Result[str, Missing]:
            try:
                name = find(uid).unwrap()
            except UnwrapFailedError:
                name = 'nobody'
            return Success(name) if name else find(uid)
        """
    result, fixed = fix(shop, text)
    assert (result.exit_code, fixed) == (0, dedent(text))


@pytest.mark.parametrize(
    ('before', 'after', 'name'),
    [
        ("error = 'none'", 'print(error)', 'error_2'),
        ("error = error_2 = 'none'", 'print(error, error_2)', 'error_3'),
        ('pass', 'pass', 'error'),
    ],
)
def test_the_name_of_a_cause_is_free(shop: Path, before: str, after: str, name: str) -> None:
    text = f"""\
        class Unreadable(TaggedError, category=Category.STORAGE, message='unreadable'):
            cause: Cause | None = None


        def read(text: str) -> Result[int, Unreadable]:
            {before}
            try:
                int('1')
            except TypeError as error:
                print(error)
            try:
                return Success(int(text))
            except ValueError:
                {after}
                return Failure(Unreadable())
        """
    _, fixed = fix(shop, text, start=START + 'from seamwise import Cause\n\n')
    assert fixed == dedent(text).replace(
        'except ValueError:', f'except ValueError as {name}:'
    ).replace('Unreadable())', f'Unreadable(cause={name}))')


def test_a_channel_that_names_its_only_exception_is_left_alone(shop: Path) -> None:
    text = """\
        class Bad(Exception):
            pass


        def check(uid: int) -> Result[int, Bad]:
            return Success(uid) if uid else Failure(Bad())
        """
    result, fixed = fix(shop, text)
    assert (result.exit_code, fixed) == (0, dedent(text))
    assert 'hint[SW106]' in result.stdout


@pytest.mark.parametrize(
    'body',
    [
        'if uid:\n        raise ValueError(uid)',
        'found = find(uid)',
        'if find(uid):\n        return Success("no")',
    ],
)
def test_channel_stays_while_another_finding_needs_it(shop: Path, body: str) -> None:
    text = f'def name(uid: int) -> Result[str, Missing]:\n    {body}\n    return Success("")\n'
    result, fixed = fix(shop, text)
    assert 'SW105' not in result.output
    assert fixed == text


def test_class_in_a_pattern_gets_parentheses(shop: Path) -> None:
    text = dedent("""\
        def describe(result: Result[int, Missing]) -> str:
            match result:
                case Success(int):
                    return 'a number'
                case Failure(Missing):
                    return 'missing'
        """)
    output, fixed = fix(shop, text)
    assert fixed == text.replace('(int)', '(int())').replace('(Missing):', '(Missing()):')
    assert 'fixed 2 findings in 1 file.' in output.stderr


def test_pattern_is_left_alone_where_its_name_is_a_variable_or_an_arm_would_be_missing(
    shop: Path,
) -> None:
    text = dedent("""\
        def show(result: Result[int, Missing]) -> str:
            match result:
                case Success(value):
                    return str(value)
                case Failure(Missing):
                    return str(Missing)


        def describe(error: Missing | Busy) -> str:
            match error:
                case Missing:
                    return 'missing'
        """)
    output, fixed = fix(shop, text)
    assert fixed == text
    assert output.stdout.count('without parentheses') == 2


CALLERS = """\
class Full(TaggedError, category=Category.CAPACITY, message='full'):
    pass


def load(uid: int) -> Result[str, Missing{channel}]:
    return Success('a') if uid else Failure(Missing())


def status(uid: int) -> int:
    match load(uid):
        case Success():
            return 1
        case Failure(Missing(){alternative}):
            return 2
{arm}

def words(uid: int) -> str:
    match load(uid):
        case Failure(Missing()):
            return 'missing'
        # No room is left.
{commented}        case Success(value):
            return value
"""


def test_arms_that_a_narrower_channel_makes_unreachable_are_removed(shop: Path) -> None:
    before = CALLERS.format(
        channel=' | Busy | Full',
        alternative=' | Busy()',
        arm="        case Failure(Full()):\n            print('full')\n            return 3\n",
        commented="        case Failure(Busy() | Full()):\n            return 'busy'\n",
    )
    after = CALLERS.format(
        channel='',
        alternative='',
        arm='',
        commented="        case Failure(Full()):\n            return 'busy'\n",
    )
    result, text = fix(shop, before)
    assert text == after
    assert 'SW108' in result.output


def test_unreachable_arm_that_no_fix_has_caused_is_left_to_its_author(shop: Path) -> None:
    text = CALLERS.format(
        channel='',
        alternative=' | Busy()',
        arm='        case Failure(Full()):\n            return 3\n',
        commented='',
    )
    result, after = fix(shop, text)
    assert after == text
    assert result.output.count('SW108') == 2
