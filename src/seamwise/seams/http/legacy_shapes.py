"""Names and keys of the errors whose legacy bodies are an older public contract."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from seamwise.seams.http.shape import HttpError
from seamwise.secrets import MASK

_PROBLEMS = 'problems'


class LegacyShape(Struct, frozen=True):
    """The body of one error in the older contract.

    Attributes:
        name: The name of the error there.
        keys: The key of each field there. A required text that the answer hides is the mask.
        optional: The fields that are left out if the answer does not have them.
        left_out: The fields that the contract does not have; the message contains them.
        has_message: Whether the body has a `message`.
    """

    name: str
    keys: Mapping[str, str]
    optional: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    has_message: bool = True

    def fits(self, fields: Mapping[str, object]) -> bool:
        """Return whether fields are those of the error, and not of one with the same tag."""
        return fields.keys() <= self.keys.keys() | self.left_out


SHAPES: Mapping[str, LegacyShape] = MappingProxyType(
    {
        'ProviderModelNotFoundError': LegacyShape(
            'ProviderModelNotFoundError',
            {'provider': 'providerID', 'model': 'modelID', 'suggestions': 'suggestions'},
            optional=frozenset({'suggestions'}),
            has_message=False,
        ),
        'ProviderInitError': LegacyShape(
            'ProviderInitError', {'provider': 'providerID'}, has_message=False
        ),
        'McpConnectionFailed': LegacyShape(
            'MCPFailed', {'server': 'name'}, left_out=frozenset({'reason'}), has_message=False
        ),
        'SessionNotFound': LegacyShape('SessionNotFoundError', {'session': 'sessionID'}),
        'SessionBusy': LegacyShape('SessionBusyError', {'session': 'sessionID'}),
        'ConfigUnreadable': LegacyShape(
            'ConfigJsonError',
            {'path': 'path'},
            left_out=frozenset({'line', 'column', 'problem'}),
        ),
        'ConfigInvalid': LegacyShape(
            'ConfigInvalidError',
            {'path': 'path', _PROBLEMS: 'issues'},
            optional=frozenset({_PROBLEMS}),
        ),
        'BadRequest': LegacyShape('BadRequest', {'kind': 'kind'}, left_out=frozenset({'errors'})),
    }
)
"""The errors by tag. All others have their tag, the message and their details."""


def legacy_form(error: HttpError) -> tuple[str, dict[str, object]]:
    """Return the name and the data of an error in the legacy contract.

    >>> from seamwise.catalog.models import ModelNotFound
    >>> from seamwise.seams.http.tables import MODELS
    >>> legacy_form(MODELS(ModelNotFound('acme', 'large-2', ('large-3',))))[1]
    {'providerID': 'acme', 'modelID': 'large-2', 'suggestions': ['large-3']}
    """
    shape = SHAPES.get(error.type)
    if shape is None or not shape.fits(error.details):
        return error.type, {'message': error.message, **error.details}
    data: dict[str, object] = {'message': error.message} if shape.has_message else {}
    for field, key in shape.keys.items():
        if field in error.details:
            value = error.details[field]
            data[key] = _issues(value) if field == _PROBLEMS else value
        elif field not in shape.optional:
            data[key] = MASK
    return shape.name, data


def _issues(problems: object) -> list[dict[str, object]]:
    """Return problems with the parts of their JSON Pointers (RFC 6901) as `path`."""
    return [
        {'message': problem['message'], 'path': _parts(problem['pointer'])}
        for problem in cast('list[dict[str, Any]]', problems)
    ]


def _parts(pointer: str) -> list[str]:
    return [part.replace('~1', '/').replace('~0', '~') for part in pointer.split('/')[1:]]
