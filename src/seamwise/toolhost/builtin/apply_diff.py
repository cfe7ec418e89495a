"""`apply_diff`: apply a unified diff to one file, completely or not at all."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from seamwise._results.scope import Do, fallible
from seamwise._text.secrets import Secret
from seamwise.catalog.tools import ContentMismatch, DiffRejected, InvalidParameter
from seamwise.toolhost.builtin.text.document import Document
from seamwise.toolhost.builtin.text.editing import open_for_edit, save
from seamwise.toolhost.builtin.text.hunks import iter_edits, locate
from seamwise.toolhost.builtin.text.unified_diff import Hunk, added_line_end, parse_diff
from seamwise.toolhost.builtin.time_limit import OutOfTime, TimeLimit
from seamwise.toolhost.builtin.workspace.atomic_write import create_file
from seamwise.toolhost.builtin.workspace.paths import PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.schema.arguments import Example


class ApplyDiff(Struct, frozen=True, kw_only=True):
    """The arguments of `apply_diff`.

    Attributes:
        path: The file, relative to the workspace.
        diff: A unified diff of this file; the file names in it are ignored.
    """

    path: Annotated[str, Example('src/app.py')]
    diff: Annotated[str, Example('@@ -1 +1 @@\n-old line\n+new line\n')]


class Applied(Struct, frozen=True, omit_defaults=True):
    """The effect of a diff.

    Attributes:
        path: The file, as in the arguments.
        hunks: The number of applied hunks.
        added: The number of added lines.
        removed: The number of removed lines.
        created: Whether the file is new; left out if it is not.
    """

    path: str
    hunks: int
    added: int
    removed: int
    created: bool = False


@fallible
def apply_diff(
    do: Do[PathError | DiffRejected | ContentMismatch], workspace: Workspace, args: ApplyDiff
) -> Applied:
    """Apply a unified diff to a file in UTF-8, or create the file (`@@ -0,0 …`).

    If any hunk cannot be located, nothing is written and the error names all such hunks.
    """
    limit = TimeLimit()
    request = PathRequest('apply_diff', args.path)
    hunks = do(
        parse_diff(args.diff).alt(
            lambda reason: InvalidParameter('apply_diff', 'diff', reason, Secret(args.diff))
        )
    )
    line_end = added_line_end(args.diff)
    created = False
    if all(hunk.is_creation for hunk in hunks):
        content = do(_patch(request, hunks, Document('', line_end=line_end), limit))
        created = do(_create(workspace, request, content, limit))
    if not created:
        with do(open_for_edit(workspace, request, limit, line_end=line_end)) as draft:
            content = do(_patch(request, hunks, draft.document, limit))
            do(save(workspace, request, draft, content))
    return Applied(
        path=args.path,
        hunks=len(hunks),
        added=sum(hunk.count('+') for hunk in hunks),
        removed=sum(hunk.count('-') for hunk in hunks),
        created=created,
    )


@fallible
def _patch(
    do: Do[PathError | DiffRejected],
    request: PathRequest,
    hunks: Sequence[Hunk],
    document: Document,
    limit: TimeLimit,
) -> str:
    """Return the content of a file after the diff."""
    try:
        result = locate(hunks, document, limit)
    except OutOfTime as error:
        do.fail(request.error_for(error))
    located = do(result.alt(lambda hunks: DiffRejected(request.tool, request.path, hunks)))
    # The last hunk with a `\ No newline at end of file` marker decides.
    newlines = [not hunk.ends_new for hunk in hunks if hunk.ends_old or hunk.ends_new]
    return document.apply_edits(
        iter_edits(located, document), last_newline=newlines[-1] if newlines else None
    )


@fallible
def _create(
    do: Do[PathError], workspace: Workspace, request: PathRequest, content: str, limit: TimeLimit
) -> bool:
    """Create a file and its missing parent folders; return False if the path exists."""
    location = do(workspace.locate(request, limit, writing=True))
    if location.exists:
        return False
    try:
        create_file(workspace, location, content.encode())
    except FileExistsError:
        return False
    except OSError as error:
        do.fail(request.error_for(error))
    return True
