"""Tests of the packages of a release, of the workflows that publish them, and of upgrades."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from tools import release, upgrade

WORKFLOWS = sorted((release.ROOT / '.github' / 'workflows').glob('*.yml'))


def test_a_tag_other_than_the_version_is_an_obstacle() -> None:
    version = release.version()
    assert f"The tag is 'v9.9', and the version in pyproject.toml is '{version}'." in [
        *release.obstacles('v9.9')
    ]


def test_the_present_commit_can_be_tried() -> None:
    assert [*release.obstacles(None)] == []


def write_wheel(path: Path, names: set[str]) -> Path:
    with zipfile.ZipFile(path, 'w') as archive:
        for name in names:
            archive.writestr(name, '')
    return path


def test_missing_and_foreign_files_of_a_wheel_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ['src/seamwise/__init__.py', *(f'src/{name}' for name in release.NEEDED_IN_WHEEL)]
    monkeypatch.setattr(release, 'tracked', lambda _: files)
    names = {name.removeprefix('src/') for name in files} | {'seamwise-0.1.0.dist-info/METADATA'}
    complete = write_wheel(tmp_path / 'complete.whl', names)
    assert [*release.check_wheel(complete)] == []
    broken = write_wheel(
        tmp_path / 'broken.whl', names - {'seamwise/__init__.py'} | {'tests/test_release.py'}
    )
    assert [*release.check_wheel(broken)] == [
        'The wheel has tests/test_release.py, which belongs to no package.',
        'The wheel lacks seamwise/__init__.py.',
    ]


@pytest.mark.parametrize('workflow', WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_by_hash_and_grant_nothing_by_default(workflow: Path) -> None:
    text = workflow.read_text(encoding='utf-8')
    actions = re.findall(r'uses: (\S+)', text)
    assert actions
    assert [action for action in actions if not re.search(r'@[0-9a-f]{40}\Z', action)] == []
    assert '\npermissions: {}\n' in text


OLD = """\
[seamwise]
class Guard(ABC)
    def reset(self) -> None
    name: str
def attempt(rules: Rules) -> Wrap
def attempt(rules: Rules, *, name: str) -> Wrap
async def wait(seconds: float) -> None
LIMIT: int

[seamwise.live]
def wait(log: Log) -> None
"""


def test_names_removed_since_a_release_must_be_in_the_changelog() -> None:
    old = upgrade.read_surface(OLD)
    new = upgrade.read_surface(
        OLD.replace('LIMIT: int\n', '').replace('def wait(log', 'def go(log')
    )
    assert upgrade.removed(old, old) == []
    gone = upgrade.removed(old, new)
    assert gone == ['seamwise.LIMIT', 'seamwise.live.wait']
    changelog = '## [Unreleased]\n\n- `LIMIT` is `Limits.size`.\n\n## [0.1.0]\n\n- wait\n'
    assert upgrade.unexplained(gone, changelog) == ['seamwise.live.wait']


@pytest.mark.parametrize(
    ('before', 'after', 'names'),
    [
        ('    name: str\n', '    name: str\n    size: int\n', []),
        ('    name: str\n', '    name: str | None\n', ['seamwise.Guard']),
        ('*, name: str', '*, label: str', ['seamwise.attempt']),
        ('seconds: float', 'seconds: int', ['seamwise.wait']),
    ],
)
def test_other_signatures_than_those_of_a_release_are_named(
    before: str, after: str, names: list[str]
) -> None:
    new = upgrade.read_surface(OLD.replace(before, after))
    assert upgrade.changed(upgrade.read_surface(OLD), new) == names


def test_the_last_release_is_the_highest_version_that_the_commit_contains(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        settings = ('-c', 'user.name=A', '-c', 'user.email=a@example.com')
        subprocess.run(('git', *settings, *arguments), cwd=tmp_path, check=True)

    git('init', '--quiet', '--initial-branch=main')
    git('commit', '--quiet', '--allow-empty', '--message=first')
    assert upgrade.last_release(tmp_path) is None
    git('tag', 'v0.9.0')
    git('tag', 'v0.10.0')
    git('checkout', '--quiet', '-b', 'next')
    git('commit', '--quiet', '--allow-empty', '--message=second')
    git('tag', 'v1.0.0')
    git('checkout', '--quiet', 'main')
    assert upgrade.last_release(tmp_path) == 'v0.10.0'
