"""What a session is sent of a program that is set up wrongly: its user may be the one who can mend it."""

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
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

WORKSPACE: Adapter[WorkspaceError, ErrorEvent] = (
    on(ConfigUnreadable).publishes('error.permanent', 'ERR_CONFIG_001')
    | on(ConfigInvalid).publishes('error.permanent', 'ERR_CONFIG_002')
    | on(SkillInvalid).publishes('error.permanent', 'ERR_SKILL_001')
    | on(SkillNameMismatch).publishes('error.permanent', 'ERR_SKILL_002')
    | on(PluginFailed).publishes('error.permanent', 'ERR_PLUGIN_001')
    | on(EditorInstallFailed).hidden()
    | on(NotARepository).publishes('error.permanent', 'ERR_REPO_001')
    | on(WorktreeExists).publishes('error.permanent', 'ERR_REPO_002')
    | on(WorktreeFailed).publishes('error.permanent', 'ERR_REPO_003')
)
