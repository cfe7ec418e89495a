"""What can go wrong with the files that a program is set up by, and with the place where it works."""

from typing import TypeAlias

from seamwise.catalog.problem import Problem
from seamwise.categories import Category
from seamwise.causes import Cause
from seamwise.errors import TaggedError


class ConfigUnreadable(
    TaggedError, category=Category.CONFIGURATION, message='{path!r} cannot be read: {problem}.'
):
    """A configuration file is broken at `line` and `column`, both counted from 1. Whoever wrote it mends it there."""

    path: str
    line: int
    column: int
    problem: str


class ConfigInvalid(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The configuration in {path!r} is not valid.',
):
    """A configuration file can be read, but does not say what it must. Whoever wrote it mends every one of `problems`."""

    path: str
    problems: tuple[Problem, ...]


ConfigError: TypeAlias = ConfigUnreadable | ConfigInvalid


class SkillInvalid(
    TaggedError, category=Category.CONFIGURATION, message='The skill in {path!r} is not valid.'
):
    """A skill's file does not say what it must. Its author mends every one of `problems`."""

    path: str
    problems: tuple[Problem, ...]


class SkillNameMismatch(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The skill in {path!r} calls itself {actual!r}, not {expected!r}.',
):
    """A skill's name is not that of its folder. Its author renames one of the two."""

    path: str
    expected: str
    actual: str


SkillError: TypeAlias = SkillInvalid | SkillNameMismatch


class PluginFailed(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The plugin {plugin!r} could not be loaded.',
):
    """A plugin failed while it was loaded. Whoever runs the program updates it, or takes it out."""

    plugin: str
    cause: Cause | None = None


class EditorInstallFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The extension for {editor} could not be installed.',
):
    """The editor's own installer failed. The user installs the extension by hand."""

    editor: str
    cause: Cause | None = None


class NotARepository(
    TaggedError, category=Category.NOT_FOUND, message='{path!r} is in no repository.'
):
    """Something needs version control where there is none. The user makes a repository, or goes to another folder."""

    path: str


class WorktreeExists(
    TaggedError, category=Category.CONFLICT, message='There is a worktree {name!r} already.'
):
    """A worktree of this name stands. The caller uses it, or picks another name."""

    name: str


class WorktreeFailed(
    TaggedError, category=Category.EXECUTION, message='The worktree {name!r} could not be made.'
):
    """Git refused to make the worktree; `output` is what it said. Somebody reads it and decides."""

    name: str
    output: str


RepositoryError: TypeAlias = NotARepository | WorktreeExists | WorktreeFailed

WorkspaceError: TypeAlias = (
    ConfigError | SkillError | PluginFailed | EditorInstallFailed | RepositoryError
)
