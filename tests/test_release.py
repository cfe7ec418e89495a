"""Tests of the packages of a release, of the workflows that publish them, and of upgrades."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from tools import release, upgrade
from tools.pypi_readme import with_addresses

WORKFLOWS = sorted((release.ROOT / '.github' / 'workflows').glob('*.yml'))


def test_a_tag_other_than_the_version_is_an_obstacle() -> None:
    version = release.version()
    assert f"The tag is 'v9.9', and the version in pyproject.toml is '{version}'." in [
        *release.obstacles('v9.9')
    ]


def test_the_present_commit_can_be_tried() -> None:
    assert [*release.obstacles(None)] == []


def test_a_release_without_addresses_stops() -> None:
    assert [*release.obstacles(f'v{release.version()}')][-1] == (
        'pyproject.toml has no [project.urls] with Documentation and Source: '
        'the links of the README would lead nowhere on PyPI.'
    )


def test_every_link_of_the_readme_leads_to_a_page_of_the_site_or_a_file_of_the_tag() -> None:
    urls = {'Documentation': 'https://docs.example/', 'Source': 'https://forge.example/seamwise'}
    readme = (release.ROOT / 'README.md').read_text(encoding='utf-8')
    text = with_addresses(readme, urls, 'v1')
    assert not re.search(r'\]\((?!https://|#)|(?:src|srcset)="(?!https://)', text)
    pages = re.findall(r'https://docs\.example/([\w/-]+)/', text)
    assert len(pages) > 10
    for page in pages:
        names = (f'docs/{page}.md', f'docs/{page}/README.md', f'docs/{page}/index.md')
        assert any((release.ROOT / name).is_file() for name in names), page
    files = re.findall(r'https://forge\.example/seamwise/(raw|blob)/v1/([^)"#]+)', text)
    assert {view for view, name in files if name.endswith('.png')} == {'raw'}
    for _, name in files:
        assert (release.ROOT / name).is_file(), name


def test_one_address_alone_is_refused() -> None:
    with pytest.raises(ValueError, match=r'\[project\.urls\] in pyproject\.toml lacks Source'):
        with_addresses('', {'Documentation': 'https://docs.example'}, 'v1')


@pytest.mark.slow
def test_readme_site_and_reports_follow_the_addresses_in_pyproject(tmp_path: Path) -> None:
    for folder in ('src', 'tools'):
        shutil.copytree(release.ROOT / folder, tmp_path / folder)
    (tmp_path / 'docs').mkdir()
    for name in ('LICENSE', 'README.md', 'pyproject.toml', 'docs/conf.py'):
        shutil.copy(release.ROOT / name, tmp_path / name)
    settings = tmp_path / 'pyproject.toml'
    settings.write_text(
        settings.read_text(encoding='utf-8').replace(
            '[project.optional-dependencies]',
            '[project.urls]\nDocumentation = "https://docs.example/1.0"\n'
            'Source = "https://forge.example/seamwise"\n\n[project.optional-dependencies]',
        ),
        encoding='utf-8',
    )
    build = (sys.executable, '-m', 'hatchling', 'build', '-t', 'wheel', '-d', 'dist')
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    [wheel] = (tmp_path / 'dist').iterdir()
    installed = tmp_path / 'installed'
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    [metadata] = installed.glob('*.dist-info/METADATA')
    assert '](https://docs.example/1.0/errors/)' in metadata.read_text(encoding='utf-8')
    page = 'from seamwise.check.findings import page_url; print(page_url("SW101"))'
    report = subprocess.run(
        (sys.executable, '-c', page),
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert report.stdout == 'https://docs.example/1.0/check/SW101/\n'
    site = runpy.run_path(str(tmp_path / 'docs' / 'conf.py'))
    assert site['html_baseurl'] == site['ogp_site_url'] == 'https://docs.example/1.0/'


def write_wheel(path: Path, names: set[str]) -> Path:
    with zipfile.ZipFile(path, 'w') as archive:
        for name in names:
            archive.writestr(name, '')
    return path


def test_missing_and_foreign_files_of_a_wheel_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ['src/seamwise/__init__.py', *(f'src/{name}' for name in release.NEEDED_IN_WHEEL)]
    monkeypatch.setattr(release, 'tracked', Mock(return_value=files))
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
