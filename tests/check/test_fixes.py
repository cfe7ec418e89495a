"""Tests of `fixes`, and of `seamwise check --fix`."""

import stat
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from seamwise.check.checking import run_check
from seamwise.check.fixing.fixes import apply_fixes
from seamwise.program.check import command

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

START = """\
from seamwise import Category, Failure, Result, Success, TaggedError


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


def find(uid: int) -> Result[str, Missing]:
    return Failure(Missing()) if uid else Success('ada')


"""
WIDE = START + dedent('''\
    def  odd( uid:int )->Result[str,   Missing|Busy]:   # comment
        """Überschrift: ä."""
        return find( uid )


    def caller(uid: int) -> Result[str, Missing | Busy]:
        return odd(uid)
''')
NARROW = WIDE.replace('Missing|Busy]:   # comment', 'Missing]:   # comment').replace(
    'Missing | Busy', 'Missing'
)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / 'shop.py'


def test_too_wide_channels_are_narrowed_up_to_the_last_caller(shop: Path) -> None:
    shop.write_text(WIDE, encoding='utf-8')
    result = CliRunner().invoke(command, ['.', '--fix'])
    assert (result.exit_code, shop.read_text(encoding='utf-8')) == (0, NARROW)
    assert 'fixed 2 findings in 1 file.' in result.output
    second = CliRunner().invoke(command, ['.', '--fix'])
    assert (second.exit_code, shop.read_text(encoding='utf-8')) == (0, NARROW)
    assert 'fixed 0 findings in 0 files.' in second.output


def test_fixed_file_passes_mypy(shop: Path) -> None:
    shop.write_text(WIDE, encoding='utf-8')
    CliRunner().invoke(command, ['.', '--fix'])
    process = subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', 'shop.py'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout.startswith('Success'), process.stdout


def test_unspecific_channel_is_replaced_by_the_inferred_errors(shop: Path) -> None:
    text = (
        START.replace('TaggedError\n', 'TaggedError\n', 1)
        + 'def load(uid: int) -> Result[str, TaggedError]:\n    return find(uid)\n'
    )
    shop.write_text(text, encoding='utf-8')
    result = CliRunner().invoke(command, ['.', '--fix'])
    assert shop.read_text(encoding='utf-8') == text.replace(
        'Result[str, TaggedError]', 'Result[str, Missing]'
    )
    assert result.exit_code == 0


ARMS = (
    START
    + """\
def status(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case Busy():
            return 503
        case _:
            return 500  # never
"""
)


def test_unreachable_wildcard_arm_calls_assert_never(shop: Path) -> None:
    shop.write_text(ARMS, encoding='utf-8')
    CliRunner().invoke(command, ['.', '--fix'])
    expected = 'from typing import assert_never\n' + ARMS.replace(
        'return 500  # never', 'assert_never(error)  # never'
    )
    assert shop.read_text(encoding='utf-8') == expected


def test_import_is_added_to_an_existing_one(shop: Path) -> None:
    shop.write_text('from typing import Final, TypeVar\n\n' + ARMS, encoding='utf-8')
    CliRunner().invoke(command, ['.', '--fix'])
    assert shop.read_text(encoding='utf-8').startswith(
        'from typing import Final, TypeVar, assert_never\n'
    )


def test_reachable_wildcard_arm_is_not_fixed_without_a_name_for_the_error(shop: Path) -> None:
    shop.with_name('errors.py').write_text(f'{START}MissingOrBusy = Missing | Busy\n')
    text = """\
from errors import Missing, MissingOrBusy


def status(error: MissingOrBusy) -> int:
    match error:
        case Missing():
            return 404
        case _:
            return 500
"""
    shop.write_text(text, encoding='utf-8')
    result = CliRunner().invoke(command, ['.', '--fix'])
    assert shop.read_text(encoding='utf-8') == text
    assert result.exit_code == 1
    assert 'SW107' in result.output


@pytest.mark.parametrize('ending', ['\r\n', '\r', '\n'])
@pytest.mark.parametrize('mark', [b'', b'\xef\xbb\xbf'])
def test_line_endings_and_byte_order_mark_are_kept(shop: Path, ending: str, mark: bytes) -> None:
    shop.write_bytes(mark + WIDE.replace('\n', ending).encode())
    assert apply_fixes(run_check(['.']).findings)
    assert (
        shop.read_bytes()
        == mark
        + NARROW.replace('Missing]:\n    return odd', 'Missing | Busy]:\n    return odd')
        .replace('\n', ending)
        .encode()
    )


def test_other_encodings_are_kept(shop: Path) -> None:
    shop.write_bytes(('# coding: latin-1\n' + WIDE).encode('latin-1'))
    assert apply_fixes(run_check(['.']).findings)
    assert b'\xdcberschrift: \xe4' in shop.read_bytes()


def test_file_that_changed_since_the_check_is_not_fixed(shop: Path) -> None:
    shop.write_text(WIDE, encoding='utf-8')
    findings = run_check(['.']).findings
    shop.write_text('# one more line\n' + WIDE, encoding='utf-8')
    assert apply_fixes(findings) == ()
    assert shop.read_text(encoding='utf-8') == '# one more line\n' + WIDE


def test_file_mode_and_symbolic_link_are_kept(shop: Path, tmp_path: Path) -> None:
    real = tmp_path / 'elsewhere' / 'real.py'
    real.parent.mkdir()
    real.write_text(WIDE, encoding='utf-8')
    real.chmod(0o640)
    shop.symlink_to(real)
    assert apply_fixes(run_check(['shop.py']).findings)
    assert shop.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith('.')) == [
        'elsewhere',
        'shop.py',
    ]


def test_lost_cause_is_passed_and_map_becomes_bind(shop: Path) -> None:
    text = START.replace('TaggedError\n', 'TaggedError, Cause\n', 1) + dedent("""\
        class Unreadable(TaggedError, category=Category.STORAGE, message='unreadable'):
            cause: Cause | None = None


        def read(text: str) -> Result[int, Unreadable]:
            try:
                return Success(int(text))
            except ValueError:  # not a number
                return Failure(Unreadable())


        def load(uid: int) -> bool:
            return isinstance(find(uid).map(read), Success)
        """)
    shop.write_text(text, encoding='utf-8')
    result = CliRunner().invoke(command, ['.', '--fix', '--select', 'SW118,SW119'])
    fixed = (
        text.replace('except ValueError:', 'except ValueError as error:')
        .replace('Unreadable())', 'Unreadable(cause=error))')
        .replace('.map(', '.bind(')
    )
    assert (result.exit_code, shop.read_text(encoding='utf-8')) == (0, fixed)


def test_suppressions_without_effect_are_removed(shop: Path) -> None:
    text = START + dedent("""\
        # seamwise: allow[SW103] nothing here
        def load(uid: int) -> Result[str, Missing]:
            return find(uid)  # seamwise: allow[SW101] nothing here either
        """)
    shop.write_text(text, encoding='utf-8')
    result = CliRunner().invoke(command, ['.', '--fix'])
    fixed = START + dedent("""\
        def load(uid: int) -> Result[str, Missing]:
            return find(uid)
        """)
    assert (result.exit_code, shop.read_text(encoding='utf-8')) == (0, fixed)
