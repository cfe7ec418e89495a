"""JSON Pointers (RFC 6901): the path of a value in a JSON document, as one text."""

from collections.abc import Iterable


def json_pointer(path: Iterable[object]) -> str:
    """Return the pointer to a value, by its keys and indexes; the empty one is the document.

    >>> json_pointer(['tools', 'a/b', 0]), json_pointer([])
    ('/tools/a~1b/0', '')
    """
    return ''.join('/' + str(key).replace('~', '~0').replace('/', '~1') for key in path)


def pointer_keys(pointer: str) -> tuple[str, ...]:
    """Return the keys in a pointer, also in its form as a URI fragment (RFC 6901, 6).

    >>> pointer_keys('/tools/a~1b/0'), pointer_keys('')
    (('tools', 'a/b', '0'), ())
    >>> pointer_keys('#/first%20name'), pointer_keys('#')
    (('first name',), ())
    """
    if pointer.startswith('#'):
        from urllib.parse import unquote  # noqa: PLC0415 -- rarely needed

        pointer = unquote(pointer[1:])
    return tuple(key.replace('~1', '/').replace('~0', '~') for key in pointer.split('/')[1:])
