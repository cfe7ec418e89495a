"""The generator of provider formats, on a sample of rules."""

import re
from pathlib import Path

import pytest
from tools.secret_formats import (
    NOTICE,
    TARGET,
    GitleaksRule,
    bounded,
    formats,
    is_linear,
    module,
    read_rules,
    to_python,
)

from seamwise.redaction import provider_formats

SAMPLE = Path(__file__).parent / 'gitleaks_sample.toml'


def test_the_module_of_a_sample_has_its_formats_and_providers() -> None:
    text = module(read_rules(SAMPLE), version='1.2', date='2026-01-31')
    compile(text, 'provider_formats.py', 'exec')
    names: dict[str, object] = {}
    exec(text, names)  # noqa: S102 -- our own module
    assert names['FORMATS'] == (
        ('adobe-client-secret', 'p8e-', '(?:p8e-(?i:[a-z0-9]{32}))'),
        ('airtable-personnal-access-token', 'pat', r'(?:pat[A-Za-z0-9]{14}\.[a-f0-9]{64})'),
        ('npm-access-token', 'npm_', '(?i:(?:npm_[a-z0-9]{36}))'),
        ('octopus-deploy-api-key', 'api-', '(?:API-[A-Z0-9]{26,512})'),
    )
    assert names['PROVIDERS'] == frozenset(('adafruit', 'adobe', 'airtable', 'npm', 'octopus'))
    assert names['SOURCE'] == 'gitleaks 1.2 (2026-01-31)'
    assert NOTICE in text


def test_the_generated_module_is_complete_and_linear() -> None:
    text = TARGET.read_text('utf-8')
    assert Path(provider_formats.__file__).read_text('utf-8') == text
    assert NOTICE in text
    assert len(provider_formats.FORMATS) >= 100
    for name, keywords, pattern in provider_formats.FORMATS:
        assert keywords == keywords.lower() != '', name
        assert re.compile(pattern).groups == 0, name
        assert is_linear(pattern), name


@pytest.mark.parametrize('regex', ['a.*b', '(?:a{1,99}){1,99}x', '(?:[ab]{1,40}c?){60}'])
def test_a_pattern_that_is_not_linear_is_refused(regex: str) -> None:
    with pytest.raises(SystemExit, match='not linear'):
        list(formats([GitleaksRule('slow', regex.replace('.*', '(?:.*){2}'), ('a',))]))


@pytest.mark.parametrize(
    ('regex', 'text', 'other'),
    [
        (r'\b(x(?i)[a-c]{2})\b', 'xAb', 'XAb'),
        (r'(?i)\b(x(?-i:y)z)', 'XyZ', 'XYZ'),
        (r'(?:a|b(?i)c)d', 'bCd', 'bCD'),
        (r'[(a]\(b', '(' + '(b', 'a(B'),
        (r'k[[:alnum:]]+', 'kA1', 'k-'),
    ],
)
def test_a_translated_pattern_matches_as_in_re2(regex: str, text: str, other: str) -> None:
    pattern = bounded(to_python(regex))
    assert re.fullmatch(pattern, text)
    assert not re.fullmatch(pattern, other)
