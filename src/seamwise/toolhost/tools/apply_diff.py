"""`apply_diff`: apply a unified diff to one file, completely or not at all."""

from typing import Annotated

from msgspec import Struct

from seamwise.catalog.tools import DiffRejected, InvalidParameter
from seamwise.scope import Do, fallible
from seamwise.secrets import Secret
from seamwise.toolhost.arguments import ExampleValue
from seamwise.toolhost.text.editing import open_for_edit, save
from seamwise.toolhost.text.hunks import iter_edits, locate
from seamwise.toolhost.text.unified_diff import parse_diff
from seamwise.toolhost.workspace.paths import PathError, PathRequest
from seamwise.toolhost.workspace.workspace import Workspace


class ApplyDiff(Struct, frozen=True, kw_only=True):
    """The arguments of `apply_diff`; `path` is the file, whatever names the diff contains."""

    path: Annotated[str, ExampleValue('src/app.py')]
    diff: Annotated[str, ExampleValue('@@ -1 +1 @@\n-old line\n+new line\n')]


class Applied(Struct, frozen=True):
    """The numbers of applied hunks, and of the lines that they added and removed."""

    path: str
    hunks: int
    added: int
    removed: int


@fallible
def apply_diff(do: Do[PathError | DiffRejected], workspace: Workspace, args: ApplyDiff) -> Applied:
    """Apply a unified diff to a file in UTF-8.

    If any hunk cannot be located, nothing is written and the error names all such hunks.
    """
    request = PathRequest('apply_diff', args.path)
    hunks = do(
        parse_diff(args.diff).alt(
            lambda reason: InvalidParameter('apply_diff', 'diff', reason, Secret(args.diff))
        )
    )
    draft = do(open_for_edit(workspace, request))
    located = do(
        locate(hunks, draft.document).alt(
            lambda rejected: DiffRejected('apply_diff', args.path, rejected)
        )
    )
    # The last hunk with a `\ No newline at end of file` marker decides.
    newlines = [not hunk.ends_new for hunk in hunks if hunk.ends_old or hunk.ends_new]
    content = draft.document.apply_edits(
        iter_edits(located, draft.document), last_newline=newlines[-1] if newlines else None
    )
    do(save(workspace, request, draft, content))
    return Applied(
        path=args.path,
        hunks=len(hunks),
        added=sum(hunk.count('+') for hunk in hunks),
        removed=sum(hunk.count('-') for hunk in hunks),
    )
