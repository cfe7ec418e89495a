"""JSON inside a text: found wherever it stands, whole or cut off, and rewritten in place without a recursion."""

from collections.abc import Callable, Iterator
from re import DOTALL, VERBOSE, Match
from re import compile as pattern

import msgspec

from seamwise.redaction.named_values import announced
from seamwise.redaction.sensitive_names import is_sensitive
from seamwise.redaction.spans import Span, replaced
from seamwise.secrets import MASK

_TOKEN = pattern(
    r"""
    [\s,]*+ (?:
        (?P<text> "(?P<inside> (?: [^"\\\r\n]++ | \\. )*+ ) (?P<end> " | \\?+\Z ) ) (?P<colon> \s*+: )?+
      | (?P<open> [\[{] ) | (?P<close> [\]}] )
      | (?P<scalar> (?: -?\d[\d.eE+-]*+ | true | false | null | -?Infinity | NaN | True | False | None ) (?![\w=:.]) )
    )""",
    VERBOSE | DOTALL,
)
_WHOLE = pattern(r'\s*+("(?:[^"\\\r\n]++|\\.)*+")\s*+', DOTALL)
# Not the bracket of `settings["password"] = …`.
_BRACKET = pattern(r'(?:\{|(?<![\w\])*])\[)(?=[\s,]*+["\[{\d-])')
_ESCAPE = pattern(r'\\(?:u([0-9a-fA-F]{4})|(.))', DOTALL)
_CUT_ESCAPE = pattern(r'(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z')
_UNSAFE = pattern(r'[\x00-\x1f"\\\ud800-\udfff]')
_LETTERS = {'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

# No text stands in for a run of JSON that has one of these in it already.
_STAND_INS = '\ue000\ue001\uf8ff\U000f0000'

RedactText = Callable[[str], str]


def in_whole(text: str, redact_text: RedactText) -> str | None:
    """Redact a text that is one JSON string and nothing else; None where it is something else."""
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        return None
    start, end = whole.span(1)
    return text[:start] + _in_string(whole[1], redact_text) + text[end:]


def around(text: str, *, redact_text: RedactText, redact_rest: RedactText) -> str:
    """Redact each run of JSON by itself, and the text around with a stand-in for each run."""
    sign = next((one for one in _STAND_INS if one not in text), None)
    if sign is None:
        return redact_rest(text)
    runs = list(_runs(text, redact_text))
    rest = replaced(
        text, [Span(run.start, run.end, f'{sign}{place}{sign}') for place, run in enumerate(runs)]
    )
    return pattern(rf'{sign}(\d++){sign}').sub(
        lambda found: runs[int(found[1])].redacted(), redact_rest(rest)
    )


def _runs(text: str, redact_text: RedactText) -> 'Iterator[_Run]':
    at = 0
    while bracket := _BRACKET.search(text, at):
        run = _Run(text, bracket.start(), redact_text)
        at = run.read
        if run.end:
            yield run


class _Run:
    """The tokens from one bracket on, read once, and what is to be changed in them.

    `read` tells how far it looked, `end` where the JSON ends: 0 where it holds no text, or other things than JSON.
    """

    def __init__(self, text: str, start: int, redact_text: RedactText) -> None:
        self.start = start
        self._text, self._redact_text = text, redact_text
        self._keys: dict[str, tuple[str, bool]] = {}
        self._edits: list[Span] = []
        self._depth = 0
        self._argument = ''
        self._awaits_secret = self._has_text = False
        self._hidden: tuple[int, int] | None = None
        self.read = start
        self._read()
        self.end = self._end()

    def redacted(self) -> str:
        """Give the run with its secrets masked."""
        return replaced(self._text, self._edits, start=self.start, end=self.end)

    def _read(self) -> None:
        takes = {
            'open': self._open,
            'close': self._close,
            'colon': self._name,
            'text': self._value,
            'scalar': self._scalar,
        }
        while token := _TOKEN.match(self._text, self.read):
            self.read = token.end()
            takes[token.lastgroup or ''](token)
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
                _in_string(token['text'], self._redact_text),
                is_sensitive(_decoded(name)),
            )
        shown, self._awaits_secret = self._keys[name]
        self._edit(token, shown)

    def _value(self, token: Match[str]) -> None:
        self._has_text = True
        if self._hidden is not None:
            return
        inside, argument = token['inside'], self._argument
        if self._awaits_secret:
            self._edit(token, f'"{MASK}{token["end"]}' if inside else token['text'])
        elif argument and (shown := announced(argument, inside)) is not None:
            self._edit(token, f'"{shown}{token["end"]}')
        else:
            self._edit(token, _in_string(token['text'], self._redact_text))
        self._settle()
        self._argument = inside if inside[:1] == '-' else ''

    def _scalar(self, token: Match[str]) -> None:
        if self._awaits_secret and self._hidden is None and token['scalar'] not in ('null', 'None'):
            self._edits.append(Span(*token.span('scalar'), f'"{MASK}"'))
        self._settle()

    def _settle(self) -> None:
        self._argument = ''
        if self._hidden is None:
            self._awaits_secret = False

    def _edit(self, token: Match[str], shown: str) -> None:
        if shown != token['text']:
            self._edits.append(Span(*token.span('text'), shown))


def _in_string(token: str, redact_text: RedactText) -> str:
    closed = '"' if len(token) > 1 and _WHOLE.fullmatch(token) else ''
    inside = _decoded(token[1:-1] if closed else token[1:])
    shown = redact_text(inside)
    return token if shown == inside else _encoded(shown, closed)


def _decoded(inside: str) -> str:
    if '\\' not in inside:
        return inside
    try:
        return msgspec.json.decode(f'"{inside}"', type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # Half a pair of surrogates, or an escape that is cut off or none.
        return _ESCAPE.sub(_letter, _CUT_ESCAPE.sub(r'\1', inside))


def _letter(found: Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _LETTERS.get(found[2], found[2])


def _encoded(text: str, closed: str) -> str:
    return '"' + _UNSAFE.sub(_escaped, text) + closed


def _escaped(found: Match[str]) -> str:
    return f'\\{found[0]}' if found[0] in '"\\' else f'\\u{ord(found[0]):04x}'
