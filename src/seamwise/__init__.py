"""Typed failures inside, one shape per seam outside.

PYTEST_DONT_REWRITE: pytest rewrites the assertions of plugins, and this package has none.
"""

import sys as _sys
from opcode import opmap as _opmap

from seamwise._defects.defects import on_defect as on_defect
from seamwise._defects.defects import report_defect as report_defect
from seamwise._defects.entries import DefectReport as DefectReport
from seamwise._errors.categories import Category as Category
from seamwise._errors.categories import Recovery as Recovery
from seamwise._errors.causes import Cause as Cause
from seamwise._errors.causes import Raised as Raised
from seamwise._errors.causes import error_chain as error_chain
from seamwise._errors.causes import find_cause as find_cause
from seamwise._errors.codec import codec as codec
from seamwise._errors.codec import json_schema as json_schema
from seamwise._errors.errors import TaggedError as TaggedError
from seamwise._errors.internal import Internal as Internal
from seamwise._errors.texts import message_of as message_of
from seamwise._errors.texts import sanitized as sanitized
from seamwise._results.compose import bind_async as bind_async
from seamwise._results.compose import catch as catch
from seamwise._results.compose import catch_all as catch_all
from seamwise._results.compose import flow as flow
from seamwise._results.compose import map_async as map_async
from seamwise._results.compose import tap as tap
from seamwise._results.compose import tap_error as tap_error
from seamwise._results.containers import Failure as Failure
from seamwise._results.containers import Result as Result
from seamwise._results.containers import Success as Success
from seamwise._results.containers import from_returns as from_returns
from seamwise._results.containers import is_failure as is_failure
from seamwise._results.containers import is_success as is_success
from seamwise._results.edges import attempt as attempt
from seamwise._results.edges import caught as caught
from seamwise._results.edges import or_raise as or_raise
from seamwise._results.edges import refine as refine
from seamwise._results.edges import when as when
from seamwise._results.many import accumulate as accumulate
from seamwise._results.many import collect as collect
from seamwise._results.many import partition as partition
from seamwise._results.many_async import accumulate_async as accumulate_async
from seamwise._results.many_async import collect_async as collect_async
from seamwise._results.many_async import partition_async as partition_async
from seamwise._results.scope import Do as Do
from seamwise._results.scope import ScopeLeaked as ScopeLeaked
from seamwise._results.scope import fallible as fallible
from seamwise._text.secrets import Secret as Secret
from seamwise.redaction import redact as redact


def __getattr__(name: str) -> str:
    if name == '__version__':
        from importlib.metadata import version  # noqa: PLC0415 -- reads the disk, and is rarely used

        return version('seamwise')
    if name not in _OTHER_NAMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    advice = f'use {_OTHER_NAMES[name]}'
    caller = _sys._getframe(1)
    if caller.f_code.co_code[caller.f_lasti] == _opmap['IMPORT_FROM']:
        # For an AttributeError, the import statement would write a message of its own.
        raise ImportError(f'cannot import name {name!r} from {__name__!r}; {advice}', name=name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}; {advice}')


_OTHER_NAMES = {
    'Err': '`Failure`',
    'ErrorType': '`TaggedError`',
    'Fold': '`collect(results)`',
    'Ok': '`Success`',
    'OkErr': '`(Success, Failure)`',
    'ResultE': '`Result`',
    'alt': '`result.alt(function)`',
    'as_async_result': '`attempt(rules)`',
    'as_result': '`attempt(rules)`',
    'bind': '`result.bind(step)`',
    'do': '`@fallible`, whose `do` is the first parameter',
    'do_async': '`@fallible` on an `async def`',
    'future_safe': '`attempt(rules)` on an `async def`',
    'is_err': '`is_failure`',
    'is_ok': '`is_success`',
    'is_successful': '`is_success`',
    'lash': '`result.lash(step)`',
    'map_': '`result.map(function)`',
    'pipe': '`flow(value, step, …)`',
    'safe': '`attempt(rules)`',
}
"""Names of the packages `returns` and `result`, and what stands for them here."""


# Hypothesis was imported first; otherwise, its entry point registers the strategies.
if '_seamwise_hypothesisplugin' in _sys.modules:
    _sys.modules['_seamwise_hypothesisplugin'].register()
