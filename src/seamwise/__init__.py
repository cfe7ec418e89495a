"""Typed failures inside, one shape per seam outside.

PYTEST_DONT_REWRITE: pytest rewrites the assertions of plugins, and this package has none.
"""

from seamwise.categories import Category as Category
from seamwise.categories import Recovery as Recovery
from seamwise.causes import Cause as Cause
from seamwise.causes import Raised as Raised
from seamwise.causes import chain as chain
from seamwise.causes import find as find
from seamwise.codec import codec as codec
from seamwise.codec import json_schema as json_schema
from seamwise.compose import bind_async as bind_async
from seamwise.compose import catch as catch
from seamwise.compose import catch_all as catch_all
from seamwise.compose import flow as flow
from seamwise.compose import map_async as map_async
from seamwise.compose import tap as tap
from seamwise.compose import tap_error as tap_error
from seamwise.containers import Failure as Failure
from seamwise.containers import Result as Result
from seamwise.containers import Success as Success
from seamwise.containers import from_returns as from_returns
from seamwise.containers import is_failure as is_failure
from seamwise.containers import is_success as is_success
from seamwise.defects import DefectReport as DefectReport
from seamwise.defects import on_defect as on_defect
from seamwise.defects import report_defect as report_defect
from seamwise.edges import attempt as attempt
from seamwise.edges import caught as caught
from seamwise.edges import or_raise as or_raise
from seamwise.edges import refine as refine
from seamwise.edges import when as when
from seamwise.errors import TaggedError as TaggedError
from seamwise.internal import Internal as Internal
from seamwise.many import accumulate as accumulate
from seamwise.many import collect as collect
from seamwise.many import partition as partition
from seamwise.many_async import accumulate_async as accumulate_async
from seamwise.many_async import collect_async as collect_async
from seamwise.many_async import partition_async as partition_async
from seamwise.redaction import redact as redact
from seamwise.scope import Do as Do
from seamwise.scope import ScopeLeaked as ScopeLeaked
from seamwise.scope import fallible as fallible
from seamwise.secrets import Secret as Secret
from seamwise.texts import shown as shown
from seamwise.texts import text as text


def __getattr__(name: str) -> str:
    if name == '__version__':
        from importlib.metadata import version  # noqa: PLC0415 -- reads the disk, and is rarely used

        return version('seamwise')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
