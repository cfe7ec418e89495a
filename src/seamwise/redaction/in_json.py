"""Redaction of JSON in a text, complete or truncated, in place and without recursion."""

from collections.abc import Callable
from re import DOTALL, VERBOSE, Match
from re import compile as pattern
from typing import NamedTuple, TypeAlias

import msgspec

from seamwise._text.secrets import MASK
from seamwise.redaction.assignments import is_tokenized, mask_argument
from seamwise.redaction.harmless import is_harmless
from seamwise.redaction.sensitive_names import (
    INPUT_KEYS,
    LOCATION_KEYS,
    NAME_KEYS,
    PRIVATE_MEMBERS,
    VALUE_KEYS,
    is_command,
    is_credential,
    is_metadata,
    is_name,
    is_number_about,
    names_in_location,
)
from seamwise.redaction.settings import Settings
from seamwise.redaction.spans import Span

_TOKEN = pattern(
    r"""
    [\s,]*+ (?:
        (?P<text> "(?P<inside> (?: [^"\\\r\n]++ | \\. )*+ ) (?P<end> " | \\?+\Z ) )
        (?P<colon> \s*+: )?+
      | (?P<open> [\[{] ) | (?P<close> [\]}] )
      | (?P<scalar>
          (?: -?\d[\d.eE+-]*+ | true | false | null | -?Infinity | NaN | True | False | None )
          (?![\w=:.])
        )
    )""",
    VERBOSE | DOTALL,
)
_WHOLE = pattern(r'\s*+("(?:[^"\\\r\n]++|\\.)*+")\s*+', DOTALL)
# Excludes the bracket of `settings["password"] = …`.
# Excludes `["password"]=>` of PHP too.
_BRACKET = pattern(r'(?:\{|(?<![\w\])*])\[(?!"[^"\\\n]{0,64}"\][ ]?=>))(?=[\s,]*+["\[{\d-])')
_ESCAPE = pattern(r'\\(?:u([0-9a-fA-F]{4})|(.))', DOTALL)
_CUT_ESCAPE = pattern(r'(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z')
_UNSAFE = pattern(r'[\x00-\x1f"\\\ud800-\udfff]')
_LETTERS = {'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}


MaskText: TypeAlias = Callable[[str, Settings], tuple[str, int]]
"""Function that returns a text with its secrets masked, and the number of masked places.

The engine passes it, because a text in JSON is searched as any other text.
"""


def redact_json_string(text: str, settings: Settings, mask: MaskText) -> tuple[str, int] | None:
    """Redact a text that consists of one JSON string; return None for any other text."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    start, end = match.span(1)
    redacted, masked = _redact_string(match[1], settings, mask)
    return text[:start] + redacted + text[end:], masked


def json_runs(text: str, settings: Settings, mask: MaskText) -> 'list[JsonRun]':
    """Return the runs of JSON in a text."""
    at = 0
    runs: list[JsonRun] = []
    while bracket := _BRACKET.search(text, at):
        run = JsonRun(text, bracket.start(), settings, mask)
        at = run.read
        if run.end:
            runs.append(run)
    return runs


class _Frame:
    """Open array or object."""

    __slots__ = (
        *('command', 'is_missing', 'is_patch'),
        *(
            'has_secret_location',
            'has_secret_name',
            'in_array',
            'is_array',
            'is_described',
            'is_web_key',
            'items',
            'name',
        ),
        *('private', 'value', 'value_edit'),
    )

    def __init__(self, *, is_array: bool, in_array: bool, is_described: bool) -> None:
        self.is_array, self.in_array = is_array, in_array
        self.is_described = is_described
        """Whether a container of it, or a name of one, is metadata."""
        self.is_web_key = False
        self.private: list[Span] = []
        """Values that are private if it is a JSON Web Key."""
        self.name = ''
        self.items = 0
        self.has_secret_name = False
        self.command = ''
        """First item of an array, if its flags are known."""
        self.is_missing = False
        """Whether it is the error of a missing field: its input is the container of others."""
        self.is_patch = False
        """Whether it is a change by JSON Patch."""
        self.has_secret_location = False
        """Whether the path in a validation error or in a change has a sensitive name."""
        self.value_edit = 0
        """Index of the edit of the value, if it has one."""
        self.value: Match[str] | None = None
        """Value of a pair, which is secret if its name is."""


class _Hidden(NamedTuple):
    """Container under a sensitive name."""

    start: int
    depth: int
    edits: int
    """Number of edits before it."""


class JsonRun:
    """Run of JSON that starts at a bracket, and its edits.

    `read` is the end of the tokens that were read. `end` is the end of the JSON, or 0 if the run
    contains no text or is not JSON.
    """

    def __init__(self, text: str, start: int, settings: Settings, mask: MaskText) -> None:
        self.start = start
        self.edits: list[Span] = []
        self._text, self._settings, self._mask = text, settings, mask
        self._keys: dict[str, tuple[str, int, bool]] = {}
        self._frames: list[_Frame] = []
        self._flag = ''
        self._awaits_secret = self._has_text = False
        self._hidden: _Hidden | None = None
        self._is_harmless = False
        """Whether the hidden container has leaves, and all of them are harmless."""
        self.read = start
        self._read()
        self.end = self._end()

    def _read(self) -> None:
        handlers = {
            'open': self._open,
            'close': self._close,
            'colon': self._name,
            'text': self._value,
            'scalar': self._scalar,
        }
        while token := _TOKEN.match(self._text, self.read):
            self.read = token.end()
            handlers[token.lastgroup or ''](token)
            if not self._frames:
                return

    def _end(self) -> int:
        if not self._has_text or (self._frames and self._text[self.read :].strip()):
            return 0
        if self._hidden is not None:
            self.edits.append(Span(self._hidden.start, self.read, f'"{MASK}"'))
        for frame in self._frames:
            self._mask_private(frame)
        return self.read

    def _open(self, token: Match[str]) -> None:
        if self._awaits_secret and self._hidden is None:
            self._hidden = _Hidden(token.start('open'), len(self._frames), len(self.edits))
            self._is_harmless = True
        is_array = token['open'] == '['
        parent = self._frames[-1] if self._frames else None
        if parent is not None:
            parent.items += 1
        self._settle()
        self._frames.append(
            _Frame(
                is_array=is_array,
                in_array=parent is not None and parent.is_array,
                is_described=self._hidden is not None
                and self._hidden.depth < len(self._frames)
                and self._is_described(),
            )
        )

    def _is_described(self) -> bool:
        frame = self._frames[-1]
        return frame.is_described or is_metadata(_decoded(frame.name))

    def _close(self, token: Match[str]) -> None:
        frame = self._frames.pop()
        if self._hidden is None:
            self._mask_pair(frame)
            self._mask_private(frame)
        elif self._hidden.depth == len(self._frames):
            if not self._is_harmless or token.start('close') == self._hidden.start + 1:
                self.edits.append(Span(self._hidden.start, token.end(), f'"{MASK}"'))
            self._hidden = None
        self._settle()

    def _mask_pair(self, frame: _Frame) -> None:
        """Mask the value of `["X-Api-Key", "…"]` in an array and of `{"name": …, "value": …}`."""
        is_pair = not frame.is_array or (frame.in_array and frame.items == _PAIR)
        if not (is_pair and frame.has_secret_name and frame.value):
            return
        token, group = frame.value, frame.value.lastgroup or ''
        if group == 'text' and (not token['inside'] or is_harmless(_decoded(token['inside']))):
            return
        if token['scalar'] in _KEPT_SCALARS:
            return
        span = Span(*token.span(group), f'"{MASK}"')
        index = frame.value_edit
        if index < len(self.edits) and self.edits[index].start == span.start:
            self.edits[index] = span
        else:
            self.edits.append(span)

    def _mask_private(self, frame: _Frame) -> None:
        if frame.is_web_key:
            self.edits += frame.private

    def _name(self, token: Match[str]) -> None:
        self._has_text = True
        name = token['inside']
        self._frames[-1].name = name
        if self._hidden is not None:
            return
        if name not in self._keys:
            self._keys[name] = (
                *_redact_string(token['text'], self._settings, self._mask),
                self._settings.is_sensitive(_decoded(name)),
            )
        redacted, masked, is_secret = self._keys[name]
        self._awaits_secret = is_secret or (
            (name in INPUT_KEYS or (self._frames[-1].is_patch and name in VALUE_KEYS))
            and self._frames[-1].has_secret_location
            and not self._frames[-1].is_missing
        )
        self._edit(token, redacted, masked)

    def _value(self, token: Match[str]) -> None:
        self._has_text = True
        content, flag = token['inside'], self._flag
        if self._hidden is not None:
            name = _decoded(self._frames[-1].name)
            self._is_harmless = self._is_harmless and (
                is_harmless(_decoded(content), name)
                or (self._is_described() and not self._settings.is_sensitive(name))
            )
            return
        self._note_pair(token)
        self._note_location(content)
        if 'tokens' in {self._owner().name, self._name_of_object()} and is_credential(
            _decoded(content)
        ):
            self._edit(token, f'"{MASK}{token["end"]}', 1)
        elif self._awaits_secret:
            is_part = self._frames[-1].name == 'token' and is_tokenized(
                self._text, token.start('text')
            )
            if is_part:
                pass
            elif content and not self._is_kept(_decoded(content), _decoded(self._frames[-1].name)):
                self._edit(token, f'"{MASK}{token["end"]}', 1)
        elif (flag or self._frames[-1].command) and (
            masked := mask_argument(
                content, self._settings, flag=flag, command=self._frames[-1].command
            )
        ) is not None:
            self._edit(token, f'"{masked}{token["end"]}', 1)
        else:
            self._edit(token, *_redact_string(token['text'], self._settings, self._mask))
        self._settle()
        self._flag = content if content[:1] == '-' else ''
        frame = self._frames[-1]
        if frame.is_array and frame.items == 1 and is_command(content):
            frame.command = content

    def _owner(self) -> _Frame:
        """Return the frame whose name the next value has: for an array, the one around it."""
        frame = self._frames[-1]
        return self._frames[-2] if frame.is_array and len(self._frames) > 1 else frame

    def _name_of_object(self) -> str:
        """Return the name of the object that contains the next value as a member."""
        frames = self._frames
        is_member = len(frames) > 1 and not (frames[-1].is_array or frames[-2].is_array)
        return frames[-2].name if is_member else ''

    def _note_location(self, content: str) -> None:
        """Note in an object whether its path, a list of names, has a sensitive one."""
        owner = self._owner()
        if owner.name in LOCATION_KEYS and not owner.is_array:
            names = names_in_location(_decoded(content))
            owner.has_secret_location = owner.has_secret_location or any(map(self._is_name, names))
        elif owner.name == 'op':
            owner.is_patch = True
        elif owner.name == 'type' and content == 'missing':
            owner.is_missing = True

    def _is_kept(self, value: str, name: str) -> bool:
        return is_harmless(value, name) or self._settings.is_kept(value)

    def _scalar(self, token: Match[str]) -> None:
        scalar = token['scalar']
        if self._hidden is not None:
            name = self._frames[-1].name
            is_kept = scalar in _KEPT_SCALARS or is_number_about(_decoded(name), scalar)
            self._is_harmless = self._is_harmless and is_kept
        else:
            self._note_pair(token)
            if (
                self._awaits_secret
                and scalar not in _KEPT_SCALARS
                and not is_number_about(_decoded(self._frames[-1].name), scalar)
            ):
                self.edits.append(Span(*token.span('scalar'), f'"{MASK}"'))
        self._settle()

    def _note_pair(self, token: Match[str]) -> None:
        """Keep the parts of a pair in its frame."""
        frame = self._frames[-1]
        frame.items += 1
        if frame.is_array:
            if frame.items == 1:
                frame.has_secret_name = token['text'] is not None and self._is_name(token['inside'])
            else:
                frame.value, frame.value_edit = token, len(self.edits)
        elif frame.name in PRIVATE_MEMBERS:
            frame.private.append(Span(*token.span(token.lastgroup or ''), f'"{MASK}"'))
        elif frame.name == 'kty':
            frame.is_web_key = True
        elif frame.name in NAME_KEYS:
            frame.has_secret_name = token['text'] is not None and self._is_name(token['inside'])
        elif frame.name in VALUE_KEYS:
            frame.value, frame.value_edit = token, len(self.edits)

    def _is_name(self, content: str) -> bool:
        name = _decoded(content)
        return is_name(name) and self._settings.is_sensitive(name)

    def _settle(self) -> None:
        self._flag = ''
        if self._hidden is None:
            self._awaits_secret = False

    def _edit(self, token: Match[str], replacement: str, masked: int) -> None:
        if replacement != token['text']:
            self.edits.append(Span(*token.span('text'), replacement, masked))


_KEPT_SCALARS = ('null', 'None', 'true', 'false', 'True', 'False')
_PAIR = 2


def _redact_string(token: str, settings: Settings, mask: MaskText) -> tuple[str, int]:
    closed = '"' if len(token) > 1 and _WHOLE.fullmatch(token) else ''
    content = _decoded(token[1:-1] if closed else token[1:])
    redacted, masked = mask(content, settings)
    return (token if redacted == content else _encoded(redacted, closed)), masked


def _decoded(content: str) -> str:
    if '\\' not in content:
        return content
    try:
        return msgspec.json.decode(f'"{content}"', type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # A lone surrogate, or an escape that is truncated or invalid.
        return _ESCAPE.sub(_unescaped, _CUT_ESCAPE.sub(r'\1', content))


def _unescaped(match: Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _LETTERS.get(match[2], match[2])


def _encoded(text: str, closed: str) -> str:
    return '"' + _UNSAFE.sub(_escaped, text) + closed


def _escaped(match: Match[str]) -> str:
    return f'\\{match[0]}' if match[0] in '"\\' else f'\\u{ord(match[0]):04x}'
