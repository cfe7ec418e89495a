"""Tests of the language server, with a client that starts it and talks to it over stdio."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.workspace import PositionCodec

from seamwise.check import findings
from seamwise.check.lsp.conversion import Converter
from tests.check.reporting import finding

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.anyio]

SHOP = """\
from seamwise import Category, Failure, Result, Success, TaggedError


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


def find(uid: int) -> Result[str, Missing]:
    return Failure(Missing()) if uid else Success('ada')


def wide(uid: int) -> Result[str, Missing | Busy]:
    return find(uid)


print('🙂'); find(1)
"""
_TIMEOUT = 60.0


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


class Editor(LanguageClient):
    """Client that keeps the diagnostics of each file."""

    def __init__(self, folder: Path) -> None:
        super().__init__('tests', '1')
        self.folder = folder
        self.diagnostics: dict[str, Sequence[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self._has_changed = asyncio.Event()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]  # of pygls
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri.rpartition('/')[2]] = [*params.diagnostics]
            self._has_changed.set()

        @self.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]  # of pygls
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._has_changed.set()

        del published, shown

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def change(self) -> None:
        """Wait for diagnostics or a message."""
        await asyncio.wait_for(self._has_changed.wait(), _TIMEOUT)
        self._has_changed.clear()

    def open(self, name: str) -> types.TextDocumentIdentifier:
        text = (self.folder / name).read_text(encoding='utf-8')
        item = types.TextDocumentItem(self.uri(name), 'python', 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return types.TextDocumentIdentifier(self.uri(name))

    def save(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding='utf-8')
        document = types.TextDocumentIdentifier(self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        versioned = types.VersionedTextDocumentIdentifier(2, document.uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(versioned, [change]))
        self.text_document_did_save(types.DidSaveTextDocumentParams(document))

    async def actions(self, name: str, line: int) -> list[types.CodeAction]:
        position = types.Position(line, 0)
        answer = await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(self.uri(name)),
                types.Range(position, position),
                types.CodeActionContext([]),
            )
        )
        return [action for action in answer or () if isinstance(action, types.CodeAction)]

    async def hover(self, name: str, line: int, column: int) -> str | None:
        document = types.TextDocumentIdentifier(self.uri(name))
        answer = await self.text_document_hover_async(
            types.HoverParams(document, types.Position(line, column))
        )
        if answer is None:
            return None
        assert isinstance(answer.contents, types.MarkupContent)
        return answer.contents.value


@asynccontextmanager
async def editor_in(folder: Path) -> AsyncGenerator[Editor]:
    """Start the server for a folder; at the end, it exits with 0."""
    editor = Editor(folder)
    await editor.start_io(sys.executable, '-m', 'seamwise', 'lsp')  # pyright: ignore[reportUnknownMemberType]  # of pygls
    process = editor._server
    assert process is not None
    try:
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(
                position_encodings=[types.PositionEncodingKind.Utf16]
            )
        )
        await editor.initialize_async(
            types.InitializeParams(capabilities, root_uri=folder.as_uri())
        )
        editor.initialized(types.InitializedParams())
        yield editor
        await editor.shutdown_async(None)
        editor.exit(None)
        assert await asyncio.wait_for(process.wait(), _TIMEOUT) == 0
    finally:
        if process.returncode is None:
            process.kill()
        await editor.stop()  # type: ignore[no-untyped-call]  # of pygls


def apply(text: str, edits: Sequence[types.TextEdit | object]) -> str:
    """Apply edits to a text, as an editor does with columns in UTF-16."""
    lines = text.split('\n')

    def offset(position: types.Position) -> int:
        line = lines[position.line] if position.line < len(lines) else ''
        units = line.encode('utf-16-le')[: 2 * position.character]
        before = sum(len(item) + 1 for item in lines[: position.line])
        return before + len(units.decode('utf-16-le'))

    typed = [edit for edit in edits if isinstance(edit, types.TextEdit)]
    for edit in sorted(typed, key=lambda item: offset(item.range.start), reverse=True):
        start, end = offset(edit.range.start), offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


@pytest.mark.parametrize(
    ('documentation', 'page'),
    [
        ('', None),
        ('https://docs.example', types.CodeDescription('https://docs.example/check/SW101/')),
    ],
)
def test_a_diagnostic_links_to_the_page_of_its_rule(
    monkeypatch: pytest.MonkeyPatch, documentation: str, page: types.CodeDescription | None
) -> None:
    monkeypatch.setattr(findings, 'documentation_url', lambda: documentation)
    converter = Converter(['save()'], PositionCodec())
    assert converter.diagnostic(finding()).code_description == page


async def test_findings_are_published_and_cleared(tmp_path: Path) -> None:
    (tmp_path / 'shop.py').write_text(SHOP, encoding='utf-8')
    (tmp_path / 'clean.py').write_text('print(1)\n', encoding='utf-8')
    async with editor_in(tmp_path) as editor:
        await editor.change()
        assert {*editor.diagnostics} == {'shop.py'}
        wide, discarded = editor.diagnostics['shop.py']
        assert (wide.code, wide.severity) == ('SW105', types.DiagnosticSeverity.Warning)
        assert (discarded.code, discarded.severity) == ('SW101', types.DiagnosticSeverity.Error)
        # The emoji counts as two units of UTF-16.
        assert discarded.range == types.Range(types.Position(19, 13), types.Position(19, 20))
        editor.open('shop.py')
        editor.save('shop.py', SHOP.replace('; find(1)', '').replace('Missing | Busy', 'Missing'))
        await editor.change()
        assert editor.diagnostics == {'shop.py': []}


async def test_quick_fixes_end_the_finding(tmp_path: Path) -> None:
    (tmp_path / 'shop.py').write_text(SHOP, encoding='utf-8')
    async with editor_in(tmp_path) as editor:
        await editor.change()
        editor.open('shop.py')
        fix, suppress = await editor.actions('shop.py', 15)
        assert fix.title == 'Fix SW105: declared error that cannot occur'
        assert fix.is_preferred
        assert not suppress.is_preferred
        assert suppress.title == 'Suppress SW105 here'
        discard, _ = await editor.actions('shop.py', 19)
        assert discard.title == 'Discard the Result explicitly'
        assert not discard.is_preferred
        assert await editor.actions('shop.py', 0) == []
        text = SHOP
        for action in (discard, fix):
            assert action.edit is not None
            assert action.edit.changes is not None
            text = apply(text, action.edit.changes[editor.uri('shop.py')])
        assert text == SHOP.replace('; find(1)', '; _ = find(1)').replace(
            'Missing | Busy', 'Missing'
        )
        assert suppress.edit is not None
        assert suppress.edit.changes is not None
        suppressed = apply(text, suppress.edit.changes[editor.uri('shop.py')])
        assert '# seamwise: allow[SW105] TODO: give the reason\ndef wide' in suppressed
        editor.save('shop.py', text)
        await editor.change()
        assert editor.diagnostics == {'shop.py': []}


async def test_fixes_of_changed_lines_are_not_offered(tmp_path: Path) -> None:
    (tmp_path / 'shop.py').write_text(SHOP, encoding='utf-8')
    async with editor_in(tmp_path) as editor:
        await editor.change()
        document = editor.open('shop.py')
        change = types.TextDocumentContentChangeWholeDocument(f'# one more line\n{SHOP}')
        editor.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, document.uri), [change]
            )
        )
        assert await editor.actions('shop.py', 15) == []


SUPPRESSED = '''\
def describe(uid: int) -> str:
    text = 'a' + \\
        find(uid).unwrap()
    if uid:
        text += f"""
        {find(uid).unwrap()}
        """
    return text.join([
        find(uid).unwrap(),
        find(uid).unwrap(),
    ])
'''


@pytest.mark.nightly
async def test_suppressions_keep_the_code_valid(tmp_path: Path) -> None:
    text = SHOP.replace('; find(1)', '') + SUPPRESSED
    (tmp_path / 'shop.py').write_text(text, encoding='utf-8')
    start = SHOP.count('\n')
    async with editor_in(tmp_path) as editor:
        await editor.change()
        editor.open('shop.py')
        targets: list[int] = []
        edits: list[types.TextEdit | object] = []
        for line in (2, 5, 8):
            (action,) = await editor.actions('shop.py', start + line)
            assert action.title == 'Suppress SW104 here'
            assert action.edit is not None
            assert action.edit.changes is not None
            (edit,) = action.edit.changes[editor.uri('shop.py')]
            targets.append(edit.range.start.line - start)
            edits.append(edit)
        assert targets == [1, 4, 8]
        suppressed = apply(text, edits)
        compile(suppressed, 'shop.py', 'exec')
        editor.save('shop.py', suppressed)
        await editor.change()
        lines = [diagnostic.range.start.line for diagnostic in editor.diagnostics['shop.py']]
        # The other finding in the list stays, and the one about `wide`.
        assert lines == [15, start + 9 + len(edits)]


@pytest.mark.nightly
async def test_check_that_fails_is_shown_and_the_next_one_runs(tmp_path: Path) -> None:
    (tmp_path / 'shop.py').write_text(SHOP, encoding='utf-8')
    (tmp_path / 'mypy.ini').write_text('[mypy]\nexclude = (\n', encoding='utf-8')
    async with editor_in(tmp_path) as editor:
        await editor.change()
        assert 'the check failed; the log' in editor.messages[0]
        (tmp_path / 'mypy.ini').unlink()
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
        await editor.change()
        assert len(editor.diagnostics['shop.py']) == 2


async def test_hover_shows_the_channel_of_a_function(tmp_path: Path) -> None:
    (tmp_path / 'shop.py').write_text(SHOP, encoding='utf-8')
    async with editor_in(tmp_path) as editor:
        await editor.change()
        editor.open('shop.py')
        definition = await editor.hover('shop.py', 15, 5)
        assert definition == (
            '**`wide`** can fail with:\n\n- `Busy` (shop)\n- `Missing` (shop)\n\n'
            'Nothing in it returns `Busy` today.'
        )
        call = await editor.hover('shop.py', 16, 12)
        assert call == '**`find`** can fail with:\n\n- `Missing` (shop)'
        assert await editor.hover('shop.py', 1, 0) is None


async def test_problems_and_invalid_settings_are_shown(tmp_path: Path) -> None:
    (tmp_path / 'shop.py').write_text('def broken(:\n', encoding='utf-8')
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\nselect = ["SW9"]\n', encoding='utf-8'
    )
    async with editor_in(tmp_path) as editor:
        await editor.change()
        assert "names 'SW9'" in editor.messages[0]
        (tmp_path / 'pyproject.toml').unlink()
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
        await editor.change()
        (problem,) = editor.diagnostics['shop.py']
        assert problem.message.startswith('it does not parse')
        assert problem.range.start.line == 0
