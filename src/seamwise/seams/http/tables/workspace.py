"""What a failure of the set-up, which none is shown is to an HTTP client."""

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
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

WORKSPACE: Adapter[WorkspaceError, HttpError] = (
    on(ConfigUnreadable).hidden()
    | on(ConfigInvalid).hidden()
    | on(SkillInvalid).hidden()
    | on(SkillNameMismatch).hidden()
    | on(PluginFailed).hidden()
    | on(EditorInstallFailed).hidden()
    | on(NotARepository).hidden()
    | on(WorktreeExists).hidden()
    | on(WorktreeFailed).hidden()
)
