"""What a language model is told of a broken setup that it can mend. Plugins and editors are for whoever runs the program."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import workspace as suggest

WORKSPACE: Adapter[WorkspaceError, Guidance] = (
    on(ConfigUnreadable).guides('file_operation_error', suggestion=suggest.config_unreadable)
    | on(ConfigInvalid).guides('file_operation_error', suggestion=suggest.config_invalid)
    | on(SkillInvalid).guides('file_operation_error', suggestion=suggest.skill_invalid)
    | on(SkillNameMismatch).guides('file_operation_error', suggestion=suggest.skill_name_mismatch)
    | on(PluginFailed).hidden()
    | on(EditorInstallFailed).hidden()
    | on(NotARepository).guides('file_operation_error', suggestion=suggest.not_a_repository)
    | on(WorktreeExists).guides('state_error', suggestion=suggest.worktree_exists)
    | on(WorktreeFailed).guides('execution_error', suggestion=suggest.worktree_failed)
)
