"""How a failure of the set-up looks at a terminal: as one of configuration, with its place in the file where that is known."""

from collections.abc import Iterator

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
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Place, Rendered


def _place(error: ConfigUnreadable) -> Place:
    return Place(error.path, error.line, error.column)


def _problems(error: ConfigInvalid | SkillInvalid) -> Iterator[str]:
    return hints.places(error.problems, whole='the file')


def _rename(error: SkillNameMismatch) -> str:
    return f'call it {error.expected!r}, or rename its folder {error.actual!r}.'


def _said(error: WorktreeFailed) -> Iterator[str]:
    return hints.last_words(error.output)


WORKSPACE: Adapter[WorkspaceError, Rendered] = (
    on(ConfigUnreadable).exits(78, place=_place)
    | on(ConfigInvalid).exits(78, hint=_problems)
    | on(SkillInvalid).exits(78, hint=_problems)
    | on(SkillNameMismatch).exits(78, hint=_rename)
    | on(PluginFailed).exits(78, hint='update the plugin, or take it out.')
    | on(EditorInstallFailed).exits(78, hint='install the extension by hand.')
    | on(NotARepository).exits(78, hint='make a repository there, or go to another folder.')
    | on(WorktreeExists).exits(78, hint='use it, or take another name.')
    | on(WorktreeFailed).exits(78, hint=_said)
)
