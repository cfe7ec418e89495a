"""What a change brings, in repositories made for it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from seamwise import Failure, Result
from seamwise.check.checking import Report
from seamwise.check.diff import new_findings
from seamwise.check.git import export_commit, find_commit
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import CheckSettings, load_settings

LIB = "from seamwise import Failure, Result, Success\ndef keep(n: int) -> Result[int, str]: return Success(n) if n else Failure('none')\n"
USE = 'from lib import keep\n'


def git(*arguments: str) -> None:
    who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    subprocess.run(['git', *who, *arguments], check=True, capture_output=True)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding='utf-8')


def committed(files: dict[str, str]) -> None:
    write(files)
    git('add', '--all')
    git('commit', '--message', 'one', '--allow-empty')


def asked(folder: Path) -> Result[CheckSettings, str]:
    return load_settings(folder, RULES)


def new(paths: Sequence[str], base: str = 'HEAD') -> Report:
    return new_findings(paths, base, asked).unwrap().report


def places(report: Report) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.code) for one in report.findings]


def said(paths: Sequence[str], base: str) -> str:
    found = new_findings(paths, base, asked)
    assert isinstance(found, Failure)
    return found.failure()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty one, and a place for temporary files that must be empty again."""
    root, temporary = tmp_path / 'a b' / '仓库', tmp_path / 'temporary'
    root.mkdir(parents=True)
    temporary.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setattr('tempfile.tempdir', str(temporary))
    git('init', '--quiet')
    return root


@pytest.fixture
def change(repository: Path) -> Path:
    """Commit some files, and change them in every way."""
    committed(
        {
            'pyproject.toml': '[tool.seamwise.check]\nignore = ["SW104"]\n',
            '.gitattributes': 'kept.py export-ignore\n',
            'lib.py': f'{LIB}def save() -> None: ...\n',
            'untouched.py': 'from lib import save\nsave()\n',
            'kept.py': f'{USE}keep(1)\n',
            'moved.py': f'{USE}keep(1)\n',
            'twice.py': f'{USE}keep(1)\nprint()\nkeep(1)\n',
            'mended.py': f'{USE}keep(1)\n',
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
            'mended.py': f'{USE}_ = keep(1)\n',
            'untracked.py': f'{USE}keep(1)\n',
        }
    )
    git('add', 'moved.py')
    Path('folder/old.py').rename('name\nnew.py')
    return repository


def test_only_what_the_change_brings_is_found(change: Path) -> None:
    objects = sorted(change.joinpath('.git').rglob('*'))
    report = new(['.'])
    assert places(report) == [
        # On the line that is new, though all three look alike.
        ('twice.py', 3, 'SW101'),
        # By the change of another file.
        ('untouched.py', 2, 'SW101'),
        ('untracked.py', 2, 'SW101'),
        # The commit ignored the rule.
        ('unwrapped.py', 2, 'SW104'),
    ]
    assert report.files == 9
    assert sorted(change.joinpath('.git').rglob('*')) == objects
    assert list((change.parents[1] / 'temporary').iterdir()) == []


def test_a_renamed_file_is_the_same_when_it_alone_is_asked_for(change: Path) -> None:
    assert places(new(['name\nnew.py'])) == []


def test_a_folder_and_absolute_paths_may_be_asked_for(
    change: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir('folder')
    write({'inner.py': f'{LIB}keep(1)\n'})
    assert places(new(['.', '../kept.py', str(change / 'moved.py')])) == [('inner.py', 3, 'SW101')]


def test_links_are_followed_on_both_sides(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path('link').symlink_to('real')
    committed({'real/lib.py': f'{LIB}keep(1)\n'})
    away = repository.parent / 'away'
    away.symlink_to(repository)
    for path in ('link', '../away/real'):
        assert places(new([path])) == [], path
    write({'real/lib.py': f'{LIB}keep(1)\nkeep(2)\n'})
    assert places(new([str(away / 'link' / 'lib.py')])) == [('../away/link/lib.py', 4, 'SW101')]


def test_in_a_folder_that_the_commit_had_not_everything_is_new(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed({'lib.py': LIB})
    write({'folder/new.py': f'{LIB}keep(1)\n'})
    monkeypatch.chdir('folder')
    assert places(new(['.'])) == [('new.py', 3, 'SW101')]


def test_what_the_commit_could_not_parse_is_told(repository: Path) -> None:
    committed({'lib.py': LIB, 'broken.py': 'def (:\n'})
    write({'broken.py': f'{USE}keep(1)\n'})
    comparison = new_findings(['.'], 'HEAD', asked).unwrap()
    assert places(comparison.report) == [('broken.py', 2, 'SW101')]
    assert comparison.report.is_complete
    assert [(one.path, one.is_unread) for one in comparison.problems] == [('broken.py', True)]


def test_what_lies_in_the_commit_stands_in_for_no_module_of_ours(repository: Path) -> None:
    # The files of a commit are read, never run.
    committed(
        {
            'lib.py': LIB,
            'use.py': f'{USE}keep(1)\n',
            'msgspec.py': 'raise SystemExit(7)\n',
            'json.py': 'raise SystemExit(7)\n',
        }
    )
    assert places(new(['use.py'])) == []


def test_a_mistake_in_the_configuration_of_the_commit_is_told(repository: Path) -> None:
    committed({'lib.py': LIB, 'pyproject.toml': '[tool.seamwise.check]\nselect = ["SW9"]\n'})
    write({'pyproject.toml': ''})
    assert said(['.'], 'HEAD').startswith(
        "in HEAD: pyproject.toml: [tool.seamwise.check] names 'SW9', but there are"
    )


def test_a_configuration_that_mypy_refuses_is_told(repository: Path) -> None:
    committed({'lib.py': LIB, 'mypy.ini': '[mypy]\npython_version = 2.7\n'})
    write({'mypy.ini': ''})
    assert said(['.'], 'HEAD').startswith('HEAD cannot be checked: mypy refuses its configuration')


def test_a_configuration_outside_of_the_repository_counts_for_both(repository: Path) -> None:
    committed({'lib.py': f'{LIB}keep(1)\nkeep(1).unwrap()\n'})
    (repository.parent / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nselect = ["SW104"]\n', encoding='utf-8'
    )
    assert places(new(['.'])) == []


@pytest.mark.parametrize(
    'base',
    ['nowhere', '', '--output=x', '-x', 'HEAD:lib.py', 'HEAD..HEAD', 'a\0b', '--', 'HEAD^{tree}'],
)
def test_what_is_no_commit_is_told(repository: Path, base: str) -> None:
    committed({'lib.py': LIB})
    assert repr(base) in said(['.'], base)
    assert [one.name for one in repository.iterdir() if one.name != '.git'] == ['lib.py']


def test_a_repository_without_a_commit_has_none(repository: Path) -> None:
    assert "no commit 'HEAD'" in said(['.'], 'HEAD')


def test_a_path_outside_of_the_repository_is_told(repository: Path) -> None:
    committed({'lib.py': LIB})
    assert said(['lib.py', '../other.py'], 'HEAD').startswith(
        '../other.py is outside of the repository '
    )


def test_without_a_repository_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('GIT_CEILING_DIRECTORIES', str(tmp_path.parent))
    assert said(['.'], 'HEAD').startswith('git finds no repository here: not a git repository')


def test_without_git_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PATH', str(tmp_path))
    assert said(['.'], 'HEAD').startswith('git is not installed')


def test_a_configuration_of_git_changes_nothing(repository: Path) -> None:
    committed({'lib.py': f'{LIB}keep(1)\n', 'link.py': ''})
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
        assert sorted(one.name for one in export.folder.iterdir()) == ['.git', 'lib.py', 'link.py']
    assert not Path('ran').exists()
    assert not export.folder.exists()
