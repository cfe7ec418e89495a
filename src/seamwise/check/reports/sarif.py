"""Report as SARIF 2.1.0, a format of code scanners and editors.

See https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
"""

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
from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.checking import Report
from seamwise.check.facts import Severity, TextEdit
from seamwise.check.findings import Finding, page_url
from seamwise.check.rules.registry import RULES
from seamwise.check.rules.rule import Rule

_Object: TypeAlias = dict[str, object]

_SCHEMA = (
    'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
)
_ROOT = '%SRCROOT%'
_LEVELS: Mapping[Severity, str] = {'error': 'error', 'warning': 'warning', 'hint': 'note'}
_FINGERPRINT = 'seamwiseFinding/v1'


def render_sarif(report: Report) -> bytes:
    """Return the findings, the rules with their pages, and the problems as a SARIF log.

    Paths are relative to the current directory.
    """
    run = {
        'tool': {
            'driver': {
                'name': 'seamwise',
                'version': version('seamwise'),
                'rules': [_rule(rule) for rule in RULES.values()],
            }
        },
        # Results of other tools and of other runs in the same commit are not replaced.
        'automationDetails': {'id': 'seamwise/check/'},
        'invocations': [_invocation(report)],
        'originalUriBaseIds': {
            _ROOT: {'description': {'text': 'The folder in which `seamwise check` ran.'}}
        },
        'columnKind': 'unicodeCodePoints',
        'results': list(_results(report.findings)),
    }
    return to_json({'$schema': _SCHEMA, 'version': '2.1.0', 'runs': [run]})


def _rule(rule: Rule) -> _Object:
    page = page_url(rule.code)
    return {
        'id': rule.code,
        **({'helpUri': page} if page else {}),
        'name': _rule_name(rule.title),
        'shortDescription': {'text': f'{rule.title[:1].upper()}{rule.title[1:]}.'},
        'fullDescription': {'text': _first_paragraph(rule.page)},
        'help': {'text': rule.page, 'markdown': rule.page},
        'defaultConfiguration': {
            'enabled': rule.is_default and not rule.needs_whole_program,
            'level': _LEVELS[rule.severity],
        },
    }


def _rule_name(title: str) -> str:
    """Return a title in Pascal case: `discarded Result` becomes DiscardedResult."""
    words = re.findall(r'\w+', title)
    return ''.join(f'{word[:1].upper()}{word[1:]}' for word in words)


def _first_paragraph(page: str) -> str:
    return ' '.join(page.split('\n\n')[1].split())


def _results(findings: Iterable[Finding]) -> Iterator[_Object]:
    indexes = {code: index for index, code in enumerate(RULES)}
    occurrences = Counter[tuple[str, str]]()
    for finding in findings:
        content = f'{finding.code}\0{finding.message}\0{finding.source.strip()}'
        # A number distinguishes equal findings in one file.
        occurrences[finding.path, content] += 1
        digest = _digest(f'{content}\0{occurrences[finding.path, content]}')
        yield {
            'ruleId': finding.code,
            **({'ruleIndex': indexes[finding.code]} if finding.code in indexes else {}),
            'level': _LEVELS[finding.severity],
            'message': {'text': f'{finding.message}\n{finding.help}'},
            'locations': [_location(finding.path, _region(finding))],
            'partialFingerprints': {_FINGERPRINT: digest},
            **({'fixes': fixes} if (fixes := list(_fixes(finding))) else {}),
        }


def _fixes(finding: Finding) -> Iterator[_Object]:
    """Yield the fixes of a finding; the first is the one of `--fix`, if there is one."""
    named = [('Apply the fix of `seamwise check --fix`.', finding.edits)]
    named += [(f'{fix.title}.', fix.edits) for fix in finding.quick_fixes]
    for title, edits in named:
        if edits:
            replacements = [_replacement(edit) for edit in edits]
            yield {
                'description': {'text': title},
                'artifactChanges': [
                    {'artifactLocation': _artifact(finding.path), 'replacements': replacements}
                ],
            }


def _replacement(edit: TextEdit) -> _Object:
    return {
        'deletedRegion': {
            'startLine': edit.line,
            'startColumn': edit.column + 1,
            'endLine': edit.last_line,
            'endColumn': edit.end_column + 1,
        },
        'insertedContent': {'text': edit.new},
    }


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode(errors='surrogatepass')).hexdigest()


def _region(finding: Finding) -> _Object:
    region: _Object = {
        'startLine': finding.line,
        'startColumn': finding.column,
        'endLine': finding.last_line,
    }
    if finding.line == finding.last_line:
        # Without `endColumn`, the region ends with the last line.
        region['endColumn'] = finding.end_column
    return region


def _location(path: str, region: _Object | None = None) -> _Object:
    location: _Object = {'artifactLocation': _artifact(path)}
    if region:
        location['region'] = region
    return {'physicalLocation': location}


def _artifact(path: str) -> _Object:
    if Path(path).is_absolute() or Path(path).parts[:1] == (os.pardir,):
        # A URI relative to a base must not leave the base.
        return {'uri': Path(os.path.abspath(path)).as_uri()}  # noqa: PTH100 -- resolve() follows links
    return {'uri': quote(os.fsencode(PurePath(path).as_posix())), 'uriBaseId': _ROOT}


def _invocation(report: Report) -> _Object:
    execution = [problem for problem in report.problems if problem.is_unread and problem.path]
    configuration = [problem for problem in report.problems if problem not in execution]
    return {
        'executionSuccessful': report.is_complete,
        'toolExecutionNotifications': [_notification(problem) for problem in execution],
        'toolConfigurationNotifications': [_notification(problem) for problem in configuration],
    }


def _notification(problem: SourceProblem) -> _Object:
    notification: _Object = {
        'level': 'error' if problem.is_unread else 'note' if problem.is_note else 'warning',
        'message': {'text': problem.message},
    }
    if problem.path:
        region: _Object | None = {'startLine': problem.line} if problem.line else None
        notification['locations'] = [_location(problem.path, region)]
    return notification
