"""The mypy plugin: which mypy it runs in, and that it says what the library says at run time."""

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
from seamwise.check.mypy_plugin import names
from seamwise.check.plugin import SUPPORTED, SeamwisePlugin

ROOT = Path(__file__).parent.parent.parent

WRONG = [
    '{nothing}', '{} of {size}', '{0}', '{size.real}', '{size[0]}', '{size!x}', '{size:{disk}}', '{size:d', 'a } b',
    '{size:.2q}', '{disk:d}', '{ratio:s}', '{is_full:s}', '{size!r:d}', '{quoted:d}', '{tag}', '{limit}', '{category}',
]  # fmt: skip

RIGHT = [
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
from seamwise import Category, TaggedError
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

OTHERS = [
    """class FromBase(Sized, TaggedError, category=Category.CONFLICT, message='{size:d} {disk}'):
    disk: str
""",
    "class OfTheBaseClass(Sized, TaggedError, category=Category.CONFLICT, message='{kind}'): pass\n",
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
    __doc__ = 'More than there may be.'
    limit = 4
    other = 5
    unit = 'files'
""",
]
"""Classes with fields from elsewhere, and values that are no fields."""


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
        *arguments,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_cases_of_the_checkers_hold_with_the_plugin() -> None:
    command = [
        sys.executable,
        'tests/typing_check.py',
        '--site',
        sys.executable,
        '--cases',
        'tests/typing',
        '--checkers',
        'mypy+plugin',
    ]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def classes() -> Iterator[str]:
    for number, template in enumerate([*WRONG, *RIGHT]):
        yield f'class E{number}(TaggedError, category=Category.CONFLICT, message={template!r}):{FIELDS}'
    yield from OTHERS


def said_when_made(source: str) -> Iterator[str]:
    try:
        exec(HEADER + source, {'__name__': 'made'})  # noqa: S102 -- the text is ours
    except TypeError as reason:
        yield str(reason)


def test_a_template_is_refused_in_the_words_of_the_run_time(tmp_path: Path) -> None:
    (tmp_path / 'made.py').write_text(HEADER + ''.join(classes()))
    found = re.findall(
        r'error: (.*?)(?:  \[seamwise\])?$', run_mypy(tmp_path, 'made.py').stdout, re.MULTILINE
    )
    assert found == [words for source in classes() for words in said_when_made(source)]
    assert len(found) == len(WRONG) + 4


@pytest.mark.parametrize('version', ['2.2.0', '1.19.1', '2.5.0', '2.5.0+dev.0a1b2c', '3.0'])
def test_another_mypy_is_told_which_ones_there_are(version: str) -> None:
    with pytest.raises(CompileError) as told:
        plugin.plugin(version)
    assert told.value.messages == [
        f'error: seamwise.check.plugin supports mypy 2.3 and 2.4, not {version}; without the plugin any mypy will do',
    ]


@pytest.mark.parametrize(
    'version', ['2.3.0', '2.3.1', '2.4.0', '2.4.1', '2.4.0+dev.0a1b2c', mypy_version]
)
def test_a_supported_mypy_gets_the_plugin(version: str) -> None:
    assert plugin.plugin(version) is SeamwisePlugin


def test_supported_are_the_two_newest_minor_versions_that_returns_allows() -> None:
    [bounds] = [
        re.findall(r'<(\d+)\.(\d+)', one)
        for one in metadata.requires('returns') or ()
        if one.startswith('mypy')
    ]
    major, minor = (int(part) for part in bounds[0])
    assert ((major, minor - 2), (major, minor - 1)) == SUPPORTED


def test_mypy_shows_the_refusal_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / 'older.py').write_text(
        "from seamwise.check import plugin as newer\ndef plugin(version):\n    return newer.plugin('2.2.0')\n"
    )
    (tmp_path / 'empty.py').touch()
    shown = run_mypy(tmp_path, 'empty.py', plugins='older.py')
    assert shown.returncode == 2
    assert 'supports mypy 2.3 and 2.4, not 2.2.0' in shown.stdout + shown.stderr
    assert 'Traceback' not in shown.stdout + shown.stderr


def test_without_mypy_the_plugin_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / 'mypy.py').write_text("raise ModuleNotFoundError(name='mypy')")
    code = f'import sys; sys.path.insert(0, {str(tmp_path)!r}); import seamwise.check.plugin'
    tried = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert "ImportError: seamwise.check needs mypy: pip install 'seamwise[check]'" in tried.stderr


def test_what_mypy_remembers_ends_when_a_feature_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = take_module_snapshot(plugin)
    for file in Path(names.__file__).parent.glob('*.py'):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(names, '__file__', str(tmp_path / 'names.py'))
    assert take_module_snapshot(plugin) == before
    (tmp_path / 'arms.py').write_text('')
    assert take_module_snapshot(plugin) != before


def test_the_plugin_module_has_no_other_name_out_of_nothing() -> None:
    with pytest.raises(AttributeError, match='no attribute'):
        plugin.nothing  # noqa: B018 -- the look is the test
