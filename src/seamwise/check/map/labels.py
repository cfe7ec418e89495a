"""Labels of errors and functions in drawings."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from seamwise.check.map.edges import errors_shown_by
from seamwise.check.map.graph import Fate, FunctionNode, Graph

_MAX_NAMES = 12
"""Number of errors named on an edge; the others are counted."""

_CREATION_LABELS: Mapping[Fate, str] = {
    'passes': 'creates',
    'handled': 'creates and handles',
    'lost': 'creates and loses',
}


def error_labels(graph: Graph) -> Mapping[str, str]:
    """Return a label for each error: its class name, or the full name if it is ambiguous."""
    labels = {error.name: error.name.rpartition('.')[2] for error in graph.errors}
    count = Counter(labels.values())
    return {name: label if count[label] == 1 else name for name, label in labels.items()}


def function_label(function: FunctionNode) -> str:
    """Return the name of a function within its module; the full name if it is external.

    >>> function_label(FunctionNode('shop.orders.Orders.find', 'shop.orders'))
    'Orders.find'
    """
    return function.name.removeprefix(f'{function.module}.') if function.module else function.name


def label_lines(errors: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Return the labels of errors, one a line, and the number of those beyond the maximum.

    >>> label_lines(map(str, range(100)), {str(number): str(number) for number in range(100)})[-2:]
    ['11', '… 88 more']
    """
    names = [labels[error] for error in errors]
    if len(names) <= _MAX_NAMES:
        return names
    return [*names[:_MAX_NAMES], f'… {len(names) - _MAX_NAMES} more']


def functions_by_module(graph: Graph) -> Mapping[str, list[FunctionNode]]:
    """Return the functions of each module; external functions have the module ''."""
    functions: defaultdict[str, list[FunctionNode]] = defaultdict(list)
    for function in graph.functions:
        functions[function.module].append(function)
    return dict(sorted(functions.items()))


def creation_lines(graph: Graph) -> Mapping[str, list[str]]:
    """Return for each function the errors that it creates, one a line."""
    labels = error_labels(graph)
    created: defaultdict[str, defaultdict[Fate, set[str]]] = defaultdict(lambda: defaultdict(set))
    shown = errors_shown_by(graph)
    for creation in graph.makes:
        for error in creation.errors:
            is_shown = creation.fate == 'handled' and error in shown[creation.function]
            created[creation.function]['passes' if is_shown else creation.fate].add(error)
    return {
        function: [
            f'{verb} {name}'
            for fate, verb in _CREATION_LABELS.items()
            for name in label_lines(sorted(errors_by_fate[fate]), labels)
        ]
        for function, errors_by_fate in created.items()
    }
