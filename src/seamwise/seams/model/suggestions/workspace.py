"""What a model can do next about the files that set a program up, and the place where it works."""

from seamwise.catalog.workspace import (
    ConfigInvalid,
    ConfigUnreadable,
    NotARepository,
    SkillInvalid,
    SkillNameMismatch,
    WorktreeExists,
    WorktreeFailed,
)
from seamwise.seams.model.suggestions._words import places


def config_unreadable(error: ConfigUnreadable) -> str:
    """Point to the place."""
    return f'Read {error.path!r} around line {error.line}, column {error.column}, and mend it there if it is yours to change.'


def config_invalid(error: ConfigInvalid) -> str:
    """Name every place to mend."""
    return f'Mend {places(error.problems, "the file itself")} in {error.path!r} if it is yours to change, else tell the user.'


def skill_invalid(error: SkillInvalid) -> str:
    """Name every place to mend."""
    return f'Go on without the skill, or mend {places(error.problems, "the file itself")} in {error.path!r}.'


def skill_name_mismatch(error: SkillNameMismatch) -> str:
    """Tell the two ways out."""
    return f'Set its name to {error.expected!r}, or rename its folder to {error.actual!r}.'


def not_a_repository(_: NotARepository) -> str:
    """Tell the two ways out."""
    return 'Go to a folder that is in a repository, or ask the user whether to make one here.'


def worktree_exists(error: WorktreeExists) -> str:
    """Tell the two ways out."""
    return f'Work in {error.name!r} if it is the one that you mean, or take another name.'


def worktree_failed(error: WorktreeFailed) -> str:
    """Tell where to look."""
    if not error.output:
        return 'Git wrote nothing that says why; look at the state of the repository.'
    return 'Mend what git says in the output and try again.'
