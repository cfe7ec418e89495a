"""What a model can do next where somebody broke into its answer."""

from seamwise.catalog.streaming import UserInterrupted
from seamwise.seams._phrases import excerpt
from seamwise.seams.model.suggestions._words import EXCERPT_LIMIT


def user_interrupted(error: UserInterrupted) -> str:
    """Hand on what the user said."""
    if not error.feedback:
        return 'Stop what you were doing and ask the user how to go on.'
    return f'Stop what you were doing and work on what the user says: {excerpt(error.feedback, EXCERPT_LIMIT)}'
