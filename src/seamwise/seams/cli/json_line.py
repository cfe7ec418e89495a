"""Results of a command as one line of JSON, for programs that read its output."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from seamwise._errors.errors import TaggedError
from seamwise.seams.cli.shape import DEFECT_EXIT_CODE, Rendered
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.errors import all_fields

EXIT_CODE_NAMES = {
    1: 'FAILURE',
    2: 'USAGE',
    64: 'USAGE',
    65: 'DATAERR',
    66: 'NOINPUT',
    67: 'NOUSER',
    68: 'NOHOST',
    69: 'UNAVAILABLE',
    70: 'SOFTWARE',
    71: 'OSERR',
    72: 'OSFILE',
    73: 'CANTCREAT',
    74: 'IOERR',
    75: 'TEMPFAIL',
    76: 'PROTOCOL',
    77: 'NOPERM',
    78: 'CONFIG',
    124: 'TIMEOUT',
    130: 'INTERRUPTED',
}
"""Names of exit codes: those of sysexits.h, and of shells."""


def success_line(value: object) -> str:
    """Return the line for the value of a success.

    >>> success_line({'path': 'a.txt'})
    '{"ok":true,"exit_code":0,"value":{"path":"a.txt"}}'
    """
    return to_json({'ok': True, 'exit_code': 0, 'value': value}).decode()


def failure_line(failures: Iterable[tuple[object, Rendered]], exit_code: int) -> str:
    """Return the line for errors and their rendered texts; equal ones are written once.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> missing = RecordNotFound('user', 'u-17')
    >>> line = failure_line([(missing, Rendered('There is no user.', 66))], 66)
    >>> ', '.join(msgspec.json.decode(line)['errors'][0])
    'type, category, code, retryable, fields, text, exit_code, count'
    """
    counts = Counter(to_json(_error(error, rendered)) for error, rendered in failures)
    errors = [_counted(msgspec.json.decode(line), count) for line, count in counts.items()]
    return to_json({'ok': False, 'exit_code': exit_code, 'errors': errors}).decode()


def defect_line(ref: str, rendered: Rendered) -> str:
    """Return the line for a defect; of its details, it contains only the reference."""
    fields: dict[str, object] = {
        'type': 'Defect',
        'category': 'internal',
        'code': EXIT_CODE_NAMES[DEFECT_EXIT_CODE],
        'retryable': False,
        'fields': {'ref': ref},
        'text': rendered.text,
        'exit_code': DEFECT_EXIT_CODE,
        'count': 1,
    }
    return to_json({'ok': False, 'exit_code': DEFECT_EXIT_CODE, 'errors': [fields]}).decode()


def _error(error: object, rendered: Rendered) -> dict[str, object]:
    rendered_fields: dict[str, object] = {
        'text': rendered.text,
        'exit_code': rendered.exit_code,
        'place': rendered.place,
    }
    code = EXIT_CODE_NAMES.get(rendered.exit_code, f'EXIT_{rendered.exit_code}')
    if isinstance(error, TaggedError):
        return {
            'type': error.tag,
            'category': error.category,
            'code': code,
            'retryable': error.retryable,
            'fields': all_fields(error),
            **rendered_fields,
        }
    # An adapter can also be a plain function of other values.
    return {
        'type': type(error).__name__,
        'category': None,
        'code': code,
        'retryable': False,
        'fields': {},
        **rendered_fields,
    }


def _counted(fields: dict[str, object], count: int) -> dict[str, object]:
    place = fields.pop('place')
    counted = {**fields, 'count': count}
    return {**counted, 'place': place} if place else counted
