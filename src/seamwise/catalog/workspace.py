"""Errors of configuration files, skills, plugins, editors and repositories."""

from typing import TypeAlias

from seamwise._errors.categories import Category
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise.catalog.problem import Problem


class ConfigUnreadable(
    TaggedError, category=Category.CONFIGURATION, message='{path!r} cannot be read: {problem}.'
):
    """A configuration file is malformed at `line` and `column`, both counted from 1.

    Its author corrects it.
    """

    path: str
    line: int
    column: int
    problem: str


class ConfigInvalid(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The configuration in {path!r} is not valid.',
):
    """A configuration file is well-formed but invalid. Its author corrects all `problems`."""

    path: str
    problems: tuple[Problem, ...]


ConfigError: TypeAlias = ConfigUnreadable | ConfigInvalid


class SkillInvalid(
    TaggedError, category=Category.CONFIGURATION, message='The skill in {path!r} is not valid.'
):
    """The file of a skill is invalid. Its author corrects all `problems`."""

    path: str
    problems: tuple[Problem, ...]


class SkillNameMismatch(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The skill in {path!r} is named {actual!r}, not {expected!r}.',
):
    """The name of a skill differs from that of its folder. Its author renames one of them."""

    path: str
    expected: str
    actual: str


SkillError: TypeAlias = SkillInvalid | SkillNameMismatch


class PluginFailed(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The plugin {plugin!r} could not be loaded.',
):
    """A plugin failed while it was loaded. The operator updates or removes it."""

    plugin: str
    cause: Cause | None = None


class EditorInstallFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The extension for {editor} could not be installed.',
):
    """The installer of the editor failed. The user installs the extension manually."""

    editor: str
    cause: Cause | None = None


class NotARepository(
    TaggedError, category=Category.NOT_FOUND, message='{path!r} is not in a repository.'
):
    """The operation needs version control, but the folder has none.

    The user creates a repository or chooses another folder.
    """

    path: str


class WorktreeExists(
    TaggedError, category=Category.CONFLICT, message='There is a worktree {name!r} already.'
):
    """A worktree with this name exists. The caller uses it or chooses another name."""

    name: str


class WorktreeFailed(
    TaggedError, category=Category.EXECUTION, message='The worktree {name!r} could not be created.'
):
    """Git refused to create the worktree; see `output`. A person reads it and decides."""

    name: str
    output: str


RepositoryError: TypeAlias = NotARepository | WorktreeExists | WorktreeFailed

WorkspaceError: TypeAlias = (
    ConfigError | SkillError | PluginFailed | EditorInstallFailed | RepositoryError
)
