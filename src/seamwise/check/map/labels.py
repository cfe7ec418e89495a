"""What a drawing calls the things on it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from seamwise.check.map.edges import shown_in
from seamwise.check.map.graph import Fate, Function, Graph

MOST = 12
"""An edge names so many errors, and of more than that how many there are."""

MAKES: Mapping[Fate, str] = {
    'passes': 'makes',
    'handled': 'makes and handles',
    'lost': 'makes and loses',
}


def error_labels(graph: Graph) -> Mapping[str, str]:
    """Give each error the name of its class, and its full name where two classes are called the same."""
    short = {one.name: one.name.rpartition('.')[2] for one in graph.errors}
    count = Counter(short.values())
    return {name: label if count[label] == 1 else name for name, label in short.items()}


def function_label(function: Function) -> str:
    """Give the name inside of its module; of a foreign function, all of it.

    >>> function_label(Function('shop.orders.Orders.find', 'shop.orders'))
    'Orders.find'
    """
    return function.name.removeprefix(f'{function.module}.') if function.module else function.name


def listed(errors: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Give the names of errors, a line each, and a last line where there are too many.

    >>> listed(map(str, range(100)), {str(one): str(one) for one in range(100)})[-2:]
    ['11', '… 88 more']
    """
    names = [labels[one] for one in errors]
    return names if len(names) <= MOST else [*names[:MOST], f'… {len(names) - MOST} more']


def by_module(graph: Graph) -> Mapping[str, list[Function]]:
    """Give the functions of each module; the foreign ones are of none, which is ''."""
    found: defaultdict[str, list[Function]] = defaultdict(list)
    for one in graph.functions:
        found[one.module].append(one)
    return dict(sorted(found.items()))


def made_in(graph: Graph) -> Mapping[str, list[str]]:
    """Say of each function what it makes, a line an error."""
    labels = error_labels(graph)
    found: defaultdict[str, defaultdict[Fate, set[str]]] = defaultdict(lambda: defaultdict(set))
    shown = shown_in(graph)
    for make in graph.makes:
        for error in make.errors:
            is_shown = make.fate == 'handled' and error in shown[make.function]
            found[make.function]['passes' if is_shown else make.fate].add(error)
    return {
        function: [
            f'{word} {name}'
            for fate, word in MAKES.items()
            for name in listed(sorted(by_fate[fate]), labels)
        ]
        for function, by_fate in found.items()
    }
