"""Source texts before and after a migration."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.check.migrate.migrating import migrate, write_package

# The test runs mypy.
pytestmark = pytest.mark.slow

NAMES = 'Category, Do, Failure, Raised, Result, Success, TaggedError, fallible, or_raise'
CASES = {
    'leaf': (
        """
        class Wet(Exception):
            '''It rains.'''


        def walk(day: int) -> str:
            if day:
                raise Wet(f'day {day}')  # always
            return 'dry'
        """,
        """
        from seamwise import Category, Failure, Result, Success, TaggedError


        class Wet(TaggedError, category=Category.EXECUTION, message='{message}'):
            '''It rains.'''

            message: str


        def walk(day: int) -> Result[str, Wet]:
            if day:
                return Failure(Wet(f'day {day}'))  # always
            return Success('dry')
        """,
    ),
    'fields': (
        """
        '''Fields.'''

        from __future__ import annotations

        import sys


        class BadLine(Exception):
            def __init__(self, line: str, number: int = 1) -> None:
                super().__init__(f'{line!r} {{{number:3}}}')
                self.line = line
                self.number = number


        def parse(line: str) -> None:
            if not line:
                raise BadLine(line, number=2)
            print(line, file=sys.stderr)
        """,
        """
        '''Fields.'''

        from __future__ import annotations

        import sys

        from seamwise import Category, Do, TaggedError, fallible


        class BadLine(TaggedError, category=Category.VALIDATION, message='{line!r} {{{number:3}}}'):
            line: str
            number: int = 1


        @fallible
        def parse(do: Do[BadLine], line: str) -> None:
            if not line:
                do.fail(BadLine(line, number=2))
            print(line, file=sys.stderr)
        """,
    ),
    'handlers': (
        """
        class OrderError(Exception):
            pass


        class SoldOut(OrderError):
            pass


        class NoSuchItem(OrderError):
            pass


        def take(item: str) -> int:
            if item == 'tea':
                raise SoldOut
            if not item:
                raise NoSuchItem('no item')
            return len(item)


        def narrow(item: str) -> int:
            try:
                return take(item)
            except SoldOut:
                return 0


        def both(item: str) -> str:
            try:
                count = take(item)
            except SoldOut:
                return 'sold out'
            except OrderError as error:
                return str(error)
            else:
                return f'{count} left'
            finally:
                print('done')


        def broad(item: str) -> int:
            try:
                return take(item) + take(item)
            except Exception as error:
                print(error)
                raise
        """,
        """
        from typing import TypeAlias

        from seamwise import {names}


        class SoldOut(TaggedError, category=Category.CAPACITY, message='{message}'):
            message: str = ''


        class NoSuchItem(TaggedError, category=Category.NOT_FOUND, message='{message}'):
            message: str


        OrderError: TypeAlias = SoldOut | NoSuchItem


        def take(item: str) -> Result[int, SoldOut | NoSuchItem]:
            if item == 'tea':
                return Failure(SoldOut())
            if not item:
                return Failure(NoSuchItem('no item'))
            return Success(len(item))


        @fallible
        def narrow(do: Do[NoSuchItem], item: str) -> int:
            match take(item):
                case Success(value):
                    return value
                case Failure(error):
                    match error:
                        case SoldOut():
                            return 0
                        case NoSuchItem():
                            do.fail(error)


        def both(item: str) -> str:
            try:
                match take(item):
                    case Success(count):
                        return f'{count} left'
                    case Failure(error):
                        match error:
                            case SoldOut():
                                return 'sold out'
                            case NoSuchItem():
                                return str(error)
            finally:
                print('done')


        @fallible
        def broad(do: Do[SoldOut | NoSuchItem], item: str) -> int:
            try:
                return or_raise(take(item)) + or_raise(take(item))
            except Exception as exception:
                error = exception.error if isinstance(exception, Raised) else exception
                print(error)
                if isinstance(error, (SoldOut, NoSuchItem)):
                    do.fail(error)
                raise
        """,
    ),
}


def test_sources_are_rewritten_as_an_engineer_would_write_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'forms'
    write_package(folder, {name: dedent(before).lstrip() for name, (before, _) in CASES.items()})
    migrate(folder)
    for name, (_, after) in CASES.items():
        assert (folder / f'{name}.py').read_text() == dedent(after).lstrip().replace(
            '{names}', NAMES
        )
