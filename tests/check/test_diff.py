"""Tests of `diff` and `git`, in temporary repositories."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from seamwise import Failure, Result
from seamwise.check.checking import Report
from seamwise.check.comparison.diff import new_findings
from seamwise.check.comparison.git import export_commit, find_commit
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import CheckSettings, load_settings

# Each test runs mypy.
pytestmark = pytest.mark.slow

LIB = (
    'from seamwise import Failure, Result, Success\n'
    "def keep(n: int) -> Result[int, str]: return Success(n) if n else Failure('none')\n"
)
USE = 'from lib import keep\n'


def git(*arguments: str) -> None:
    author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    subprocess.run(['git', *author, *arguments], check=True, capture_output=True)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding='utf-8')


def commit(files: dict[str, str]) -> None:
    write(files)
    git('add', '--all')
    git('commit', '--message', 'one', '--allow-empty')


def load(folder: Path) -> Result[CheckSettings, str]:
    return load_settings(folder, RULES)


def new_report(paths: Sequence[str], base: str = 'HEAD') -> Report:
    return new_findings(paths, base, load).unwrap().report


def summaries(report: Report) -> list[tuple[str, int, str]]:
    return [(finding.path, finding.line, finding.code) for finding in report.findings]


def error_message(paths: Sequence[str], base: str) -> str:
    result = new_findings(paths, base, load)
    assert isinstance(result, Failure)
    return result.failure()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an empty repository, and a folder for temporary files."""
    root, temporary = tmp_path / 'a b' / '仓库', tmp_path / 'temporary'
    root.mkdir(parents=True)
    temporary.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setattr('tempfile.tempdir', str(temporary))
    git('init', '--quiet')
    return root


@pytest.fixture
def change(repository: Path) -> Path:
    """Commit files, and change them in every way that matters."""
    commit(
        {
            'pyproject.toml': '[tool.seamwise.check]\nignore = ["SW104"]\n',
            '.gitattributes': 'kept.py export-ignore\n',
            'lib.py': f'{LIB}def save() -> None: ...\n',
            'untouched.py': 'from lib import save\nsave()\n',
            'kept.py': f'{USE}keep(1)\n',
            'moved.py': f'{USE}keep(1)\n',
            'twice.py': f'{USE}keep(1)\nprint()\nkeep(1)\n',
            'fixed.py': f'{USE}keep(1)\n',
            'folder/old.py': f'{USE}keep(1)\n# a line\n# and another one\n',
            'unwrapped.py': f'{USE}keep(1).unwrap()\n',
        }
    )
    write(
        {
            'pyproject.toml': '',
            'lib.py': f'{LIB}def save() -> Result[int, str]: return keep(1)\n',
            'moved.py': f'{USE}\n\nif __name__:\n    keep(1)\n',
            'twice.py': f'{USE}keep(1)\nkeep(1)\nprint()\nkeep(1)\n',
            'fixed.py': f'{USE}_ = keep(1)\n',
            'untracked.py': f'{USE}keep(1)\n',
        }
    )
    git('add', 'moved.py')
    Path('folder/old.py').rename('name\nnew.py')
    return repository


def test_only_findings_of_the_change_are_reported(change: Path) -> None:
    objects = sorted(change.joinpath('.git').rglob('*'))
    report = new_report(['.'])
    assert summaries(report) == [
        # On the added line, though all three calls look alike.
        ('twice.py', 3, 'SW101'),
        # Caused by the change of another file.
        ('untouched.py', 2, 'SW101'),
        ('untracked.py', 2, 'SW101'),
        # The commit ignored the rule.
        ('unwrapped.py', 2, 'SW104'),
    ]
    assert report.files == 9
    assert sorted(change.joinpath('.git').rglob('*')) == objects
    assert list((change.parents[1] / 'temporary').iterdir()) == []


@pytest.mark.nightly
def test_renamed_file_has_no_new_findings_when_it_is_checked_alone(change: Path) -> None:
    assert summaries(new_report(['name\nnew.py'])) == []


@pytest.mark.nightly
def test_folders_and_absolute_paths_are_accepted(
    change: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir('folder')
    write({'inner.py': f'{LIB}keep(1)\n'})
    assert summaries(new_report(['.', '../kept.py', str(change / 'moved.py')])) == [
        ('inner.py', 3, 'SW101')
    ]


@pytest.mark.nightly
def test_symbolic_links_are_resolved_in_the_working_tree_and_the_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path('link').symlink_to('real')
    commit({'real/lib.py': f'{LIB}keep(1)\n'})
    away = repository.parent / 'away'
    away.symlink_to(repository)
    for path in ('link', '../away/real'):
        assert summaries(new_report([path])) == [], path
    write({'real/lib.py': f'{LIB}keep(1)\nkeep(2)\n'})
    assert summaries(new_report([str(away / 'link' / 'lib.py')])) == [
        ('../away/link/lib.py', 4, 'SW101')
    ]


def test_all_findings_are_new_in_a_folder_that_the_commit_lacks(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit({'lib.py': LIB})
    write({'folder/new.py': f'{LIB}keep(1)\n'})
    monkeypatch.chdir('folder')
    assert summaries(new_report(['.'])) == [('new.py', 3, 'SW101')]


def test_file_that_does_not_parse_in_the_commit_is_a_problem(repository: Path) -> None:
    commit({'lib.py': LIB, 'broken.py': 'def (:\n'})
    write({'broken.py': f'{USE}keep(1)\n'})
    comparison = new_findings(['.'], 'HEAD', load).unwrap()
    assert summaries(comparison.report) == [('broken.py', 2, 'SW101')]
    assert comparison.report.is_complete
    assert [(problem.path, problem.is_unread) for problem in comparison.problems] == [
        ('broken.py', True)
    ]


@pytest.mark.nightly
def test_files_of_the_commit_do_not_shadow_modules(repository: Path) -> None:
    # The files of a commit are read, never run.
    commit(
        {
            'lib.py': LIB,
            'use.py': f'{USE}keep(1)\n',
            'msgspec.py': 'raise SystemExit(7)\n',
            'json.py': 'raise SystemExit(7)\n',
        }
    )
    assert summaries(new_report(['use.py'])) == []


def test_invalid_settings_in_the_commit_are_reported(repository: Path) -> None:
    commit({'lib.py': LIB, 'pyproject.toml': '[tool.seamwise.check]\nselect = ["SW9"]\n'})
    write({'pyproject.toml': ''})
    assert error_message(['.'], 'HEAD').startswith(
        "in HEAD: pyproject.toml: [tool.seamwise.check] names 'SW9', but there are"
    )


def test_mypy_configuration_error_in_the_commit_is_reported(repository: Path) -> None:
    commit({'lib.py': LIB, 'mypy.ini': '[mypy]\npython_version = 2.7\n'})
    write({'mypy.ini': ''})
    assert error_message(['.'], 'HEAD').startswith(
        'HEAD cannot be checked: mypy refuses its configuration'
    )


@pytest.mark.nightly
def test_settings_outside_the_repository_apply_to_the_commit_too(repository: Path) -> None:
    commit({'lib.py': f'{LIB}keep(1)\nkeep(1).unwrap()\n'})
    (repository.parent / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nselect = ["SW104"]\n', encoding='utf-8'
    )
    assert summaries(new_report(['.'])) == []


@pytest.mark.parametrize(
    'base',
    ['nowhere', '', '--output=x', '-x', 'HEAD:lib.py', 'HEAD..HEAD', 'a\0b', '--', 'HEAD^{tree}'],
)
def test_invalid_commit_name_is_reported(repository: Path, base: str) -> None:
    commit({'lib.py': LIB})
    assert repr(base) in error_message(['.'], base)
    assert [path.name for path in repository.iterdir() if path.name != '.git'] == ['lib.py']


def test_repository_without_commits_is_reported(repository: Path) -> None:
    assert "no commit 'HEAD'" in error_message(['.'], 'HEAD')


def test_path_outside_the_repository_is_reported(repository: Path) -> None:
    commit({'lib.py': LIB})
    assert error_message(['lib.py', '../other.py'], 'HEAD').startswith(
        '../other.py is outside of the repository '
    )


def test_missing_repository_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('GIT_CEILING_DIRECTORIES', str(tmp_path.parent))
    assert error_message(['.'], 'HEAD').startswith(
        'git finds no repository here: not a git repository'
    )


def test_missing_git_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PATH', str(tmp_path))
    assert error_message(['.'], 'HEAD').startswith('git is not installed')


def test_git_configuration_and_hooks_have_no_effect(repository: Path) -> None:
    commit({'lib.py': f'{LIB}keep(1)\n', 'link.py': ''})
    Path('link.py').unlink()
    Path('link.py').symlink_to('lib.py')
    git('mv', 'lib.py', 'other.py')
    Path('.git/hooks').mkdir(exist_ok=True)
    Path('.git/hooks/post-index-change').write_text('#!/bin/sh\ntouch ran\n', encoding='utf-8')
    Path('.git/hooks/post-index-change').chmod(0o700)
    for name, value in {
        'diff.renames': 'false',
        'core.safecrlf': 'true',
        'core.autocrlf': 'true',
        'diff.relative': 'true',
    }.items():
        git('config', name, value)
    with export_commit(find_commit('HEAD').unwrap()) as export:
        assert dict(export.renames) == {'lib.py': 'other.py'}
        assert sorted(path.name for path in export.folder.iterdir()) == [
            '.git',
            'lib.py',
            'link.py',
        ]
    assert not Path('ran').exists()
    assert not export.folder.exists()
