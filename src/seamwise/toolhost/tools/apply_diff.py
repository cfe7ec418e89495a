"""`apply_diff`: a unified diff, applied to one file as a whole or not at all."""

from typing import Annotated

from msgspec import Struct

from seamwise.catalog.tools import DiffRejected, InvalidParameter
from seamwise.scope import Do, fallible
from seamwise.secrets import Secret
from seamwise.toolhost.arguments import Example
from seamwise.toolhost.text.editing import open_for_edit, save
from seamwise.toolhost.text.hunks import edits, locate
from seamwise.toolhost.text.unified_diff import parse
from seamwise.toolhost.workspace.paths import PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace


class ApplyDiff(Struct, frozen=True, kw_only=True):
    """The arguments of `apply_diff`; the names in the diff are not believed, `path` is."""

    path: Annotated[str, Example('src/app.py')]
    diff: Annotated[str, Example('@@ -1 +1 @@\n-old line\n+new line\n')]


class Applied(Struct, frozen=True):
    """How many hunks were applied, and how many lines they added and removed."""

    path: str
    hunks: int
    added: int
    removed: int


@fallible
def apply_diff(do: Do[Trouble | DiffRejected], workspace: Workspace, args: ApplyDiff) -> Applied:
    """Apply a unified diff to a UTF-8 file. One hunk without a certain place, and nothing is written; all such are named."""
    asked = PathRequest('apply_diff', args.path)
    hunks = do(
        parse(args.diff).alt(
            lambda reason: InvalidParameter('apply_diff', 'diff', reason, Secret(args.diff))
        )
    )
    draft = do(open_for_edit(workspace, asked))
    placed = do(
        locate(hunks, draft.document).alt(
            lambda rejected: DiffRejected('apply_diff', args.path, rejected)
        )
    )
    says_end = [not one.ends_new for one in hunks if one.ends_old or one.ends_new]
    content = draft.document.edited(
        edits(placed, draft.document), last_newline=says_end[-1] if says_end else None
    )
    do(save(workspace, asked, draft, content))
    return Applied(
        args.path,
        len(hunks),
        sum(one.count('+') for one in hunks),
        sum(one.count('-') for one in hunks),
    )
