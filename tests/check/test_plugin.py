"""Tests of `plugin`: supported mypy versions, and the same messages as at run time."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from mypy.build import take_module_snapshot
from mypy.errors import CompileError
from mypy.version import __version__ as mypy_version

from seamwise.check import plugin
from seamwise.check._mypy import plugin as features
from seamwise.check.plugin import SUPPORTED, SeamwisePlugin

INVALID = [
    '{nothing}', '{} of {size}', '{0}', '{size.real}', '{size[0]}', '{size!x}',
    '{size:{disk}}', '{size:d', 'a } b',
    '{size:.2q}', '{disk:d}', '{ratio:s}', '{is_full:s}', '{size!r:d}', '{quoted:d}',
    '{tag}', '{limit}', '{category}',
]  # fmt: skip

VALID = [
    '',
    'plain',
    '{{size}}',
    '{size:>8,}{disk!r:^20}{ratio:.1%}{is_full}',
    '{when:%Y}',
    '{quoted:s}',
    '{maybe:d}',
    '{size!a:s}',
]

FIELDS = """
    size: int
    disk: str
    ratio: float
    is_full: bool
    quoted: 'str'
    when: datetime
    maybe: int | None
    limit: ClassVar[int] = 3
"""

HEADER = """
import sys
from datetime import datetime
from typing import ClassVar
from msgspec import Struct
import seamwise
from seamwise import Category, Cause, Internal, Secret, TaggedError
class Sized(Struct, frozen=True):
    size: int
    kind: ClassVar[int] = 3
    def doubled(self) -> int:
        return self.size * 2
class Limited:
    limit: int
    other = 3
    class int:
        pass
"""

SPECIAL_CLASSES = [
    """class FromBase(Sized, TaggedError, category=Category.CONFLICT, message='{size:d} {disk}'):
    disk: str
""",
    "class OfBaseClass(Sized, TaggedError, category=Category.CONFLICT, message='{kind}'): pass\n",
    "class Method(Sized, TaggedError, category=Category.CONFLICT, message='{doubled}'): pass\n",
    "class OfMixin(Limited, TaggedError, category=Category.CONFLICT, message='{limit}'): pass\n",
    """class OtherInt(TaggedError, category=Category.CONFLICT, message='{size:.2q}'):
    size: Limited.int
""",
    """class OnNewer(TaggedError, category=Category.CONFLICT, message='{disk}'):
    if sys.version_info >= (3, 11):
        disk: str
""",
    """class OnOlder(TaggedError, category=Category.CONFLICT, message='{disk}'):
    if sys.version_info < (3, 11):
        disk: str
""",
    """class Values(Limited, TaggedError, category=Category.CONFLICT, message='Too many.'):
    __doc__ = 'Too many files.'
    limit = 4
    other = 5
    unit = 'files'
""",
]
"""Classes with inherited or conditional fields, and with class variables."""

PUBLIC_CLASSES = [
    f"""class Public{number}(TaggedError, category=Category.CONFLICT, public={public!r}):
    disk: str
    host: Internal[str]
    port: Internal[int] | None = None
    alias: 'seamwise.Internal[str]' = ''
    token: Secret[str] | None = None
    cause: Cause | None = None
"""
    for number, public in enumerate(
        ['{disk}', 'Plain.', '{host}', '{port}', '{alias}', '{token!r}', '{cause}', '{nothing}']
    )
]
"""Classes with a public message; the first two are valid."""


def run_mypy(
    folder: Path, *arguments: str, plugins: str = 'seamwise.check.plugin'
) -> subprocess.CompletedProcess[str]:
    (folder / 'mypy.ini').write_text(f'[mypy]\nstrict = True\nplugins = {plugins}\n')
    command = [
        sys.executable,
        '-m',
        'mypy',
        '--config-file',
        'mypy.ini',
        '--no-error-summary',
        # Next to the folders of all tests, so that they share the cache of the library.
        f'--cache-dir={folder.parent / "mypy_cache"}',
        *arguments,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def classes() -> Iterator[str]:
    for number, template in enumerate([*INVALID, *VALID]):
        arguments = f'TaggedError, category=Category.CONFLICT, message={template!r}'
        yield f'class E{number}({arguments}):{FIELDS}'
    yield from SPECIAL_CLASSES
    yield from PUBLIC_CLASSES


def runtime_messages(source: str) -> Iterator[str]:
    try:
        exec(HEADER + source, {'__name__': 'made'})  # noqa: S102 -- trusted source
    except TypeError as error:
        yield str(error)


def test_invalid_templates_are_reported_with_the_runtime_message(tmp_path: Path) -> None:
    (tmp_path / 'made.py').write_text(HEADER + ''.join(classes()))
    reported = re.findall(
        r'error: (.*?)(?:  \[seamwise\])?$', run_mypy(tmp_path, 'made.py').stdout, re.MULTILINE
    )
    assert reported == [message for source in classes() for message in runtime_messages(source)]
    assert len(reported) == len(INVALID) + 4 + len(PUBLIC_CLASSES) - 2


@pytest.mark.parametrize('version', ['2.2.0', '1.19.1', '2.5.0', '2.5.0+dev.0a1b2c', '3.0'])
def test_unsupported_mypy_raises_with_the_supported_versions(version: str) -> None:
    with pytest.raises(CompileError) as raised:
        plugin.plugin(version)
    (message,) = raised.value.messages
    assert message == (
        f'error: seamwise.check.plugin supports mypy 2.3 and 2.4, not {version}; '
        'install one of them or remove the plugin'
    )


@pytest.mark.parametrize(
    'version', ['2.3.0', '2.3.1', '2.4.0', '2.4.1', '2.4.0+dev.0a1b2c', mypy_version]
)
def test_supported_mypy_gets_the_plugin(version: str) -> None:
    assert plugin.plugin(version) is SeamwisePlugin


def test_supported_versions_are_the_two_newest_minors_that_returns_allows() -> None:
    [bounds] = [
        re.findall(r'<(\d+)\.(\d+)', requirement)
        for requirement in metadata.requires('returns') or ()
        if requirement.startswith('mypy')
    ]
    major, minor = (int(part) for part in bounds[0])
    assert ((major, minor - 2), (major, minor - 1)) == SUPPORTED


def test_mypy_prints_the_version_error_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / 'older.py').write_text(
        'from seamwise.check import plugin as newer\n'
        "def plugin(version):\n    return newer.plugin('2.2.0')\n"
    )
    (tmp_path / 'empty.py').touch()
    process = run_mypy(tmp_path, 'empty.py', plugins='older.py')
    assert process.returncode == 2
    assert 'supports mypy 2.3 and 2.4, not 2.2.0' in process.stdout + process.stderr
    assert 'Traceback' not in process.stdout + process.stderr


def test_missing_mypy_raises_with_the_package_to_install(tmp_path: Path) -> None:
    (tmp_path / 'mypy.py').write_text("raise ModuleNotFoundError(name='mypy')")
    code = f'import sys; sys.path.insert(0, {str(tmp_path)!r}); import seamwise.check.plugin'
    process = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert "ImportError: seamwise.check needs mypy: pip install 'seamwise[check]'" in process.stderr


def test_cache_of_mypy_is_invalidated_when_a_feature_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = take_module_snapshot(plugin)
    for file in Path(features.__file__).parent.glob('*.py'):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(features, '__file__', str(tmp_path / '__init__.py'))
    assert take_module_snapshot(plugin) == snapshot
    (tmp_path / 'arms.py').write_text('')
    assert take_module_snapshot(plugin) != snapshot


def test_unknown_attribute_of_the_plugin_module_raises() -> None:
    with pytest.raises(AttributeError, match='no attribute'):
        plugin.nothing  # noqa: B018 -- the access raises
