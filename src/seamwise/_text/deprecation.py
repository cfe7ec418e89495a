"""Deprecated names of public modules, which still work and warn."""

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple
from warnings import warn


class Deprecation(NamedTuple):
    """The new place of a name, and the versions of its deprecation.

    Attributes:
        new: Dotted name of the object that replaces the old name.
        since: First version in which the old name warns.
        removed_in: First version without the old name.
    """

    new: str
    since: str
    removed_in: str


def find_deprecated(module: str, name: str, deprecations: Mapping[str, Deprecation]) -> object:
    r"""Return the object of a deprecated name, with a `DeprecationWarning` for the caller's line.

    The `__getattr__` of a public module calls it (PEP 562):

    >>> import warnings
    >>> old = {'find': Deprecation('seamwise.find_cause', since='1.1', removed_in='2.0')}
    >>> def __getattr__(name: str) -> object:
    ...     return find_deprecated('seamwise', name, old)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter('always')
    ...     function = __getattr__('find')
    >>> print(function.__name__, caught[0].message, sep='\n')
    find_cause
    seamwise.find is deprecated since 1.1 and will be removed in 2.0: use seamwise.find_cause.

    Args:
        module: Name of the module that is asked for the name.
        name: The name.
        deprecations: The deprecated names of the module.

    Raises:
        AttributeError: The module has no such name.
    """
    deprecation = deprecations.get(name)
    if deprecation is None:
        raise AttributeError(f'module {module!r} has no attribute {name!r}')
    warn(
        f'{module}.{name} is deprecated since {deprecation.since} and will be removed in '
        f'{deprecation.removed_in}: use {deprecation.new}.',
        DeprecationWarning,
        # This function, and the `__getattr__` of the module.
        stacklevel=3,
    )
    new_module, _, new_name = deprecation.new.rpartition('.')
    value: object = getattr(import_module(new_module), new_name)
    return value
