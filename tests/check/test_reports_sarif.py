"""Tests of the SARIF report: validity by the schema, and rules of the standard beyond it."""

import json
from email.message import Message
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import unquote_to_bytes, urlsplit

import jsonschema_rs
import pytest
from msgspec.structs import replace

from seamwise.check import findings
from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.checking import Report
from seamwise.check.facts import QuickFix, TextEdit
from seamwise.check.reports import render_sarif
from seamwise.check.rules.registry import RULES

from .reporting import NOTE, ODD, UNCONFIGURED, UNREAD, UNTYPED, finding, report

SCHEMA = Path(__file__).parent / 'schemas' / 'sarif-2.1.0-rtm.5.json'
# The errata of the standard remove a surplus bracket in the pattern of `language`.
FIXED = SCHEMA.read_text(encoding='utf-8').replace('[a-zA-Z]{2}]?$', '[a-zA-Z]{2}?$')
VALIDATOR = jsonschema_rs.validator_for(json.loads(FIXED), validate_formats=True)


def sarif_run(report: Report) -> dict[str, Any]:
    log = json.loads(render_sarif(report))
    errors = [f'{error.instance_path}: {error.message}' for error in VALIDATOR.iter_errors(log)]
    assert errors == []
    assert log['version'] == '2.1.0'
    run: dict[str, Any]
    (run,) = log['runs']
    return run


def fingerprints(report: Report) -> list[str]:
    results = sarif_run(report)['results']
    return [next(iter(result['partialFingerprints'].values())) for result in results]


def first_location(report: Report) -> dict[str, Any]:
    location: dict[str, Any] = sarif_run(report)['results'][0]['locations'][0]['physicalLocation']
    return location


def test_schema_rejects_invalid_log() -> None:
    log = json.loads(render_sarif(report(finding())))
    log['runs'][0]['results'][0]['level'] = 'hint'
    assert not VALIDATOR.is_valid(log)


def test_report_without_findings_has_empty_results() -> None:
    # A log without `results` means that the tool did not run.
    assert sarif_run(report())['results'] == []


def test_driver_lists_every_rule_with_its_page() -> None:
    rules = sarif_run(report())['tool']['driver']['rules']
    assert [rule['id'] for rule in rules] == list(RULES)
    assert len({rule['name'] for rule in rules}) == len(rules)
    assert all(rule['name'].isidentifier() for rule in rules)
    first = rules[1]
    assert first['name'] == 'DiscardedResult'
    assert first['shortDescription'] == {'text': 'Discarded Result.'}
    assert first['fullDescription']['text'].startswith('Use the return value of every function')
    assert first['help']['markdown'] == RULES['SW101'].page
    assert first['defaultConfiguration'] == {'enabled': True, 'level': 'error'}
    enabled = [rule['id'] for rule in rules if rule['defaultConfiguration']['enabled']]
    assert enabled == [
        rule.code for rule in RULES.values() if rule.is_default and not rule.needs_whole_program
    ]


def test_result_refers_to_its_rule_and_location() -> None:
    run = sarif_run(report(finding('\tsave()', code='SW103', severity='hint')))
    (result,) = run['results']
    assert (result['ruleId'], result['level']) == ('SW103', 'note')
    assert run['tool']['driver']['rules'][result['ruleIndex']]['id'] == 'SW103'
    assert result['message'] == {'text': 'The Result is discarded.\nUse it.'}
    assert result['locations'] == [
        {
            'physicalLocation': {
                'artifactLocation': {'uri': 'shop/orders.py', 'uriBaseId': '%SRCROOT%'},
                'region': {'startLine': 4, 'startColumn': 2, 'endLine': 4, 'endColumn': 8},
            }
        }
    ]
    assert '%SRCROOT%' in run['originalUriBaseIds']


def test_columns_count_characters_and_declare_it() -> None:
    result = report(finding("'𝄞错'; save()"))
    assert sarif_run(result)['columnKind'] == 'unicodeCodePoints'
    assert first_location(result)['region']['startColumn'] == 7


def test_region_over_several_lines_ends_with_last_line() -> None:
    assert first_location(report(finding(last_line=7)))['region'] == {
        'startLine': 4,
        'startColumn': 1,
        'endLine': 7,
    }


@pytest.mark.parametrize('path', [ODD, 'a:b.py', 'C:\\shop\\a.py', '..a.py', 'a?b#c.py'])
def test_unusual_path_is_relative_reference(path: str) -> None:
    uri: str = first_location(report(finding(path=path)))['artifactLocation']['uri']
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ('', '', '', '')
    assert unquote_to_bytes(uri) == path.encode('utf-8', 'surrogateescape')
    assert '\\' not in uri


@pytest.mark.parametrize('path', ['../shop/a b.py', '/somewhere/a b.py'])
def test_path_outside_current_directory_has_no_base(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / 'inner'
    inner.mkdir()
    monkeypatch.chdir(inner)
    expected = {
        '../shop/a b.py': f'{tmp_path.as_uri()}/shop/a%20b.py',
        '/somewhere/a b.py': 'file:///somewhere/a%20b.py',
    }[path]
    assert first_location(report(finding(path=path)))['artifactLocation'] == {'uri': expected}


def test_fingerprint_survives_moved_line_and_other_indentation() -> None:
    original, moved = report(finding('save()', line=4)), report(finding('    save()', line=90))
    assert fingerprints(original) == fingerprints(moved)


def test_each_finding_has_its_own_fingerprint() -> None:
    findings = [
        finding(),
        finding(line=5),
        finding('save(1)', 'save(1)'),
        finding(code='SW102'),
        finding(message='Another one.'),
    ]
    original = fingerprints(report(*findings))
    assert len(set(original)) == len(findings)
    # A new finding with another message changes no other fingerprint.
    assert fingerprints(report(finding('print()', 'print()'), *findings))[1:] == original


def test_problems_are_in_the_invocation() -> None:
    (invocation,) = sarif_run(report(problems=(UNREAD, UNTYPED, UNCONFIGURED, NOTE)))['invocations']
    assert invocation['executionSuccessful'] is False
    (unread,) = invocation['toolExecutionNotifications']
    assert (unread['level'], unread['message']['text']) == ('error', UNREAD.message)
    location = {
        'artifactLocation': {'uri': 'broken.py', 'uriBaseId': '%SRCROOT%'},
        'region': {'startLine': 3},
    }
    assert unread['locations'] == [{'physicalLocation': location}]
    configuration = invocation['toolConfigurationNotifications']
    assert [notification['level'] for notification in configuration] == [
        'warning',
        'error',
        'note',
    ]
    assert 'locations' not in configuration[1]


def test_problem_without_line_has_no_region() -> None:
    (invocation,) = sarif_run(report(problems=(SourceProblem('data.txt', 'no Python file.'),)))[
        'invocations'
    ]
    (notification,) = invocation['toolExecutionNotifications']
    assert 'region' not in notification['locations'][0]['physicalLocation']


def test_execution_is_successful_if_all_files_were_read() -> None:
    (invocation,) = sarif_run(report(finding(), problems=(UNTYPED,)))['invocations']
    assert invocation['executionSuccessful'] is True


def test_fixes_are_listed_with_the_one_of_the_program_first() -> None:
    edit = TextEdit(4, 0, 4, 6, 'save()', 'do(save())')
    other = TextEdit(4, 0, 4, 0, '', '_ = ')
    fixable = replace(
        finding(), edits=(edit,), quick_fixes=(QuickFix('Discard the Result', (other,)),)
    )
    plain, fixed = sarif_run(report(finding(), fixable))['results']
    assert 'fixes' not in plain
    first, second = fixed['fixes']
    assert first['description']['text'] == 'Apply the fix of `seamwise check --fix`.'
    (change,) = first['artifactChanges']
    assert change['artifactLocation']['uri'] == 'shop/orders.py'
    region = {'startLine': 4, 'startColumn': 1, 'endLine': 4, 'endColumn': 7}
    assert change['replacements'] == [
        {'deletedRegion': region, 'insertedContent': {'text': 'do(save())'}}
    ]
    assert second['description']['text'] == 'Discard the Result.'


def test_run_has_an_id_of_its_own() -> None:
    assert sarif_run(report())['automationDetails'] == {'id': 'seamwise/check/'}


def test_rules_refer_to_the_documentation_that_the_package_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(findings, 'documentation_url', lambda: 'https://docs.example')
    rules = sarif_run(report())['tool']['driver']['rules']
    assert rules[1]['helpUri'] == 'https://docs.example/check/SW101/'
    monkeypatch.setattr(findings, 'documentation_url', lambda: '')
    assert 'helpUri' not in sarif_run(report())['tool']['driver']['rules'][1]


def test_documentation_url_comes_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    message = Message()
    message['Project-URL'] = 'Homepage, https://example'
    monkeypatch.setattr(findings, 'metadata', Mock(return_value=message))
    documentation_url = findings.documentation_url.__wrapped__
    assert documentation_url() == ''
    message['Project-URL'] = 'Documentation, https://docs.example/'
    assert documentation_url() == 'https://docs.example'
