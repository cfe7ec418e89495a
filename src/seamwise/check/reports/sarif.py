"""A report as SARIF 2.1.0, which code scanners and editors read (https://docs.oasis-open.org/sarif/sarif/v2.1.0/)."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TypeAlias
from urllib.parse import quote

from seamwise._text.jsonable import to_json
from seamwise.check.checking import Report
from seamwise.check.findings import Finding, Severity
from seamwise.check.mypy_sources import Problem
from seamwise.check.rules.registry import RULES
from seamwise.check.rules.rule import Rule

Object: TypeAlias = dict[str, object]

SCHEMA = (
    'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
)
ROOT = '%SRCROOT%'
LEVELS: Mapping[Severity, str] = {'error': 'error', 'warning': 'warning', 'hint': 'note'}
FINGERPRINT = 'seamwiseFinding/v1'


def as_sarif(report: Report) -> bytes:
    """Encode the findings, the rules with their pages, and what could not be read; paths are relative to the current directory."""
    run = {
        'tool': {
            'driver': {
                'name': 'seamwise',
                'version': version('seamwise'),
                'rules': [_rule(one) for one in RULES.values()],
            }
        },
        'invocations': [_invocation(report)],
        'originalUriBaseIds': {
            ROOT: {'description': {'text': 'The folder in which `seamwise check` ran.'}}
        },
        'columnKind': 'unicodeCodePoints',
        'results': list(_results(report.findings)),
    }
    return to_json({'$schema': SCHEMA, 'version': '2.1.0', 'runs': [run]})


def _rule(rule: Rule) -> Object:
    # A SARIF `helpUri` is absolute, and these pages travel with the program: they are in `help` as a whole.
    return {
        'id': rule.code,
        'name': _name(rule.title),
        'shortDescription': {'text': f'{rule.title[:1].upper()}{rule.title[1:]}.'},
        'fullDescription': {'text': _first_paragraph(rule.page)},
        'help': {'text': rule.page, 'markdown': rule.page},
        'defaultConfiguration': {
            'enabled': rule.is_default and not rule.needs_whole_program,
            'level': LEVELS[rule.severity],
        },
    }


def _name(title: str) -> str:
    """Make one word of a title: `a Result thrown away` is ResultThrownAway."""
    words = re.findall(r'\w+', title)
    return ''.join(f'{one[:1].upper()}{one[1:]}' for one in words[words[0] in {'a', 'an'} :])


def _first_paragraph(page: str) -> str:
    return ' '.join(page.split('\n\n')[1].split())


def _results(findings: Iterable[Finding]) -> Iterator[Object]:
    places = {code: number for number, code in enumerate(RULES)}
    seen = Counter[tuple[str, str]]()
    for one in findings:
        said = f'{one.code}\0{one.message}\0{one.source.strip()}'
        # Of two that say the same in one file, one is the first.
        seen[one.path, said] += 1
        yield {
            'ruleId': one.code,
            **({'ruleIndex': places[one.code]} if one.code in places else {}),
            'level': LEVELS[one.severity],
            'message': {'text': f'{one.message}\n{one.help}'},
            'locations': [_location(one.path, _region(one))],
            'partialFingerprints': {FINGERPRINT: _digest(f'{said}\0{seen[one.path, said]}')},
        }


def _digest(said: str) -> str:
    return hashlib.sha256(said.encode(errors='surrogatepass')).hexdigest()


def _region(finding: Finding) -> Object:
    region: Object = {
        'startLine': finding.line,
        'startColumn': finding.column,
        'endLine': finding.last_line,
    }
    # Without a last column it goes to the end of the last line.
    return (
        {**region, 'endColumn': finding.end_column} if finding.line == finding.last_line else region
    )


def _location(path: str, region: Object | None = None) -> Object:
    return {
        'physicalLocation': {
            'artifactLocation': _artifact(path),
            **({'region': region} if region else {}),
        }
    }


def _artifact(path: str) -> Object:
    if Path(path).is_absolute() or Path(path).parts[:1] == (os.pardir,):
        # Relative to a base, a path may not leave it.
        return {'uri': Path(os.path.abspath(path)).as_uri()}  # noqa: PTH100 -- without following links
    return {'uri': quote(os.fsencode(PurePath(path).as_posix())), 'uriBaseId': ROOT}


def _invocation(report: Report) -> Object:
    return {
        'executionSuccessful': report.is_complete,
        'toolExecutionNotifications': [
            _notification(one) for one in report.problems if one.is_unread and one.path
        ],
        'toolConfigurationNotifications': [
            _notification(one) for one in report.problems if not one.is_unread or not one.path
        ],
    }


def _notification(problem: Problem) -> Object:
    told: Object = {
        'level': 'error' if problem.is_unread else 'warning',
        'message': {'text': problem.message},
    }
    if not problem.path:
        return told
    return {
        **told,
        'locations': [
            _location(problem.path, {'startLine': problem.line} if problem.line else None)
        ],
    }
