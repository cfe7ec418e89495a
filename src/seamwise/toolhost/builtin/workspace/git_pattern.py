"""One pattern in gitignore syntax, matched as git's `wildmatch` matches it.

The rules of a workspace must decide as git does, so this module follows the source of git (`dir.c`
and `wildmatch.c`), also where its documentation differs. The package `pathspec` would show some
paths that git hides, and needs many seconds for a pattern with eight stars. The regular
expressions here never backtrack exponentially: everything between two stars is an atomic group.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import cached_property
from typing import Final, TypeAlias, final

_SPECIAL: Final = re.compile(r'[*?\[\\]')

# The classes of git's own `ctype`, for ASCII only; `space` has no vertical tab and no form feed.
_POSIX_CLASSES: Final = {
    'alnum': ['09', 'AZ', 'az'],
    'alpha': ['AZ', 'az'],
    'blank': ['\t\t', '  '],
    'cntrl': ['\0\x1f', '\x7f\x7f'],
    'digit': ['09'],
    'graph': ['!~'],
    'lower': ['az'],
    'print': [' ~'],
    'punct': ['!/', ':@', '[`', '{~'],
    'space': ['\t\n', '\r\r', '  '],
    'upper': ['AZ'],
    'xdigit': ['09', 'AF', 'af'],
}


class _Wildcard(Enum):
    """A part of a pattern that matches any number of characters."""

    STAR = auto()
    """Any characters but slashes."""
    FOLDERS = auto()
    """Any number of folders, each with its slash (`**/`)."""
    SOME_FOLDERS = auto()
    r"""One folder or more, each with its slash (`**\/`)."""
    REST = auto()
    """Any characters up to the end (`/**`)."""


_OPENINGS: Final = {
    _Wildcard.FOLDERS: '(?:[^/]*/)*?',
    _Wildcard.SOME_FOLDERS: '(?:[^/]*/)+?',
    _Wildcard.REST: r'[\s\S]*',
}

_Token: TypeAlias = str | _Wildcard
"""A wildcard, or the regular expression of one character."""


class PatternError(ValueError):
    """The pattern is malformed, so git matches nothing with it."""


@final
class GitPattern:
    """A pattern for a path, or for the last name of a path if it contains no slash.

    >>> pattern = GitPattern('!docs/*.md')
    >>> pattern.is_negated, pattern.matches('docs/a.md'), pattern.matches('docs/a/b.md')
    (True, True, False)

    Args:
        text: The pattern, without the spaces that git removes from its end.

    Raises:
        PatternError: the pattern is malformed.
    """

    def __init__(self, text: str) -> None:
        self.is_negated = text.startswith('!')
        """Whether a matching path is not ignored."""
        body = text.removeprefix('!')
        self.is_for_folders = body.endswith('/')
        """Whether the pattern applies to folders only."""
        body = body.removesuffix('/')
        self.is_for_names = '/' not in body
        """Whether the pattern applies to the last name of a path."""
        self._body = body.removeprefix('/')
        special = _SPECIAL.search(self._body)
        self._prefix = self._body if special is None else self._body[: special.start()]
        self._is_literal = special is None
        self._is_suffix = self._body.startswith('*') and not _SPECIAL.search(self._body, 1)
        if not self._is_literal:
            # Report a malformed pattern now, although the expression is compiled when it is used.
            self._expression = self._translate()

    def matches(self, path: str) -> bool:
        """Return whether the pattern matches a path, or its last name, completely."""
        subject = path.rpartition('/')[2] if self.is_for_names else path
        if self._is_literal:
            return subject == self._body
        if self._is_suffix and self.is_for_names:
            return subject.endswith(self._body[1:])
        return self._compiled.match(subject) is not None

    @property
    def expression(self) -> str:
        """The regular expression for the whole subject, without its end."""
        return re.escape(self._body) if self._is_literal else self._expression

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._expression + r'\Z')

    def _translate(self) -> str:
        if self.is_for_names:
            return _join(list(_tokens(self._body, in_path=False)))
        # Git compares the start without wildcards first, and matches the rest on its own. A `**`
        # behind it is therefore at the start of the pattern, also in `folder/a**`.
        rest = self._body[len(self._prefix) :]
        return re.escape(self._prefix) + _join(list(_tokens(rest, in_path=True)))


def _tokens(pattern: str, *, in_path: bool) -> Iterator[_Token]:
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == '*':
            wildcard, position = _stars(pattern, position, in_path=in_path)
            yield wildcard
        elif character == '?':
            yield '[^/]'
            position += 1
        elif character == '[':
            expression, position = _character_class(pattern, position + 1)
            yield expression
        else:
            if character == '\\':
                position += 1
                if position == len(pattern):
                    raise PatternError(f'{pattern!r} ends in a backslash')
            yield re.escape(pattern[position])
            position += 1


def _stars(pattern: str, start: int, *, in_path: bool) -> tuple[_Wildcard, int]:
    """Return the meaning of the stars at a position, and the position behind them.

    Two stars or more are one star, except as a whole name of a path.
    """
    end = start + 1
    while pattern.startswith('*', end):
        end += 1
    if in_path and end - start > 1 and (start == 0 or pattern[start - 1] == '/'):
        if end == len(pattern):
            return _Wildcard.REST, end
        if pattern[end] == '/':
            return _Wildcard.FOLDERS, end + 1
        if pattern.startswith('\\/', end):
            return _Wildcard.SOME_FOLDERS, end + 2
    return _Wildcard.STAR, end


def _join(tokens: list[_Token]) -> str:
    """Return the regular expression of tokens.

    The shortest match of everything between two stars is always sufficient: the second star
    matches what follows. Only the text behind the last star has to reach the end.
    """
    units: list[list[str]] = [['']]
    openings = ['']
    for token in tokens:
        if isinstance(token, str):
            units[-1][-1] += token
        elif token is _Wildcard.STAR:
            units[-1].append('')
        else:
            openings.append(_OPENINGS[token])
            units.append([''])
    parts = [
        f'(?>{opening}{_unit(unit, is_last=False)})'
        for opening, unit in zip(openings[:-1], units[:-1], strict=True)
    ]
    return ''.join([*parts, openings[-1], _unit(units[-1], is_last=True)])


def _unit(chunks: list[str], *, is_last: bool) -> str:
    """Return the expression of chunks with a star between each two of them."""
    first, *others = chunks
    if not others:
        return first
    middle = others[:-1] if is_last else others
    end = f'[^/]*{others[-1]}' if is_last else ''
    return first + ''.join(f'(?>[^/]*?{chunk})' for chunk in middle) + end


def _character_class(pattern: str, position: int) -> tuple[str, int]:
    """Return the expression of a class, and the position behind it.

    Args:
        pattern: The whole pattern.
        position: The position behind the opening bracket.

    Raises:
        PatternError: the class has no end, is empty, or names an unknown class of characters.
    """
    is_negated = pattern[position : position + 1] in {'!', '^'}
    position += is_negated
    ranges: list[tuple[str, str]] = []
    low = ''
    """The possible start of a range."""
    # The first character is never the end of the class.
    while not ranges or pattern[position : position + 1] != ']':
        character = _character(pattern, position)
        end = pattern.find(']', position)
        if character == '-' and low and pattern[position + 1 : position + 2] != ']':
            high, position = _unescaped(pattern, position + 1)
            ranges.append((low, high))
            low = ''
        elif pattern.startswith('[:', position) and pattern.endswith(':', position + 2, end):
            ranges.extend(_posix_class(pattern[position + 2 : end - 1]))
            position = end + 1
            low = ''
        else:
            low, position = _unescaped(pattern, position)
            ranges.append((low, low))
    return _class_expression(ranges, is_negated=is_negated), position + 1


def _character(pattern: str, position: int) -> str:
    if position >= len(pattern):
        raise PatternError(f'{pattern!r} ends inside a class of characters')
    return pattern[position]


def _unescaped(pattern: str, position: int) -> tuple[str, int]:
    """Return a character of a class without its backslash, and the position behind it."""
    if _character(pattern, position) == '\\':
        position += 1
    return _character(pattern, position), position + 1


def _posix_class(name: str) -> list[tuple[str, str]]:
    if name not in _POSIX_CLASSES:
        raise PatternError(f'there is no class of characters {name!r}')
    return [(pair[0], pair[1]) for pair in _POSIX_CLASSES[name]]


def _class_expression(ranges: list[tuple[str, str]], *, is_negated: bool) -> str:
    """Return the expression of one character in, or in none of, these ranges; never a slash."""
    if is_negated:
        ranges = [*ranges, ('/', '/')]
    else:
        ranges = [part for low, high in ranges for part in _without_slash(low, high)]
    parts = [f'{re.escape(low)}-{re.escape(high)}' for low, high in ranges if low <= high]
    if not parts:
        raise PatternError('the class contains no character')
    return f'[{"^" if is_negated else ""}{"".join(parts)}]'


def _without_slash(low: str, high: str) -> list[tuple[str, str]]:
    return [(low, high)] if not low <= '/' <= high else [(low, '.'), ('0', high)]
