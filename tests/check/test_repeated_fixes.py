"""Tests of the loop of `--fix` with a checker that reports words instead of code."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from seamwise.check.checking import Report
from seamwise.check.facts import TextEdit
from seamwise.check.findings import Finding
from seamwise.check.fixing.repeated_fixes import FixSummary, fix_all
from tests.check.reporting import finding, report

Checker = Callable[[], Report]


def checker(
    path: Path,
    fixes: Mapping[str, str],
    *,
    codes: Mapping[str, str] | None = None,
    type_error: str = 'type_error',
) -> Checker:
    """Return a checker that reports each line with a word, and its replacement as the edit.

    The number of its calls is limited: a loop without end fails.
    """
    calls = iter(range(50))

    def check() -> Report:
        next(calls)
        lines = path.read_text().splitlines()
        findings = [
            word_finding(path, number, line, new, (codes or {}).get(line, 'SW118'))
            for number, line in enumerate(lines, 1)
            if (new := fixes.get(line)) is not None
        ]
        errors = lines.count(type_error)
        return replace(report(*findings), type_errors=((str(path), 'misc', errors),))

    return check


def word_finding(path: Path, number: int, line: str, new: str, code: str) -> Finding:
    edit = TextEdit(number, 0, number, len(line), line, new)
    item = finding(line, line, code, str(path), number)
    return replace(item, edits=(edit,))


def outcome(summary: FixSummary) -> tuple[int, list[tuple[str, str]]]:
    return summary.fixed, [(item.finding.source, item.reason) for item in summary.rejected]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'words.py'


def test_all_good_fixes_of_a_batch_are_applied(file: Path) -> None:
    file.write_text('a\nb\nc\n')
    summary = fix_all(checker(file, {'a': 'x', 'b': 'y', 'c': 'z'}))
    assert (outcome(summary), file.read_text()) == ((3, []), 'x\ny\nz\n')
    assert summary.paths == {str(file)}


def test_a_fix_can_make_another_one_possible(file: Path) -> None:
    file.write_text('a\n')
    codes = dict.fromkeys('ab', 'SW105')
    summary = fix_all(checker(file, {'a': 'b', 'b': 'c'}, codes=codes))
    assert (outcome(summary), file.read_text()) == ((2, []), 'c\n')


@pytest.mark.parametrize('count', [1, 2, 5])
def test_equal_findings_with_a_bad_fix_are_rejected_together(file: Path, count: int) -> None:
    file.write_text('bad\n' * count + 'a\n')
    summary = fix_all(checker(file, {'bad': 'type_error', 'a': 'x'}))
    assert outcome(summary) == (1, [('bad', 'add a type error')])
    assert file.read_text() == 'bad\n' * count + 'x\n'


def test_a_bad_fix_is_found_among_many(file: Path) -> None:
    words = [f'w{number}' for number in range(16)]
    file.write_text('\n'.join(words) + '\n')
    fixes = {word: f'x{word}' for word in words} | {'w11': 'type_error'}
    summary = fix_all(checker(file, fixes))
    assert outcome(summary) == (15, [('w11', 'add a type error')])
    assert file.read_text().split() == [word if word == 'w11' else f'x{word}' for word in words]


def test_a_fix_that_leaves_its_finding_is_taken_back(file: Path) -> None:
    file.write_text('a\n')

    def check() -> Report:
        # It inserts a line each time, and the finding remains.
        lines = file.read_text().splitlines()
        return report(word_finding(file, len(lines), 'a', 'new\na', 'SW104'))

    assert outcome(fix_all(check)) == (0, [('a', 'leave the finding')])
    assert file.read_text() == 'a\n'


def test_an_edit_that_changes_nothing_is_not_applied(file: Path) -> None:
    file.write_text('a\nb\n')
    summary = fix_all(checker(file, {'a': 'a', 'b': 'x'}))
    assert (outcome(summary), file.read_text()) == ((1, []), 'a\nx\n')


def test_fixes_that_create_the_findings_of_each_other_end(file: Path) -> None:
    file.write_text('a\n')
    summary = fix_all(checker(file, {'a': 'b', 'b': 'a'}, codes=dict.fromkeys('ab', 'SW105')))
    assert 0 < summary.fixed < 10


def test_a_fix_that_adds_a_serious_finding_is_taken_back(file: Path) -> None:
    file.write_text('a\nb\n')
    fixes, codes = {'a': 'x', 'x': 'y', 'b': 'z'}, {'a': 'SW104', 'x': 'SW103'}
    summary = fix_all(checker(file, fixes, codes=codes))
    assert outcome(summary) == (1, [('a', 'add SW103')])
    assert file.read_text() == 'a\nz\n'


def test_findings_of_a_channel_may_follow_from_a_fix(file: Path) -> None:
    file.write_text('a\n')
    codes = {'a': 'SW105', 'b': 'SW107'}
    summary = fix_all(checker(file, {'a': 'b', 'b': 'c'}, codes=codes))
    assert (outcome(summary), file.read_text()) == ((2, []), 'c\n')


@pytest.mark.parametrize('error', [KeyboardInterrupt, SystemExit, OSError])
def test_an_interrupted_check_takes_back_what_it_did_not_see(
    file: Path, error: type[BaseException]
) -> None:
    file.write_text('a\n')
    check = checker(file, {'a': 'x'})

    def interrupted_check() -> Report:
        if file.read_text() == 'x\n':
            raise error
        return check()

    with pytest.raises(error):
        fix_all(interrupted_check)
    assert file.read_text() == 'a\n'


def test_a_file_that_cannot_be_written_takes_back_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / 'first.py', tmp_path / 'second.py'
    first.write_text('a\n')
    second.write_text('a\n')
    rename = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if target.name == 'second.py':
            raise PermissionError(1, 'not permitted', str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, 'replace', refuse)
    findings = [word_finding(path, 1, 'a', 'x', 'SW118') for path in (first, second)]
    with pytest.raises(PermissionError) as caught:
        fix_all(lambda: report(*findings))
    # Not the name of a temporary file.
    assert caught.value.filename == str(second)
    assert (first.read_text(), second.read_text()) == ('a\n', 'a\n')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['first.py', 'second.py']


@pytest.mark.parametrize('line_end', ['\n', '\r\n', '\r'])
def test_inserted_lines_have_the_line_ends_of_the_file(file: Path, line_end: str) -> None:
    file.write_bytes(f'a{line_end}b{line_end}'.encode())
    fix_all(checker(file, {'b': 'x\ny'}))
    assert file.read_bytes() == f'a{line_end}x{line_end}y{line_end}'.encode()
