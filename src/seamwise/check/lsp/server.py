"""Server over standard input and output. It checks the saved files after each change."""

import asyncio
import gc
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from lsprotocol import types
from msgspec import Struct
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure
from seamwise.check._mypy.sources import SourceProblem, read_source
from seamwise.check.checking import Report, report_on
from seamwise.check.collection.code_base import CodeBase, read_code_base
from seamwise.check.findings import Finding
from seamwise.check.lsp.conversion import Converter
from seamwise.check.lsp.hover import hover_text
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import load_settings

_STACK_SIZE = 256 * 1024 * 1024
"""Stack of the thread that runs mypy, in bytes; its parser is recursive."""


class _State(Struct, frozen=True):
    """Result of the last check."""

    report: Report
    code_base: CodeBase


class CheckServer(LanguageServer):
    """Language server that checks a folder when it starts, and each time a file is saved.

    Args:
        paths: Files and folders to check, relative to the folder of the client.
        python_executable: Python of the environment with the imported packages; may be empty.
    """

    def __init__(self, paths: Sequence[str], python_executable: str = '') -> None:
        super().__init__('seamwise', version('seamwise'))  # pyright: ignore[reportUnknownMemberType]  # of pygls
        self._paths = tuple(paths)
        self._python_executable = python_executable
        self._state: _State | None = None
        self._published: frozenset[str] = frozenset()
        self._is_stale = False
        self._task: asyncio.Task[None] | None = None
        # Only threads that start now have this stack.
        size = threading.stack_size(_STACK_SIZE)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix='seamwise check')
        self._executor.submit(threading.get_ident).result()
        threading.stack_size(size)

    def open_folder(self) -> None:
        """Make the folder of the client the current directory, as for `seamwise check`."""
        root = self.workspace.root_path
        if root is not None:
            os.chdir(root)

    def request_check(self) -> None:
        """Check as soon as a running check has ended; several requests become one check."""
        self._is_stale = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._check())

    async def _check(self) -> None:
        loop = asyncio.get_running_loop()
        while self._is_stale:
            self._is_stale = False
            try:
                result = await loop.run_in_executor(self._executor, self._analyse)
            except (Exception, SystemExit) as defect:  # noqa: BLE001 -- the next check may succeed
                # Without this, the server would stop checking without a word. mypy exits if a
                # pattern in its configuration is invalid.
                ref = report_defect(defect).ref
                result = f'the check failed; the log on standard error says more about {ref}.'
            if isinstance(result, str):
                self._say(result)
                continue
            self._state = result
            self._publish(result)

    def _analyse(self) -> _State | str:
        """Check the saved files, or return the reason why the settings are invalid."""
        settings = load_settings(Path.cwd(), RULES)
        if isinstance(settings, Failure):
            return settings.failure()
        loaded = settings.unwrap()
        code_base = read_code_base(
            self._paths,
            cache=loaded.cache,
            python_executable=self._python_executable or loaded.python_executable,
        )
        report = report_on(code_base, loaded)
        # The trees of mypy refer to each other.
        gc.collect()
        return _State(report, code_base)

    def _publish(self, state: _State) -> None:
        """Publish the diagnostics of all files, and clear those of files without any."""
        findings: dict[str, list[Finding]] = {}
        problems: dict[str, list[SourceProblem]] = {}
        for finding in state.report.findings:
            findings.setdefault(finding.path, []).append(finding)
        for problem in state.report.problems:
            if problem.path and Path(problem.path).is_file():
                problems.setdefault(problem.path, []).append(problem)
            elif not problem.is_note:
                # A note would be shown after each check.
                self._say(f'{problem.path}: {problem.message}' if problem.path else problem.message)
        paths = frozenset({*findings, *problems})
        for path in sorted(paths | self._published):
            converter = self._converter(path)
            diagnostics = [converter.problem(problem) for problem in problems.get(path, ())]
            diagnostics += [converter.diagnostic(finding) for finding in findings.get(path, ())]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri=_uri(path), diagnostics=diagnostics)
            )
        self._published = paths

    def _say(self, message: str) -> None:
        self.window_show_message(
            types.ShowMessageParams(type=types.MessageType.Warning, message=f'seamwise: {message}')
        )

    def _converter(self, path: str, source: str | None = None) -> Converter:
        if source is None:
            try:
                source = read_source(path)
            except (OSError, ValueError, SyntaxError):
                # The file was removed or changed after the check.
                source = ''
        lines = source.replace('\r\n', '\n').replace('\r', '\n').split('\n')
        return Converter(lines, self.workspace.position_codec)

    def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the quick fixes of the findings in a range."""
        path = _path(params.text_document.uri)
        if self._state is None or path is None:
            return []
        # Unsaved changes count: an edit applies only where its text is unchanged.
        source = self.workspace.get_text_document(params.text_document.uri).source
        converter = self._converter(path, source)
        actions: list[types.CodeAction] = []
        for finding in self._state.report.findings:
            start, end = finding.line - 1, finding.last_line - 1
            is_inside = start <= params.range.end.line and params.range.start.line <= end
            if finding.path == path and is_inside:
                diagnostic = converter.diagnostic(finding)
                actions += converter.actions(finding, params.text_document.uri, diagnostic)
        return actions

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return the channel of the function at a position."""
        path = _path(params.text_document.uri)
        files = self._state.code_base.files if self._state is not None else ()
        file = next((file for file in files if file.path == path), None)
        if file is None:
            return None
        document = self.workspace.get_text_document(params.text_document.uri)
        position = document.position_codec.position_from_client_units(
            document.lines, params.position
        )
        text = hover_text(file, files, position.line + 1, position.character + 1)
        if text is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def _uri(path: str) -> str:
    uri = from_fs_path(os.path.abspath(path))  # noqa: PTH100 -- symbolic links stay
    return uri or ''


def _path(uri: str) -> str | None:
    """Return the path of a file as findings have it."""
    path = to_fs_path(uri)
    return os.path.relpath(path) if path is not None else None


def create_server(paths: Sequence[str], python_executable: str = '') -> CheckServer:
    """Return the server with its features; `start_io` runs it."""
    server = CheckServer(paths, python_executable)

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        server.open_folder()
        server.request_check()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveTextDocumentParams) -> None:
        server.request_check()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.request_check()

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return server.code_actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return server.hover(params)

    del initialized, saved, changed, code_actions, hover
    return server
