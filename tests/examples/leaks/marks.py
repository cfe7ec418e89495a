"""Marked secrets, and the search for them in a text."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Final

NAMES: Final = (
    # Requests of the shop
    *('bearer', 'basic', 'cookie', 'api_key_header', 'query', 'path', 'form', 'body'),
    *('broken_body', 'missing_field', 'sku'),
    # Settings, environment and the answers of other services
    *('bank_url', 'bank_body', 'bank_reason', 'bank_header', 'dsn', 'environment'),
    # Exceptions
    *('message', 'bytes', 'cause', 'context', 'note', 'group', 'attribute', 'file_name'),
    *('command', 'output', 'key', 'json', 'percent', 'validation', 'row', 'rows', 'literal'),
    *('private_key', 'local', 'local_mapping', 'local_record', 'deep_local', 'long_text'),
    # Errors of the catalogue and of the program
    *('field', 'nested_field', 'secret_field', 'internal_field', 'error_in_error'),
    *('error_in_success', 'error_cause'),
    # Records of logging and structlog
    *('log_argument', 'log_extra', 'structlog_event'),
    # The agent
    *('tool_argument', 'tool_bytes', 'tool_base64', 'tool_failure', 'tool_phrase'),
    *('unknown_tool', 'invalid_argument', 'unreadable_call', 'provider_answer', 'live_token'),
    *('mcp_argument', 'mcp_phrase', 'mcp_invalid', 'mcp_unknown', 'mcp_environment'),
    *('command_output', 'command_environment'),
)

LITERAL: Final = 'quokka99zebra99'
"""The mark in a line of source code, which has to be written out."""


def mark(name: str) -> str:
    """Return the secret of a place: a text that occurs nowhere else."""
    if name == 'literal':
        return LITERAL
    number = NAMES.index(name)
    return f'quokka{number:02}zebra{number:02}'


def found(output: str) -> set[str]:
    """Return the names of the secrets of which an output has a half, in any encoding."""
    return {name for name in NAMES if any(form in output for form in _forms(mark(name)))}


def _forms(value: str) -> Iterator[str]:
    """Yield the halves of a secret, and the secret in base64 behind other bytes.

    It has letters and digits only, so that `repr`, JSON, bytes and percent-encoding keep it.
    """
    yield value[: len(value) // 2 + 1]
    yield value[len(value) // 2 + 1 :]
    for offset in range(3):
        encoded = b64encode(bytes(offset) + value.encode()).decode()
        yield encoded[-(-offset * 8 // 6) : (offset + len(value)) * 8 // 6]
