"""Real errors for the documents: run the calls of a recipe in a temporary workspace."""

import os
import resource
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typing_extensions import TypeIs

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure
from seamwise.documents.recipes import RECIPES, Calls
from seamwise.documents.shape import Example
from seamwise.documents.unions import CatalogError
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls


def has_recipe(kind: type[Any]) -> TypeIs[type[CatalogError]]:
    """Return whether a class is in the catalogue: each class of it has a recipe."""
    return kind in RECIPES.kinds


def build_example(kind: type[CatalogError]) -> tuple[TaggedError, Example]:
    """Return an error of a class, and a description of how it was made.

    Raises:
        OSError: No temporary workspace can be made.
        RuntimeError: The recipe is wrong: its calls do not fail with this error.
    """
    recipe = RECIPES[kind]
    if not isinstance(recipe, Calls):
        return recipe, Example(constructor=repr(recipe))
    error = _run(recipe)
    if type(error) is not kind or not isinstance(error, TaggedError):
        raise RuntimeError(f'The calls for {kind.__name__} returned {error!r}.')
    return error, _describe(recipe)


def _run(recipe: Calls) -> object:
    """Return the error of the last call, or its result if it did not fail."""
    with TemporaryDirectory(prefix='seamwise-') as folder:
        root = Path(folder)
        _write_files(root, recipe.files)
        host = Host(workspace_tools(Workspace(root)), mistake_limit=recipe.mistake_limit)
        lines = list(read_calls(BytesIO('\n'.join(recipe.lines).encode())))
        with _limit_handles(recipe.handles):
            result = [host.run(line) for line in lines][-1]
        return result.failure() if type(result) is Failure else result


def _write_files(root: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith('/'):
            path.mkdir()
        else:
            path.write_text(content, encoding='utf-8')


@contextmanager
def _limit_handles(count: int | None) -> Generator[None, None, None]:
    """Limit the number of files that the process can still open."""
    if count is None:
        yield
        return
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The free numbers are not one after the other if an earlier file was closed.
    free = [os.open(os.devnull, os.O_RDONLY) for _ in range(count + 1)]
    for number in free:
        os.close(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[-1], limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def _describe(recipe: Calls) -> Example:
    return Example(
        files=dict(recipe.files),
        options=(f'--mistake-limit {recipe.mistake_limit}',) if recipe.mistake_limit else (),
        circumstances=None if recipe.handles is None else 'the process cannot open more files',
        lines=recipe.lines,
    )
