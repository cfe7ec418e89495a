"""Base class of the builders that `on` of a seam returns, with the arm that all of them share."""

from typing import Generic, TypeVar

from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Adapter, Hidden

K = TypeVar('K', bound=TaggedError)
S = TypeVar('S')


class ArmBuilder(Generic[K, S]):
    """Base class of the builders: the error classes of one arm, and its seam.

    For a single class, a subclass adds the verb of its seam.

    Raises:
        TypeError: A class is no tagged error.
    """

    __slots__ = ('_kinds', '_seam')

    def __init__(self, kinds: tuple[type[TaggedError], ...], seam: str) -> None:
        for kind in kinds:
            # Code that is not type-checked may pass any class.
            if not issubclass(kind, TaggedError):
                raise TypeError(
                    f'`on` of the {seam} seam takes a class of tagged errors, not {kind!r}. '
                    'Turn exceptions into tagged errors first, with `attempt` or `caught`.'
                )
        self._kinds = kinds
        self._seam = seam

    def hidden(self) -> Adapter[K, S]:
        """Declare that these errors never reach the seam; one that does is a defect."""
        return Adapter({kind: Hidden(kind, self._seam) for kind in self._kinds})
