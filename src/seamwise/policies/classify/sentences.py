"""Sentences of model providers that say what no code of theirs does, by their HTTP statuses."""

import re
from http import HTTPStatus
from typing import Final, Literal, NamedTuple


class Sentence(NamedTuple):
    """The beginning of a message that says what no code does.

    Attributes:
        statuses: The HTTP statuses of the responses with it.
        pattern: The pattern of its beginning.
        type: Its meaning, as an `ErrorType`.
    """

    statuses: frozenset[int]
    pattern: re.Pattern[str]
    type: Literal['too_long', 'quota']


def _beginning(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


_REQUESTS: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST.value,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value,
        HTTPStatus.UNPROCESSABLE_ENTITY.value,
    }
)
_BUDGETS: Final = frozenset({HTTPStatus.FORBIDDEN.value, HTTPStatus.TOO_MANY_REQUESTS.value})

OPENAI_SENTENCES: Final = (
    # OpenAI, Azure, DeepSeek and OpenRouter; vLLM; SGLang; llama.cpp; Groq and Cerebras; Mistral;
    # TGI and Together; xAI; Moonshot; Fireworks; Zhipu; Ollama; LM Studio; Copilot.
    Sentence(
        _REQUESTS,
        _beginning(
            r"""
              (?:This\ model's|This\ endpoint's|This\ model)\ maximum\ context\ length\ is\ \d
            | 'max_tokens'\ or\ 'max_completion_tokens'\ is\ too\ large:\ \d+\.\ This\ model's\ max
            | The\ (?:decoder\ )?prompt\ \(.{1,80}\)\ is\ longer\ than\ the\ maximum\ model\ length
            | The\ input\ \(\d+\ tokens\)\ is\ longer\ than\ the\ model's\ context\ length
            | (?:the\ )?request\ (?:\(\d+\ tokens\)\ )?exceeds\ the\ available\ context\ size
            | Please\ reduce\ the\ length\ of\ the\ messages\ or\ completion
            | Prompt\ contains\ \d+\ tokens
            | Input\ tokens\ exceed\ the\ configured\ limit\ of\ \d
            | Input\ validation\ error:\ `inputs`\ (?:tokens\ \+|must\ have\ less\ than\ \d+\ tok)
            | `inputs`\ tokens\ \+\ `max_new_tokens`\ must\ be\ <=
            | This\ model's\ maximum\ prompt\ length\ is\ \d
            | (?:Invalid\ request:\ )?Your\ request\ exceeded\ model\ token\ limit
            | The\ prompt\ is\ too\ long:\ \d
            | Prompt\ exceeds\ max\ length
            | the\ input\ length\ exceeds\ the\ context\ length
            | The\ number\ of\ tokens\ to\ keep\ from\ the\ initial\ prompt\ is\ greater\ than\ the
            | prompt\ token\ count\ of\ \d+\ exceeds\ the\ limit\ of\ \d
            """
        ),
        'too_long',
    ),
    # xAI.
    Sentence(_BUDGETS, _beginning(r'Your\ (?:newly\ created\ )?team\b.{0,200}\bcredits'), 'quota'),
)

ANTHROPIC_SENTENCES: Final = (
    Sentence(
        _REQUESTS,
        _beginning(
            r"""
              prompt\ is\ too\ long
            | input\ length\ and\ `max_tokens`\ exceed\ context\ limit
            # Bedrock.
            | Input\ is\ too\ long\ for\ requested\ model
            """
        ),
        'too_long',
    ),
    Sentence(
        frozenset({HTTPStatus.BAD_REQUEST.value}),
        _beginning(r'Your\ credit\ balance\ is\ too\ low'),
        'quota',
    ),
)

GEMINI_SENTENCES: Final = (
    Sentence(
        frozenset({HTTPStatus.BAD_REQUEST.value}),
        _beginning(
            r'The\ input\ token\ count\ (?:\(\d+\)\ )?exceeds\ the\ maximum\ number\ of\ tokens'
        ),
        'too_long',
    ),
)

ROUTED_SENTENCES: Final = (*OPENAI_SENTENCES, *ANTHROPIC_SENTENCES, *GEMINI_SENTENCES)
"""Those of all providers, for a router such as OpenRouter, which passes their errors on."""
