"""The codes of the session's wire: one a class, each with a line that explains it."""

from collections.abc import Mapping
from re import fullmatch

CODES: Mapping[str, str] = {
    'ERR_VAL_002': 'A tool was called without a parameter that it needs.',
    'ERR_VAL_003': 'A tool was called with a parameter that it does not know, or with a value that it cannot take.',
    'ERR_VAL_004': 'A tool gave a result that breaks its own schema; whoever owns the tool has to mend it.',
    'ERR_TIMEOUT_001': 'A tool was stopped because it did not end in time.',
    'ERR_TIMEOUT_002': 'A command was killed, with all its children, because it did not end in time.',
    'ERR_TOOL_001': 'No tool of this name is registered.',
    'ERR_TOOL_002': 'A tool met a trouble of the machine that it could not mend.',
    'ERR_TOOL_003': 'A person stopped this call.',
    'ERR_TOOL_004': 'A tool cannot be registered as it describes itself.',
    'ERR_FILE_001': 'No file or folder has this path.',
    'ERR_FILE_002': 'A file stands where a new one was to be made.',
    'ERR_FILE_003': 'The workspace does not allow this path.',
    'ERR_CONTENT_001': 'The text to replace is not in the file.',
    'ERR_CONTENT_002': 'Another text than the expected one stands at this line.',
    'ERR_CONTENT_003': 'The text to replace stands in the file more than once.',
    'ERR_CONTENT_004': 'A diff does not fit its file, so nothing was written.',
    'ERR_COMMAND_001': 'A command ended with another exit code than 0.',
    'ERR_STATE_001': 'The same calls came again and again, and were refused.',
    'ERR_STATE_002': 'Too many mistakes were made in a row.',
    'ERR_RESOURCE_001': 'The machine has run out of memory, disk, threads or handles.',
    'ERR_PARSE_001': 'The text of a call cannot be read.',
    'ERR_PARSE_002': 'The text holds no call in any known format.',
    'ERR_PARSE_003': 'The text was read, but has not the shape of a call.',
    'ERR_INTERNAL_001': 'The server met a defect of its own; its log tells more under the reference.',
}
"""Every code that this library publishes. `ERR_VAL_001` is kept for a constraint on a user's input."""


def checked(code: str) -> str:
    """Give back a code of the wire's form, `ERR_`, a word in capitals, three digits; any other is a ValueError."""
    if not fullmatch(r'ERR_[A-Z]+_[0-9]{3}', code):
        raise ValueError(f'{code!r} is no code of a session: one looks like ERR_VAL_001.')
    return code
