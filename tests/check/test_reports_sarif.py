"""A report as SARIF, against the schema, and what the standard says beyond it."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import jsonschema_rs
import pytest

from seamwise.check.checking import Report
from seamwise.check.mypy_sources import Problem
from seamwise.check.reports import as_sarif
from seamwise.check.rules.registry import RULES

from .reporting import ODD, UNCONFIGURED, UNREAD, UNTYPED, finding, report

SCHEMA = Path(__file__).parent / 'schemas' / 'sarif-2.1.0-rtm.5.json'
# A bracket too many in the pattern of `language`, which the errata of the standard take out; strict readers refuse it.
MENDED = SCHEMA.read_text(encoding='utf-8').replace('[a-zA-Z]{2}]?$', '[a-zA-Z]{2}?$')
VALIDATOR = jsonschema_rs.validator_for(json.loads(MENDED), validate_formats=True)


def run(told: Report) -> dict[str, Any]:
    log = json.loads(as_sarif(told))
    assert [f'{one.instance_path}: {one.message}' for one in VALIDATOR.iter_errors(log)] == []
    assert log['version'] == '2.1.0'
    only: dict[str, Any]
    (only,) = log['runs']
    return only


def fingerprints(told: Report) -> list[str]:
    return [next(iter(one['partialFingerprints'].values())) for one in run(told)['results']]


def location(told: Report) -> dict[str, Any]:
    found: dict[str, Any] = run(told)['results'][0]['locations'][0]['physicalLocation']
    return found


def test_the_schema_would_see_a_mistake() -> None:
    log = json.loads(as_sarif(report(finding())))
    log['runs'][0]['results'][0]['level'] = 'hint'
    assert not VALIDATOR.is_valid(log)


def test_without_findings_there_are_results_all_the_same() -> None:
    # Without the array the tool would be said not to have looked.
    assert run(report())['results'] == []


def test_the_driver_has_every_rule_with_its_page() -> None:
    rules = run(report())['tool']['driver']['rules']
    assert [one['id'] for one in rules] == list(RULES)
    assert len({one['name'] for one in rules}) == len(rules)
    assert all(one['name'].isidentifier() for one in rules)
    first = rules[0]
    assert first['name'] == 'ResultThrownAway'
    assert first['shortDescription'] == {'text': 'A Result thrown away.'}
    assert first['fullDescription']['text'].startswith('A function that returns a Result says')
    assert first['help']['markdown'] == RULES['SW101'].page
    assert first['defaultConfiguration'] == {'enabled': True, 'level': 'error'}
    enabled = [one['id'] for one in rules if one['defaultConfiguration']['enabled']]
    assert enabled == [one.code for one in RULES.values() if one.is_default and not one.needs_whole_program]


def test_a_result_points_to_its_rule_and_its_place() -> None:
    told = run(report(finding('\tsave()', code='SW103', severity='hint')))
    (result,) = told['results']
    assert (result['ruleId'], result['level']) == ('SW103', 'note')
    assert told['tool']['driver']['rules'][result['ruleIndex']]['id'] == 'SW103'
    assert result['message'] == {'text': 'The Result is thrown away.\nUse it.'}
    assert result['locations'] == [
        {
            'physicalLocation': {
                'artifactLocation': {'uri': 'shop/orders.py', 'uriBaseId': '%SRCROOT%'},
                'region': {'startLine': 4, 'startColumn': 2, 'endLine': 4, 'endColumn': 8},
            }
        }
    ]
    assert '%SRCROOT%' in told['originalUriBaseIds']


def test_columns_count_characters_and_say_so() -> None:
    told = report(finding("'𝄞错'; save()"))
    assert run(told)['columnKind'] == 'unicodeCodePoints'
    assert location(told)['region']['startColumn'] == 7


def test_over_several_lines_the_end_is_that_of_the_last() -> None:
    assert location(report(finding(last_line=7)))['region'] == {
        'startLine': 4,
        'startColumn': 1,
        'endLine': 7,
    }


@pytest.mark.parametrize('path', [ODD, 'a:b.py', 'C:\\shop\\a.py', '..a.py', 'a?b#c.py'])
def test_a_path_is_a_relative_reference_however_odd(path: str) -> None:
    uri: str = location(report(finding(path=path)))['artifactLocation']['uri']
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ('', '', '', '')
    assert unquote_to_bytes(uri) == path.encode('utf-8', 'surrogateescape')
    assert '\\' not in uri


@pytest.mark.parametrize('path', ['../shop/a b.py', '/somewhere/a b.py'])
def test_a_path_outside_of_the_current_directory_has_no_base(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / 'inner'
    inner.mkdir()
    monkeypatch.chdir(inner)
    expected = {
        '../shop/a b.py': f'{tmp_path.as_uri()}/shop/a%20b.py',
        '/somewhere/a b.py': 'file:///somewhere/a%20b.py',
    }[path]
    assert location(report(finding(path=path)))['artifactLocation'] == {'uri': expected}


def test_a_fingerprint_survives_a_moved_line_and_another_depth() -> None:
    before, after = report(finding('save()', line=4)), report(finding('    save()', line=90))
    assert fingerprints(before) == fingerprints(after)


def test_fingerprints_are_of_one_finding_each() -> None:
    found = [
        finding(),
        finding(line=5),
        finding('save(1)', 'save(1)'),
        finding(code='SW102'),
        finding(message='Another one.'),
    ]
    told = fingerprints(report(*found))
    assert len(set(told)) == len(found)
    # What comes new above others of other words changes none of them.
    assert fingerprints(report(finding('print()', 'print()'), *found))[1:] == told


def test_what_could_not_be_read_is_in_the_invocation() -> None:
    (told,) = run(report(problems=(UNREAD, UNTYPED, UNCONFIGURED)))['invocations']
    assert told['executionSuccessful'] is False
    (unread,) = told['toolExecutionNotifications']
    assert (unread['level'], unread['message']['text']) == ('error', UNREAD.message)
    place = {
        'artifactLocation': {'uri': 'broken.py', 'uriBaseId': '%SRCROOT%'},
        'region': {'startLine': 3},
    }
    assert unread['locations'] == [{'physicalLocation': place}]
    assert [one['level'] for one in told['toolConfigurationNotifications']] == ['warning', 'error']
    assert 'locations' not in told['toolConfigurationNotifications'][1]


def test_a_problem_without_a_line_has_no_region() -> None:
    (told,) = run(report(problems=(Problem('data.txt', 'no Python file.'),)))['invocations']
    assert 'region' not in told['toolExecutionNotifications'][0]['locations'][0]['physicalLocation']


def test_all_is_well_where_all_was_read() -> None:
    assert (
        run(report(finding(), problems=(UNTYPED,)))['invocations'][0]['executionSuccessful'] is True
    )
