"""Tests of SW121 over several files: routers and the application are usually in different ones."""

from pathlib import Path

import pytest

from seamwise.check.checking import run_check
from seamwise.check.settings import CheckSettings

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

DEPENDENCIES = """
from collections.abc import Callable
from typing import Annotated
from fastapi import Depends
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import on

class SignedOut(TaggedError, category=Category.AUTHENTICATION, message='signed out'):
    pass

class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass

def user() -> Result[str, SignedOut]:
    return Success('ann')

def need(role: str) -> Callable[[], Result[str, SignedOut]]:
    return user

admin = need('admin')
User = Annotated[str, Depends(user)]
ACCESS = on(SignedOut).responds(401, 'SIGNED_OUT')
BUSY = on(Busy).responds(503, 'BUSY')
"""

ROUTES = """
from typing import Annotated
import deps
from deps import User
from fastapi import APIRouter, Depends

router = APIRouter()

@router.get('/')
def home(user: User) -> str:
    return user

@router.get('/default')
def default(user: str = Depends(deps.user)) -> str:
    return user

@router.get('/variable')
def variable(user: Annotated[str, Depends(deps.admin)]) -> str:
    return user

@router.get('/qualified')
def qualified(user: deps.User) -> str:
    return user
"""

MAIN = """
from deps import ACCESS, BUSY
from fastapi import FastAPI
from routes import router
from seamwise.seams.http import install

app = FastAPI()
app.include_router(router)
"""


def findings(folder: Path, main: str) -> list[tuple[str, str]]:
    for name, text in (('deps', DEPENDENCIES), ('routes', ROUTES), ('main', MAIN + main)):
        (folder / f'{name}.py').write_text(text, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        report = run_check(['.'], CheckSettings(select=('SW121',)))
    assert [problem for problem in report.problems if not problem.is_note] == []
    return [(finding.path, finding.source.strip()) for finding in report.findings]


def test_the_adapter_of_install_covers_the_routes_of_other_files(tmp_path: Path) -> None:
    assert findings(tmp_path, 'install(app, ACCESS | BUSY, log=None)\n') == []


def test_an_error_that_the_adapter_of_install_does_not_cover_is_found(tmp_path: Path) -> None:
    assert findings(tmp_path, 'install(app, BUSY)\n') == [
        ('deps.py', 'User = Annotated[str, Depends(user)]'),
        ('routes.py', 'def default(user: str = Depends(deps.user)) -> str:'),
        ('routes.py', 'def variable(user: Annotated[str, Depends(deps.admin)]) -> str:'),
    ]


def test_without_install_and_endpoint_no_adapter_is_known(tmp_path: Path) -> None:
    assert findings(tmp_path, '') == []


def test_an_error_that_one_of_several_adapters_covers_is_not_found(tmp_path: Path) -> None:
    main = 'install(app, BUSY)\ninstall(FastAPI(), ACCESS)\n'
    assert findings(tmp_path, main) == []


def test_an_adapter_of_unknown_errors_may_cover_each(tmp_path: Path) -> None:
    main = 'def unknown(adapter):  # type: ignore\n    install(app, adapter)\n'
    assert findings(tmp_path, main) == []


ADDED = """
def profile(user: User) -> str:
    return user

async def chat(websocket: WebSocket, user: str = Depends(user)) -> None: ...
def names(user: str = Depends(user)) -> None: ...

@endpoint(ACCESS)
def answered(user: str = Depends(user)) -> Result[str, SignedOut]:
    return Success(user)

app.add_api_route('/profile', profile)
app.add_api_route('/names', endpoint=names)
app.add_api_route('/answered', answered)
app.add_api_websocket_route('/chat', chat)

@app.websocket('/rooms')
async def rooms(websocket: WebSocket, user: str = Depends(user)) -> None: ...
"""


def test_routes_that_are_added_by_a_call_or_serve_websockets_are_found(tmp_path: Path) -> None:
    imports = """
from deps import SignedOut, User, user
from fastapi import Depends, WebSocket
from seamwise import Result, Success
from seamwise.seams.http import endpoint
"""
    assert findings(tmp_path, f'{imports}install(app, BUSY)\n{ADDED}')[1:] == [
        ('main.py', 'async def chat(websocket: WebSocket, user: str = Depends(user)) -> None: ...'),
        ('main.py', 'def names(user: str = Depends(user)) -> None: ...'),
        (
            'main.py',
            'async def rooms(websocket: WebSocket, user: str = Depends(user)) -> None: ...',
        ),
        ('routes.py', 'def default(user: str = Depends(deps.user)) -> str:'),
        ('routes.py', 'def variable(user: Annotated[str, Depends(deps.admin)]) -> str:'),
    ]


RELATIVE_ROUTES = """
from typing import Annotated
from fastapi import Depends, FastAPI
from seamwise.seams.http import install
from . import deps
from .. import p
from .deps import BUSY, User, user as current

app = FastAPI()
install(app, BUSY)

@app.get('/')
def home(user: User) -> str:
    return user

@app.get('/name')
def name(user: Annotated[str, Depends(current)]) -> str:
    return user

@app.get('/module')
def module(user: Annotated[str, Depends(deps.user)]) -> str:
    return user

@app.get('/package')
def package(user: Annotated[str, Depends(p.deps.user)]) -> str:
    return user
"""


@pytest.mark.parametrize('file', ['api.py', '__init__.py'])
def test_relative_imports_are_resolved(tmp_path: Path, file: str) -> None:
    package = tmp_path / 'outer' / 'p'
    package.mkdir(parents=True)
    (tmp_path / 'outer' / '__init__.py').touch()
    (package / '__init__.py').touch()
    (package / 'deps.py').write_text(DEPENDENCIES, encoding='utf-8')
    (package / file).write_text(RELATIVE_ROUTES, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        report = run_check(['.'], CheckSettings(select=('SW121',)))
    assert [(Path(finding.path).name, finding.source.strip()) for finding in report.findings] == [
        (file, 'def name(user: Annotated[str, Depends(current)]) -> str:'),
        (file, 'def module(user: Annotated[str, Depends(deps.user)]) -> str:'),
        (file, 'def package(user: Annotated[str, Depends(p.deps.user)]) -> str:'),
        ('deps.py', 'User = Annotated[str, Depends(user)]'),
    ]
