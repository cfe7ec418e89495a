"""Redaction of one text: all rules search the original text, and their spans are merged."""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from functools import cache
from re import compile as pattern
from re import escape, subn

from seamwise._text.secrets import MASK
from seamwise.redaction.apart import secrets_apart
from seamwise.redaction.assignments import assigned_secrets
from seamwise.redaction.command_rules import COMMAND_RULES
from seamwise.redaction.encoded import decoded_texts
from seamwise.redaction.harmless import is_placeholder
from seamwise.redaction.in_json import json_runs, redact_json_string
from seamwise.redaction.prefilter import (
    may_contain_key,
    may_contain_name,
    may_contain_secret,
    searched_end,
)
from seamwise.redaction.provider_formats import FORMATS
from seamwise.redaction.rules import BOUNDARY, RULES, Rule, around, compiled, search_part, spans_of
from seamwise.redaction.settings import Settings
from seamwise.redaction.source_rules import SOURCE_RULES
from seamwise.redaction.spans import Span, merge_spans, replace_spans

ALL_RULES = (*RULES, *COMMAND_RULES, *SOURCE_RULES)
"""Rules by form."""

_FORMATS = tuple((tuple(keywords.split()), form) for _, keywords, form in FORMATS)
"""Keywords and patterns of keys."""

_DIGIT = pattern(r'\d')

OPAQUE = '\ue000'
"""Character in place of JSON, which is redacted separately; it belongs to no word."""


_NOTHING = f'{OPAQUE} \t\r\n'


def mask_secrets(text: str, settings: Settings) -> tuple[str, int]:
    """Return a text with its secrets masked, also in JSON, and the number of masked places.

    >>> mask_secrets('token=abc {"pin": "1234", "page": 2}', Settings())
    ('token=*** {"pin": "***", "page": 2}', 2)
    """
    redacted = redact_json_string(text, settings, _mask_inner)
    if redacted is not None:
        return redacted
    spans = merge_spans(_spans(text, settings))
    masked, repeated = _without_repetitions(replace_spans(text, spans), text, spans)
    return masked, repeated + sum(span.masked for span in spans)


def mask_secrets_of_part(text: str, start: int, end: int, settings: Settings) -> str:
    """Return `text[start:end]` with its secrets masked; their names can be outside of it.

    >>> mask_secrets_of_part('password=hunter2xyz next', 12, 24, Settings())
    '*** next'
    """
    all_spans = merge_spans(_spans(text, settings))
    spans = [
        span
        if start <= span.start and span.end <= end
        else Span(max(span.start, start), min(span.end, end))
        for span in all_spans
        if span.masked and span.start < end and start < span.end
    ]
    return _without_repetitions(replace_spans(text, spans, start=start, end=end), text, all_spans)[
        0
    ]


_MAX_REPEATED = 16
"""Number of secrets whose repetitions are searched: each takes time."""
_LONG, _LONGEST = 6, 256
"""In characters; a shorter secret can occur in a word."""
_DISTINCT = pattern(r'(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[!-~]++(?: [!-~]++){0,3}')
"""A value with a letter and a digit; other values are also words of the text."""


def _without_repetitions(redacted: str, text: str, spans: Iterable[Span]) -> tuple[str, int]:
    """Mask the secrets of a text where they occur again without their name."""
    values: dict[str, None] = {}
    for span in spans:
        if span.masked and span.replacement.strip('"\' ') == MASK:
            value = text[span.start : min(span.end, span.start + _LONGEST + 4)].strip('"\' ')
            user, colon, password = value.partition(':')
            value = password if colon and user.isalpha() else value
            if _LONG <= len(value) <= _LONGEST and _DISTINCT.fullmatch(value):
                values[value] = None
                if len(values) == _MAX_REPEATED:
                    break
    masked = 0
    for value in values:
        if value in redacted:
            redacted, count = subn(
                rf'(?<![A-Za-z0-9]){escape(value)}(?![A-Za-z0-9])', MASK, redacted
            )
            masked += count
    return redacted, masked


def _mask_inner(text: str, settings: Settings) -> tuple[str, int]:
    """Mask the secrets of a text inside JSON, which can be JSON again."""
    return mask_secrets(text, settings) if may_contain_secret(text, settings) else (text, 0)


def _spans(text: str, settings: Settings) -> Iterator[Span]:
    end = searched_end(text)
    if end < len(text):
        yield Span(end, len(text))
        text = text[:end]
    outside = yield from _spans_of_plain(text, settings)
    for decoded, original in decoded_texts(outside):
        for span in _spans_of_plain(decoded, settings):
            yield original(span)


def _spans_of_plain(text: str, settings: Settings) -> Generator[Span, None, str]:
    """Yield the spans in a text whose escapes are not decoded; return the text without its JSON."""
    runs = json_runs(text, settings, _mask_inner)
    for run in runs:
        yield from run.edits
    # Rules must not search JSON: they do not know its escapes.
    outside = replace_spans(
        text, [Span(run.start, run.end, OPAQUE * (run.end - run.start)) for run in runs]
    )
    if not outside.strip(_NOTHING):
        return outside
    lowered = outside.lower()
    spans = [*_secrets_by_form(outside, lowered, settings)]
    if may_contain_name(lowered) or not outside.isascii() or not settings.is_default:
        whole = {(run.start, run.end) for run in runs}
        decided: dict[str, bool] = {}
        spans += (
            span
            for span in assigned_secrets(outside, settings)
            if span[:2] not in whole or not _is_harmless_json(text, span, settings, decided)
        )
        spans += secrets_apart(outside, lowered, settings, text)
    for span in spans:
        if not settings.is_kept(text[span.start : span.end]):
            yield span
    return outside


_NAME_BEFORE = pattern(r'([\w.$-]{1,64})\\*["\']?\s{0,8}[:=]\s{0,8}\Z')


def _is_harmless_json(text: str, span: Span, settings: Settings, decided: dict[str, bool]) -> bool:
    """Return whether JSON under a sensitive name is kept, as it is within an object.

    `decided` has the answers for equal JSON before, because records are repeated.
    """
    name = _NAME_BEFORE.search(text[max(0, span.start - 90) : span.start])
    if name is None:
        return False
    wrapped = f'{{"{name[1]}": {text[span.start : span.end]}}}'
    if wrapped not in decided:
        decided[wrapped] = all(
            run.end == len(wrapped) and not run.edits
            for run in json_runs(wrapped, settings, _mask_inner)
        )
    return decided[wrapped]


_SHORT = 1_000
"""In characters; in a longer text, searching each keyword is faster than splitting the text."""


@cache
def _rules_by_part() -> tuple[dict[tuple[str, ...], list[int]], list[int]]:
    """Return the indexes of rules by three characters of a keyword, and those without any."""
    by_part: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    others: list[int] = []
    for index, rule in enumerate(ALL_RULES):
        if min(map(len, rule.keywords)) < _PART:
            others.append(index)
            continue
        for keyword in rule.keywords:
            by_part[tuple(keyword[:_PART])].append(index)
    return dict(by_part), others


_PART = 3


def _rules_for(lowered: str) -> Iterator[Rule]:
    """Yield the rules with a keyword in a text."""
    if len(lowered) > _SHORT:
        indexes: Iterable[int] = range(len(ALL_RULES))
    else:
        by_part, others = _rules_by_part()
        parts = by_part.keys() & set(zip(lowered, lowered[1:], lowered[2:], strict=False))
        indexes = sorted({*others, *(index for part in parts for index in by_part[part])})
    for index in indexes:
        rule = ALL_RULES[index]
        if _has_any(rule.keywords, lowered):
            yield rule


def _secrets_by_form(text: str, lowered: str, settings: Settings) -> Iterator[Span]:
    for rule in _rules_for(lowered):
        yield from spans_of(rule, text, lowered)
    if may_contain_key(lowered):
        yield from _keys_of_providers(text, lowered)
    for custom in settings.also_patterns:
        group = 'secret' if 'secret' in custom.groupindex else 0
        for match in custom.finditer(text):
            if match[group]:
                yield Span(*match.span(group))


def _keys_of_providers(text: str, lowered: str) -> Iterator[Span]:
    for keywords, form in _FORMATS:
        if _has_any(keywords, lowered):
            key = compiled(rf'{BOUNDARY}(?:{form}){_REST_OF_KEY}')
            after = _AFTER_KEY if _LONG_KEY in form else _AFTER_SHORT_KEY
            for start, end in around(keywords, text, lowered, before=_BEFORE_KEY, after=after):
                at = start
                while match := search_part(key, text, at, end):
                    at = match.end()
                    # Names in code, such as `s.AcceptanceTimeoutSeconds`, have no digit.
                    is_name = match[0][:2] == 's.' and not _DIGIT.search(match[0])
                    if not is_name and not is_placeholder(match[0]):
                        yield Span(*match.span())


_BEFORE_KEY, _AFTER_KEY, _AFTER_SHORT_KEY = 64, 2_500, 500
"""In characters: the part of a text around a keyword in which a key can be."""
_LONG_KEY = '512'
"""Part of the pattern of a key that can be long."""
_REST_OF_KEY = r'[A-Za-z0-9_-]*+'
"""A key may be longer than its published form."""


def _has_any(keywords: Iterable[str], lowered: str) -> bool:
    # A generator in `any` would take most of the time of a short text.
    for keyword in keywords:  # noqa: SIM110
        if keyword in lowered:
            return True
    return False
