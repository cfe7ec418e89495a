"""What a broken setup is to a planner."""

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
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

WORKSPACE: Adapter[WorkspaceError, ErrorInfo] = (
    on(ConfigUnreadable).classifies('CONFIGURATION_ERROR')
    | on(ConfigInvalid).classifies('CONFIGURATION_ERROR')
    | on(SkillInvalid).classifies('CONFIGURATION_ERROR')
    | on(SkillNameMismatch).classifies('CONFIGURATION_ERROR')
    | on(PluginFailed).classifies('CONFIGURATION_ERROR')
    | on(EditorInstallFailed).classifies('CONFIGURATION_ERROR')
    | on(NotARepository).classifies('CONFIGURATION_ERROR')
    | on(WorktreeExists).classifies('CONFIGURATION_ERROR')
    | on(WorktreeFailed).classifies('CONFIGURATION_ERROR')
)
