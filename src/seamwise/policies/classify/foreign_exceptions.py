"""Exceptions of libraries that may not be installed, recognized by their class names and frames."""

from traceback import walk_tb


def class_names(error: BaseException, *packages: str) -> frozenset[str]:
    """Return the names of the classes of an exception that belong to one of the packages.

    >>> sorted(class_names(BrokenPipeError(), 'builtins'))[:2]
    ['BaseException', 'BrokenPipeError']
    >>> class_names(BrokenPipeError(), 'openai')
    frozenset()
    """
    return frozenset(
        base.__name__
        for base in type(error).__mro__
        if any(_is_in(base.__module__, package) for package in packages)
    )


def is_raised_in(error: BaseException, module: str) -> bool:
    """Return whether an exception passed through a function of this module or package.

    It tells an invalid answer, which an SDK has rejected, from an equal exception of a bug.

    >>> import json
    >>> try:
    ...     json.loads('{')
    ... except ValueError as error:
    ...     print(is_raised_in(error, 'json'), is_raised_in(error, 'openai'))
    True False
    """
    names = (frame.f_globals.get('__name__') for frame, _ in walk_tb(error.__traceback__))
    return any(isinstance(name, str) and _is_in(name, module) for name in names)


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f'{package}.')
