"""Results in the fixture `returns`, which the pytest plugin of the package `returns` defines.

The fixture patches methods of its own classes, and traces their constructors. Ours override some
of the methods, and msgspec constructs them without a Python frame.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from types import FunctionType
from unittest import mock

from returns.contrib.pytest import plugin

from seamwise._results.containers import Failure, Success

_CLASSES: tuple[type, ...] = (Success, Failure)
_CONTAINERS = '_containers_to_patch'
"""Function of the plugin that lists the classes whose methods it patches."""


@contextmanager
def visible_results() -> Generator[None]:
    """Let `is_error_handled` and `assert_trace` of the fixture see results of this library."""
    own_containers: Callable[[], list[type]] = getattr(plugin, _CONTAINERS)
    metaclass = type(Success)
    construct: Callable[..., object] = metaclass.__call__
    # The tracer compares code objects, so each class has its own.
    constructors = {class_: _named_constructor(class_.__name__) for class_ in _CLASSES}

    def call(class_: type, *args: object) -> object:
        constructor = constructors.get(class_, _construct)
        return constructor(construct, class_, *args)

    def containers() -> list[type]:
        return [*own_containers(), *_CLASSES]

    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(plugin, _CONTAINERS, containers))
        patches.enter_context(mock.patch.object(metaclass, '__call__', call))
        for class_, constructor in constructors.items():
            patches.enter_context(
                mock.patch.object(class_, '__code__', constructor.__code__, create=True)
            )
        yield


def _construct(construct: Callable[..., object], class_: type, *args: object) -> object:
    return construct(class_, *args)


def _named_constructor(name: str) -> FunctionType:
    return FunctionType(_construct.__code__.replace(co_name=name), globals())
