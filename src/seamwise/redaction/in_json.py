"""Redaction of JSON in a text, complete or truncated, in place and without recursion."""

from collections.abc import Callable, Iterator
from re import DOTALL, VERBOSE, Match
from re import compile as pattern

import msgspec

from seamwise.redaction.named_values import mask_after_flag
from seamwise.redaction.sensitive_names import is_sensitive
from seamwise.redaction.spans import Span, replace_spans
from seamwise.secrets import MASK

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
_BRACKET = pattern(r'(?:\{|(?<![\w\])*])\[)(?=[\s,]*+["\[{\d-])')
_ESCAPE = pattern(r'\\(?:u([0-9a-fA-F]{4})|(.))', DOTALL)
_CUT_ESCAPE = pattern(r'(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z')
_UNSAFE = pattern(r'[\x00-\x1f"\\\ud800-\udfff]')
_LETTERS = {'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

# Delimiters of placeholders for runs of JSON; one that does not occur in the text is used.
_DELIMITERS = '\ue000\ue001\uf8ff\U000f0000'

RedactText = Callable[[str], str]


def redact_json_string(text: str, redact_text: RedactText) -> str | None:
    """Redact a text that consists of one JSON string; return None for any other text."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    start, end = match.span(1)
    return text[:start] + _redact_string(match[1], redact_text) + text[end:]


def redact_json_runs(text: str, *, redact_text: RedactText, redact_rest: RedactText) -> str:
    """Redact each run of JSON separately, and the other text with placeholders for them."""
    sign = next((delimiter for delimiter in _DELIMITERS if delimiter not in text), None)
    if sign is None:
        return redact_rest(text)
    runs = list(_runs(text, redact_text))
    rest = replace_spans(
        text, [Span(run.start, run.end, f'{sign}{index}{sign}') for index, run in enumerate(runs)]
    )
    return pattern(rf'{sign}(\d++){sign}').sub(
        lambda match: runs[int(match[1])].redacted(), redact_rest(rest)
    )


def _runs(text: str, redact_text: RedactText) -> 'Iterator[_Run]':
    at = 0
    while bracket := _BRACKET.search(text, at):
        run = _Run(text, bracket.start(), redact_text)
        at = run.read
        if run.end:
            yield run


class _Run:
    """Run of JSON that starts at a bracket, and its edits.

    `read` is the end of the tokens that were read. `end` is the end of the JSON, or 0 if the run
    contains no text or is not JSON.
    """

    def __init__(self, text: str, start: int, redact_text: RedactText) -> None:
        self.start = start
        self._text, self._redact_text = text, redact_text
        self._keys: dict[str, tuple[str, bool]] = {}
        self._edits: list[Span] = []
        self._depth = 0
        self._flag = ''
        self._awaits_secret = self._has_text = False
        self._hidden: tuple[int, int] | None = None
        self.read = start
        self._read()
        self.end = self._end()

    def redacted(self) -> str:
        """Return the run with its secrets masked."""
        return replace_spans(self._text, self._edits, start=self.start, end=self.end)

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
            if self._depth <= 0:
                return

    def _end(self) -> int:
        if not self._has_text or (self._depth > 0 and self._text[self.read :].strip()):
            return 0
        if self._hidden is not None:
            self._edits.append(Span(self._hidden[0], self.read, f'"{MASK}"'))
        return self.read

    def _open(self, token: Match[str]) -> None:
        if self._awaits_secret and self._hidden is None:
            self._hidden = (token.start('open'), self._depth)
        self._settle()
        self._depth += 1

    def _close(self, token: Match[str]) -> None:
        self._depth -= 1
        if self._hidden is not None and self._hidden[1] == self._depth:
            self._edits.append(Span(self._hidden[0], token.end(), f'"{MASK}"'))
            self._hidden = None
        self._settle()

    def _name(self, token: Match[str]) -> None:
        self._has_text = True
        if self._hidden is not None:
            return
        name = token['inside']
        if name not in self._keys:
            self._keys[name] = (
                _redact_string(token['text'], self._redact_text),
                is_sensitive(_decoded(name)),
            )
        redacted, self._awaits_secret = self._keys[name]
        self._edit(token, redacted)

    def _value(self, token: Match[str]) -> None:
        self._has_text = True
        if self._hidden is not None:
            return
        content, flag = token['inside'], self._flag
        if self._awaits_secret:
            self._edit(token, f'"{MASK}{token["end"]}' if content else token['text'])
        elif flag and (masked := mask_after_flag(flag, content)) is not None:
            self._edit(token, f'"{masked}{token["end"]}')
        else:
            self._edit(token, _redact_string(token['text'], self._redact_text))
        self._settle()
        self._flag = content if content[:1] == '-' else ''

    def _scalar(self, token: Match[str]) -> None:
        if self._awaits_secret and self._hidden is None and token['scalar'] not in ('null', 'None'):
            self._edits.append(Span(*token.span('scalar'), f'"{MASK}"'))
        self._settle()

    def _settle(self) -> None:
        self._flag = ''
        if self._hidden is None:
            self._awaits_secret = False

    def _edit(self, token: Match[str], replacement: str) -> None:
        if replacement != token['text']:
            self._edits.append(Span(*token.span('text'), replacement))


def _redact_string(token: str, redact_text: RedactText) -> str:
    closed = '"' if len(token) > 1 and _WHOLE.fullmatch(token) else ''
    content = _decoded(token[1:-1] if closed else token[1:])
    redacted = redact_text(content)
    return token if redacted == content else _encoded(redacted, closed)


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
