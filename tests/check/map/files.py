"""Builders of facts for the tests of the map, and the facts of a small shop."""

from collections.abc import Sequence

from seamwise.check.facts import (
    ClassFacts,
    ErrorSource,
    FileFacts,
    FunctionFacts,
    Location,
    SeamFacts,
    SeamUse,
)

NO_ORDER, BUSY, DECLINED = (
    'shop.errors.NoSuchOrder',
    'shop.errors.StoreBusy',
    'shop.errors.CardDeclined',
)


def location(line: int) -> Location:
    return Location(line, 1, line, 2, '')


def created(
    line: int, *errors: str, handled: Sequence[str] = (), lost: Sequence[str] = ()
) -> ErrorSource:
    return called(line, '', *errors, handled=handled, lost=lost)


def called(
    line: int, callee: str, *errors: str, handled: Sequence[str] = (), lost: Sequence[str] = ()
) -> ErrorSource:
    return ErrorSource(location(line), callee, errors, tuple(handled), tuple(lost))


def seam_use(line: int, seam: str, *errors: str) -> SeamUse:
    return SeamUse(location(line), seam, errors)


def function(
    name: str,
    line: int,
    *sources: ErrorSource,
    inferred: Sequence[str] | None = None,
    seam_uses: Sequence[SeamUse] = (),
    overrides: Sequence[str] = (),
) -> FunctionFacts:
    """Return the facts of a function; without `inferred`, it returns all unhandled errors."""
    errors = None if inferred is None else tuple(inferred)
    return FunctionFacts(
        name, location(line), None, errors, sources, tuple(seam_uses), tuple(overrides)
    )


def error_class(name: str, line: int, category: str = 'NOT_FOUND', tag: str = '') -> ClassFacts:
    return ClassFacts(name, location(line), tag or name.rpartition('.')[2], category)


SHOP = (
    FileFacts(
        'shop.errors',
        'shop/errors.py',
        classes=(
            error_class(NO_ORDER, 4),
            error_class(BUSY, 8, 'CAPACITY', 'Busy'),
            error_class(DECLINED, 12, 'CONFLICT'),
        ),
    ),
    FileFacts(
        'shop.store',
        'shop/store.py',
        functions=(
            function('shop.store.load', 3, created(5, NO_ORDER), called(6, 'driver.fetch', BUSY)),
            function('shop.store.Store.find', 20, inferred=(NO_ORDER,)),
            function(
                'shop.store.Memory.find',
                30,
                created(31, NO_ORDER),
                overrides=('shop.store.Store.find',),
            ),
            function('shop.store.size', 40),
        ),
    ),
    FileFacts(
        'shop.orders',
        'shop/orders.py',
        functions=(
            function('shop.orders.order', 7, called(9, 'shop.store.load', NO_ORDER, BUSY)),
            function(
                'shop.orders.or_new',
                15,
                called(16, 'shop.orders.order', NO_ORDER, BUSY, handled=[NO_ORDER]),
            ),
            function(
                'shop.orders.pay',
                21,
                called(22, 'shop.store.Store.find', NO_ORDER),
                created(23, DECLINED),
            ),
        ),
    ),
    FileFacts(
        'shop.web',
        'shop/web.py',
        functions=(
            function(
                'shop.web.get',
                14,
                called(15, 'shop.orders.order', NO_ORDER, BUSY, handled=[NO_ORDER, BUSY]),
                seam_uses=[seam_use(17, 'http', NO_ORDER, BUSY)],
            ),
        ),
        seams=(SeamFacts('shop.web.TABLE', 'http', location(5), (NO_ORDER, BUSY, DECLINED)),),
    ),
)
"""`load` and `Memory.find` create NoSuchOrder; `driver.fetch` is external.

The errors of `order` reach the web; `pay` has no caller.
"""
