"""Tests of the layout: imports only go down, rooms have doors, and the core stays light."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / 'src' / 'seamwise'
LAYERS = [
    '_text',
    'redaction',
    '_errors',
    '_results',
    '_defects',
    'locale',
    'faces',
    '_runtime',
    'catalog',
    'policies',
    'seams',
    'testing',
    'check',
    'live',
    'toolhost',
    'documents',
    'program',
]
"""From the lowest to the highest. `faces` are `seamwise` itself and the modules beside it."""

FACES = {'seamwise', 'seamwise.messages', 'seamwise.typing'}
"""Modules at the root: they define nothing, and import the public names from the rooms."""

SHARED_BY_SEAMS = ['functions', 'adapter', 'catalog', 'rendering', 'reporting', 'wire']
"""The modules and rooms that every seam may import; a later one may import the earlier ones."""

MAX_FILES = 25
LISTS = {'check/rules', 'toolhost/formats'}
"""Folders with one file for each item of a list, which can have more than `MAX_FILES` files."""


def module_of(file: Path) -> str:
    parts = ('seamwise', *file.relative_to(SOURCE).with_suffix('').parts)
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def layer_of(module: str) -> str:
    """Return the layer of a module or of an object in it; `seamwise.Success` is of the faces."""
    part = module.split('.')[1] if '.' in module else ''
    if part == '__main__':
        return 'program'
    return part if part in LAYERS else 'faces'


def imported_names(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{file}: imports are absolute here'
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def own_imports(file: Path) -> Iterator[str]:
    return (name for name in imported_names(file) if name.split('.')[0] == 'seamwise')


FILES = sorted(SOURCE.rglob('*.py'))
MODULES = {module_of(file) for file in FILES}


def imported_modules(file: Path) -> set[str]:
    """Return the modules that a file imports, without the faces of its own packages."""
    module = module_of(file)
    names = own_imports(file)
    targets = {name if name in MODULES else name.rpartition('.')[0] for name in names} & MODULES
    inner = f'{module}.' if file.name == '__init__.py' else None
    return {
        target
        for target in targets
        if not f'{module}.'.startswith(f'{target}.') and not (inner and target.startswith(inner))
    }


def circle_of(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports, nothing if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def imported_parts_of_seams(files: Iterable[Path]) -> set[str]:
    """Return the seams and shared rooms that files import."""
    return {
        name.split('.')[2]
        for file in files
        for name in own_imports(file)
        if name.startswith('seamwise.seams.')
    }


def files_of(layer: str) -> list[Path]:
    return [file for file in FILES if layer_of(module_of(file)) == layer]


def test_every_package_belongs_to_a_layer() -> None:
    packages = {file.parent.name for file in SOURCE.glob('*/__init__.py')}
    assert packages == {*LAYERS} - {'faces'}


def test_the_guide_for_contributors_lists_the_rooms_in_the_order_of_the_layers() -> None:
    guide = (SOURCE.parents[1] / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    section = guide.partition('## Find your way')[2].partition('\n## ')[0]
    rooms = re.findall(r'^\| `(\w+)/` \|', section, re.MULTILINE)
    assert rooms == [layer for layer in reversed(LAYERS) if layer != 'faces']
    for room, contents in re.findall(r'^\| `(\w+)/` \| (.*) \|$', section, re.MULTILINE):
        for name in re.findall(r'`(\w+/|\w+\.py)`', contents):
            assert any((SOURCE / room).rglob(name.rstrip('/'))), f'{room}/{name}'


def test_the_modules_at_the_root_are_faces() -> None:
    files = {module_of(file) for file in SOURCE.glob('*.py')} - {'seamwise.__main__'}
    assert files == FACES


@pytest.mark.parametrize('face', sorted(FACES))
def test_a_face_defines_nothing_but_the_version(face: str) -> None:
    [file] = [file for file in FILES if module_of(file) == face]
    definitions = [
        node.name
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8')))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    assert definitions == (['__getattr__'] if face == 'seamwise' else [])


def test_no_modules_import_each_other() -> None:
    """Imports inside functions and under TYPE_CHECKING count too."""
    assert circle_of({module_of(file): imported_modules(file) for file in FILES}) == []


def test_a_circle_of_imports_is_found() -> None:
    assert set(circle_of({'a': {'b'}, 'b': {'c'}, 'c': {'a'}, 'd': {'a'}})) == {'a', 'b', 'c'}


def private_part(name: str) -> str | None:
    """Return the package whose private module or name a dotted name contains.

    The rooms of the core begin with an underscore too: they are private to `seamwise`.
    """
    parts = name.split('.')
    for at, part in enumerate(parts):
        if part.startswith('_') and not part.startswith('__') and at > 1:
            return '.'.join(parts[:at])
    return None


@pytest.mark.parametrize('file', FILES, ids=module_of)
def test_private_modules_and_names_are_imported_only_inside_their_package(file: Path) -> None:
    module = module_of(file)
    owners = {name: private_part(name) for name in own_imports(file)}
    foreign = [
        name for name, owner in owners.items() if owner and not f'{module}.'.startswith(f'{owner}.')
    ]
    assert foreign == []


def test_folders_have_at_most_25_files() -> None:
    sizes = Counter(file.parent.relative_to(SOURCE).as_posix() for file in FILES)
    assert {name for name, size in sizes.items() if size > MAX_FILES} <= LISTS


def test_every_room_says_what_is_in_it() -> None:
    faces = [file for file in FILES if file.name == '__init__.py']
    texts = {
        module_of(file): ast.get_docstring(ast.parse(file.read_text('utf-8'))) for file in faces
    }
    assert [module for module, text in texts.items() if not text] == []


@pytest.mark.parametrize('file', FILES, ids=module_of)
def test_a_module_imports_no_higher_layer(file: Path) -> None:
    own_layer = LAYERS.index(layer_of(module_of(file)))
    assert not [name for name in own_imports(file) if LAYERS.index(layer_of(name)) > own_layer]


@pytest.mark.parametrize('file', files_of('catalog'), ids=module_of)
def test_a_catalog_domain_imports_no_errors_of_another_domain(file: Path) -> None:
    names = {name for name in own_imports(file) if layer_of(name) == 'catalog'}
    assert names <= {'seamwise.catalog.problem.Problem'}


def shows_errors(file: Path) -> bool:
    """Return whether a file of the tool host answers calls, or serves tools to clients.

    An outcome classifies its error for planners.
    """
    folder, *rest = file.relative_to(SOURCE / 'toolhost').parts
    is_answer = folder == 'formats' and rest[-1:] in (['answers.py'], ['guidance.py'])
    return folder in {'mcp', 'server', 'outcome.py'} or is_answer


@pytest.mark.parametrize(
    'file', [file for file in files_of('toolhost') if not shows_errors(file)], ids=module_of
)
def test_a_tool_imports_no_seam(file: Path) -> None:
    assert not [name for name in own_imports(file) if layer_of(name) == 'seams']


@pytest.mark.parametrize('file', files_of('check'), ids=module_of)
def test_the_checker_imports_no_seam(file: Path) -> None:
    assert not [name for name in own_imports(file) if layer_of(name) == 'seams']


@pytest.mark.parametrize(
    'seam',
    sorted(
        folder.name
        for folder in (SOURCE / 'seams').iterdir()
        if (folder / '__init__.py').exists() and folder.name not in SHARED_BY_SEAMS
    ),
)
def test_a_seam_imports_no_other_seam(seam: str) -> None:
    """One exception: JSON-RPC results contain the guidance of the model seam."""
    parts = imported_parts_of_seams((SOURCE / 'seams' / seam).rglob('*.py'))
    seams = parts - {seam, *SHARED_BY_SEAMS}
    assert seams <= ({'model'} if seam == 'jsonrpc' else set())


@pytest.mark.parametrize('part', SHARED_BY_SEAMS)
def test_what_seams_share_imports_no_seam(part: str) -> None:
    folder = SOURCE / 'seams' / part
    files = [folder.with_suffix('.py')] if not folder.is_dir() else folder.rglob('*.py')
    lower = SHARED_BY_SEAMS[: SHARED_BY_SEAMS.index(part) + 1]
    assert imported_parts_of_seams(files) <= set(lower)


HTTP_ROOMS = ['', 'serving', 'asgi', 'openapi_documents', 'fastapi']
"""From the lowest to the highest; the first is the folder of the seam itself."""


def http_room_of(module: str) -> str | None:
    """Return the room of a module or an object of the HTTP seam; None for others."""
    _, is_http, rest = f'{module}.'.partition('seamwise.seams.http.')
    room = rest.split('.')[0]
    return (room if room in HTTP_ROOMS else '') if is_http else None


def test_the_rooms_of_the_http_seam_are_listed() -> None:
    rooms = {file.parent.name for file in (SOURCE / 'seams' / 'http').glob('*/__init__.py')}
    assert rooms == {*HTTP_ROOMS} - {''}


@pytest.mark.parametrize('room', HTTP_ROOMS)
def test_a_room_of_the_http_seam_imports_no_higher_room(room: str) -> None:
    """The face of the seam imports from all rooms."""
    files = (file for file in (SOURCE / 'seams' / 'http' / room).glob('*.py'))
    imported = {
        http_room_of(name)
        for file in files
        if module_of(file) != 'seamwise.seams.http'
        for name in own_imports(file)
    } - {None}
    assert imported <= {*HTTP_ROOMS[: HTTP_ROOMS.index(room) + 1]}


LAZY_MODULES = [
    'asyncio',
    'logging',
    'traceback',
    'secrets',
    'json',
    'gettext',
    'pathlib',
    'click',
    'rich',
    'rapidfuzz',
]


@pytest.mark.parametrize('module', LAZY_MODULES)
def test_importing_the_core_does_not_import_the_module(module: str) -> None:
    code = f'import seamwise, sys; sys.exit({module!r} in sys.modules)'
    assert subprocess.run([sys.executable, '-I', '-c', code], check=False).returncode == 0
