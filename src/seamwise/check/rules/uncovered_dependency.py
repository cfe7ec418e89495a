"""# SW121: failures that no adapter covers

Cover the errors of each route of FastAPI, and those of its dependencies, in the adapter or the
function that answers for it: that of `@endpoint(adapter)`, else that of `install(app, adapter)`. A
failure of a dependency ends the request before the handler runs, so the errors of the handler do
not include it. `install` refuses a route with an error that is not covered, when the program
starts. The errors of commands belong to the adapter of `cli.main`.

```sh
pip install 'seamwise[http]' fastapi
```

```python
from typing import Annotated

from fastapi import Depends, FastAPI

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import endpoint, on


class SignedOut(TaggedError, category=Category.AUTHENTICATION, message='You are signed out.'):
    pass


class NoOrder(TaggedError, category=Category.NOT_FOUND, message='There is no order {number}.'):
    number: int


def current_user(session: str = '') -> Result[str, SignedOut]:
    return Success(session) if session else Failure(SignedOut())


ORDERS = on(NoOrder).responds(404, 'ORDER_NOT_FOUND')
ACCESS = on(SignedOut).responds(401, 'SIGNED_OUT')
app = FastAPI()
```

Reported:

```python
@app.get('/orders/{number}')
@endpoint(ORDERS)
def order(number: int, user: Annotated[str, Depends(current_user)]) -> Result[str, NoOrder]:
    return Success(user) if number == 1 else Failure(NoOrder(number))
```

Fixed:

```python
@app.get('/own-orders/{number}')
@endpoint(ORDERS | ACCESS)
def own_order(number: int, user: Annotated[str, Depends(current_user)]) -> Result[str, NoOrder]:
    return Success(user) if number == 1 else Failure(NoOrder(number))
```

| Dependency | Checked |
| --- | --- |
| `Depends(f)` or `Security(f)` in a parameter, as a default or in `Annotated` | yes |
| In an annotation with a name: `CurrentUser = Annotated[User, Depends(current_user)]` | yes |
| In `dependencies=[…]` of a route, a router or an application | yes |
| A dependency of a dependency | yes |
| An instance with `__call__`: `Depends(Guard())` | yes |
| A function that a call returns: `Depends(need('admin'))`, by the return type of `need` | yes |
| An instance or a function in a global variable: `Depends(guard)`, by its type | yes |
| Routes by a decorator (`app.get`, `router.websocket` …) or by `add_api_route` | yes |
| A function whose errors are not declared, or that is not in the checked files | no |
| Without `endpoint`, if no checked file calls `install` | no |

| Function | Checked |
| --- | --- |
| A route without `endpoint`, if a checked file calls `install` | yes |
| A route with `endpoint` | no: its error is a type error |
| A command of click or typer, or the function of `cli.main`, if a checked file calls it | yes |

If several applications call `install`, one of the adapters has to cover the error.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from seamwise.check.facts import DependencyUse, FileFacts, InstalledAdapter, RuleHit
from seamwise.check.rules.rule import Rule, join_class_names, short_name
from seamwise.check.typed_ast.channels import UNSPECIFIC

_HELP = (
    'Add an arm for it to the adapter of `endpoint` or `install`,'
    ' or handle the error in the dependency.'
)
_FUNCTION_HELP = (
    'Add an arm for it to the adapter, or a case to its function, or handle the error before it'
    ' is returned.'
)


def _find_uncovered_dependencies(
    files: Sequence[FileFacts],
) -> Iterator[tuple[FileFacts, RuleHit]]:
    program = _Program(files)
    reported: set[tuple[str, DependencyUse]] = set()
    for owner, covered in program.routes():
        if not UNSPECIFIC.isdisjoint(covered):
            continue
        for file, use in program.dependencies(owner):
            errors = [error for error in program.errors(use) if error not in covered]
            if errors and (file.path, use) not in reported:
                reported.add((file.path, use))
                message = (
                    f'{join_class_names(errors)} of `{short_name(use.dependency)}`'
                    f' {"is" if len(errors) == 1 else "are"} not covered by the adapter'
                    f' {"of `" + short_name(owner) + "`" if owner else "of the application"}.'
                )
                yield file, RuleHit('SW121', use.location, message, _HELP)
    yield from _find_uncovered_functions(files)


def _find_uncovered_functions(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Find routes and commands that return errors which the adapter of all of them lacks."""
    routes = list(chain.from_iterable(file.routes for file in files))
    answered = {route.function for route in routes if route.covered is not None}
    names = {route.function for route in routes} - answered
    installed = list(chain.from_iterable(file.installed_adapters for file in files))
    yield from _find_uncovered(files, names, installed, 'application')
    names = set(chain.from_iterable(file.commands for file in files))
    programs = list(chain.from_iterable(file.program_adapters for file in files))
    yield from _find_uncovered(files, names, programs, 'program')


def _find_uncovered(
    files: Sequence[FileFacts],
    names: Collection[str],
    adapters: Sequence[InstalledAdapter],
    owner: str,
) -> Iterator[tuple[FileFacts, RuleHit]]:
    # An adapter of unknown errors may cover any of them.
    covered = {error for adapter in adapters for error in adapter.covered or UNSPECIFIC}
    if not adapters or not UNSPECIFIC.isdisjoint(covered):
        return
    for file in files:
        for function in file.functions:
            if function.name not in names:
                continue
            errors = [error for error in function.declared or () if error not in covered]
            if errors:
                message = (
                    f'{join_class_names(errors)} of `{short_name(function.name)}`'
                    f' {"is" if len(errors) == 1 else "are"} not covered by the adapter'
                    f' of the {owner}.'
                )
                yield file, RuleHit('SW121', function.location, message, _FUNCTION_HELP)


class _Program:
    """Routes and dependencies of all files."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._files = files
        self._declared: dict[str, Sequence[str] | None] = {}
        for function in chain.from_iterable(file.functions for file in files):
            self._declared[function.name] = function.declared
            self._declared[f'{function.name}()'] = function.declared_by_returned
        self._uses: dict[str, list[tuple[FileFacts, DependencyUse]]] = {}
        for file in files:
            for use in file.dependency_uses:
                self._uses.setdefault(use.owner, []).append((file, use))

    def routes(self) -> Iterator[tuple[str, Collection[str]]]:
        """Yield the owners of dependencies, and the errors that their adapter covers."""
        adapters = [adapter for file in self._files for adapter in file.installed_adapters]
        # An adapter of unknown errors may cover any of them.
        installed = {error for adapter in adapters for error in adapter.covered or UNSPECIFIC}
        routes = [route for file in self._files for route in file.routes]
        answered = {route.function for route in routes if route.covered is not None}
        for route in routes:
            if route.covered is not None:
                yield route.function, route.covered
            elif adapters and route.function not in answered:
                yield route.function, installed
        if adapters:
            yield '', installed

    def dependencies(self, owner: str) -> Iterator[tuple[FileFacts, DependencyUse]]:
        """Yield the dependencies of a function, and theirs."""
        visited = {owner}
        owners = [owner]
        while owners:
            for file, use in self._uses.get(owners.pop(), ()):
                yield file, use
                for name in _functions(use.dependency):
                    if name not in visited:
                        visited.add(name)
                        owners.append(name)

    def errors(self, use: DependencyUse) -> Sequence[str]:
        """Return the errors that a dependency declares; empty if they are unknown."""
        if use.declared:
            return use.declared
        declared = map(self._declared.get, _functions(use.dependency))
        return next(filter(None, declared), ())


def _functions(dependency: str) -> Sequence[str]:
    """Return the names of the functions that FastAPI may call for a dependency."""
    class_name = dependency.removesuffix('()')
    method = '__init__' if class_name == dependency else '__call__'
    return dependency, f'{class_name}.{method}'


RULE = Rule(
    'SW121',
    'failures that no adapter covers',
    'error',
    __doc__ or '',
    check_program=_find_uncovered_dependencies,
)
