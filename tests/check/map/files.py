"""Facts made by hand: a small shop, and whatever else the tests of the map need."""

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


def at(line: int) -> Location:
    return Location(line, 1, line, 2, '')


def made(
    line: int, *errors: str, ended: Sequence[str] = (), lost: Sequence[str] = ()
) -> ErrorSource:
    return called(line, '', *errors, ended=ended, lost=lost)


def called(
    line: int, callee: str, *errors: str, ended: Sequence[str] = (), lost: Sequence[str] = ()
) -> ErrorSource:
    return ErrorSource(at(line), callee, errors, tuple(ended), tuple(lost))


def shown(line: int, seam: str, *errors: str) -> SeamUse:
    return SeamUse(at(line), seam, errors)


def function(
    name: str,
    line: int,
    *entries: ErrorSource,
    out: Sequence[str] | None = None,
    shows: Sequence[SeamUse] = (),
    overrides: Sequence[str] = (),
) -> FunctionFacts:
    """Make a function; where `out` is not given, all comes out of it that no entry ends."""
    inferred = None if out is None else tuple(out)
    return FunctionFacts(name, at(line), None, inferred, entries, tuple(shows), tuple(overrides))


def kind(name: str, line: int, category: str = 'NOT_FOUND', tag: str = '') -> ClassFacts:
    return ClassFacts(name, at(line), tag or name.rpartition('.')[2], category)


SHOP = (
    FileFacts(
        'shop.errors',
        'shop/errors.py',
        classes=(
            kind(NO_ORDER, 4),
            kind(BUSY, 8, 'CAPACITY', 'Busy'),
            kind(DECLINED, 12, 'CONFLICT'),
        ),
    ),
    FileFacts(
        'shop.store',
        'shop/store.py',
        functions=(
            function('shop.store.load', 3, made(5, NO_ORDER), called(6, 'driver.fetch', BUSY)),
            function('shop.store.Store.find', 20, out=(NO_ORDER,)),
            function(
                'shop.store.Memory.find',
                30,
                made(31, NO_ORDER),
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
                called(16, 'shop.orders.order', NO_ORDER, BUSY, ended=[NO_ORDER]),
            ),
            function(
                'shop.orders.pay',
                21,
                called(22, 'shop.store.Store.find', NO_ORDER),
                made(23, DECLINED),
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
                called(15, 'shop.orders.order', NO_ORDER, BUSY, ended=[NO_ORDER, BUSY]),
                shows=[shown(17, 'http', NO_ORDER, BUSY)],
            ),
        ),
        seams=(SeamFacts('shop.web.TABLE', 'http', at(5), (NO_ORDER, BUSY, DECLINED)),),
    ),
)
"""`load` and `Memory.find` make NoSuchOrder, `driver.fetch` is of others; `order` goes to the web, `pay` nowhere."""
