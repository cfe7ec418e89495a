"""How a failing store looks at a terminal."""

from seamwise.catalog.storage import RecordExists, RecordNotFound, StorageError, StoreClosed, StoreUnavailable
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered

STORAGE: Adapter[StorageError, Rendered] = (
    on(RecordNotFound).exits(66, hint='check the key, or store it first.')
    | on(RecordExists).exits(73, hint='change that one, or take another key.')
    | on(StoreClosed).exits(69, hint='open it again.')
    | on(StoreUnavailable).exits(69, hint=hints.later)
)
