"""Makes a real error by its recipe: runs the calls in a workspace of their own, which is gone afterwards."""

import os
import resource
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from seamwise.containers import Failure
from seamwise.documents.recipes import RECIPES
from seamwise.documents.recipes.recipe import Calls
from seamwise.documents.shape import Example
from seamwise.errors import TaggedError
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls
from seamwise.toolhost.workspace.workspace import Workspace


def made(kind: type[TaggedError]) -> tuple[TaggedError, Example]:
    """Make an error of a kind, and tell how. Raises OSError where no workspace can be made."""
    recipe = RECIPES[kind]
    if not isinstance(recipe, Calls):
        return recipe, Example(constructor=repr(recipe))
    error = _failed(recipe)
    if type(error) is not kind:
        raise RuntimeError(f'The calls for {kind.__name__} gave {error!r}.')
    return error, _told(recipe)


def _failed(recipe: Calls) -> object:
    with TemporaryDirectory(prefix='seamwise-') as folder:
        root = Path(folder)
        _lay_out(root, recipe.files)
        host = Host(Workspace(root), mistake_limit=recipe.mistake_limit)
        lines = list(read_calls(BytesIO('\n'.join(recipe.lines).encode())))
        with _handles(recipe.handles):
            result = [host.run(line) for line in lines][-1]
        return result.failure() if type(result) is Failure else result


def _lay_out(root: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith('/'):
            path.mkdir()
        else:
            path.write_text(content, encoding='utf-8')


@contextmanager
def _handles(count: int | None) -> Generator[None, None, None]:
    """Let the process open so many files more, and no more."""
    if count is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free + count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _told(recipe: Calls) -> Example:
    return Example(
        files=dict(recipe.files),
        options=(f'--mistake-limit {recipe.mistake_limit}',) if recipe.mistake_limit else (),
        circumstances=None if recipe.handles is None else 'the process may open no more files',
        lines=recipe.lines,
    )
