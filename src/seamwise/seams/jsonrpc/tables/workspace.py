"""What a failure of the set-up is on JSON-RPC; plugins and editors are set up before there is a peer."""

from collections.abc import Mapping

from seamwise.catalog.workspace import (
    ConfigInvalid,
    ConfigUnreadable,
    EditorInstallFailed,
    NotARepository,
    PluginFailed,
    SkillInvalid,
    SkillNameMismatch,
    WorkspaceError,
    WorktreeExists,
    WorktreeFailed,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _workspace(to: Dialect) -> Adapter[WorkspaceError, Answer]:
    return (
        to.on(ConfigUnreadable).fails(model.WORKSPACE)
        | to.on(ConfigInvalid).fails(model.WORKSPACE)
        | to.on(SkillInvalid).fails(model.WORKSPACE)
        | to.on(SkillNameMismatch).fails(model.WORKSPACE)
        | to.on(PluginFailed).hidden()
        | to.on(EditorInstallFailed).hidden()
        | to.on(NotARepository).fails(model.WORKSPACE)
        | to.on(WorktreeExists).fails(model.WORKSPACE)
        | to.on(WorktreeFailed).fails(model.WORKSPACE)
    )


WORKSPACE: Mapping[Revision, Adapter[WorkspaceError, Answer]] = by_revision(_workspace)
