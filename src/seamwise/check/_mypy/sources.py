"""Source files grouped for mypy, and the mypy options of the check."""

import ast
import copy
import io
import os
import re
import stat
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import cast

from msgspec import Struct
from mypy.errorcodes import error_codes
from mypy.errors import CompileError
from mypy.find_sources import InvalidSourceList, SourceFinder, create_source_list
from mypy.fscache import FileSystemCache
from mypy.main import process_options
from mypy.modulefinder import BuildSource, get_search_dirs
from mypy.options import Options
from mypy.util import DecodeError, decode_python_encoding

from seamwise._text.phrases import join_limited, pluralize
from seamwise.check._mypy.excluded_files import excluded_paths
from seamwise.check._mypy.files import CheckedFiles
from seamwise.check._mypy.versions import HAS_NATIVE_PARSER
from seamwise.check._mypy.visible_source import may_hide_types, visible_text
from seamwise.check.settings import project_python

_ALL_MODULES = '*.*'
"""Section pattern that matches every module in a mypy configuration."""

_NEWER_OPTIONS: Mapping[str, object] = {'native_parser': HAS_NATIVE_PARSER, 'num_workers': 0}
"""Options that older versions of mypy do not have. The native parser is the default from 2.4 on."""

_HIDING_OPTIONS_OFF: Mapping[str, object] = {
    'ignore_errors': False,
    'ignore_missing_imports': False,
}
"""Options that hide the messages about missing types, and their neutral values."""

_OVERRIDDEN = frozenset({*_HIDING_OPTIONS_OFF, 'check_untyped_defs'})
"""Options that have no effect in the section of a module."""

_IMPORT_CODES = frozenset({'import', 'import-not-found', 'import-untyped'})

_SIGNALLED = 128
"""Larger exit codes, as `128 + SIGTERM`, are those of a signal."""

_HARMLESS = 'No [mypy] section in config file'
"""Message about a configuration that has sections for modules only."""

_NEWER_SYNTAX: Sequence[tuple[tuple[int, int], re.Pattern[str]]] = (
    ((3, 12), re.compile(r'^\s*(?:(?:async\s+)?def|class)\s+\w+\s*\[')),
    ((3, 12), re.compile(r'^\s*type\s+\w+\s*[\[=]')),
    ((3, 12), re.compile(r'^f-string')),
    ((3, 13), re.compile(r'^\s*(?:(?:async\s+)?def|class|type)\s+\w+\s*\[[^]]*=')),
    ((3, 14), re.compile(r'^\s*except\*?\s[^(:]+,')),
    ((3, 14), re.compile(r"""\b(?:[tT][rR]?|[rR][tT])['"]""")),
)
"""Patterns of lines, or messages, that an older Python rejects, and the first that does not."""


class SourceProblem(Struct, frozen=True):
    """File or import that could not be analysed, or only in part."""

    path: str
    message: str
    line: int = 0
    is_unread: bool = True
    """False if the file was analysed, but some types in it are unknown."""
    is_note: bool = False
    """Whether it says how the configuration limits the check, which may be intended."""


class SourceGroup(Struct):
    """Files with distinct module names, and the mypy options for them."""

    sources: list[BuildSource]
    options: Options

    @property
    def modules(self) -> list[str]:
        """Names of the modules."""
        return [source.module for source in self.sources]

    def path_of(self, module: str) -> str | None:
        """Return the path of a module; None if it is not in the group."""
        return next((source.path for source in self.sources if source.module == module), None)

    def exclude(self, module: str) -> None:
        """Treat the module as Any (follow_imports=skip): mypy cannot analyse it."""
        self.sources = [source for source in self.sources if source.module != module]
        sections = self.options.per_module_options
        sections[module] = {**sections.get(module, {}), 'follow_imports': 'skip'}

    def exclude_unparsable(self, problems: list[SourceProblem]) -> bool:
        """Exclude the files that do not parse, and return whether there are any."""
        unparsable = [
            (source.module, problem)
            for source in self.sources
            if (problem := parse_problem(source.path or '')) is not None
        ]
        for module, problem in unparsable:
            problems.append(problem)
            self.exclude(module)
        return bool(unparsable)


def mypy_options(problems: list[SourceProblem], *, python_executable: str = '') -> Options | None:
    """Read the mypy configuration of the current directory; None if mypy rejects it.

    Options that hide missing types are overridden: without types, no rule finds anything.

    Args:
        problems: Receives the reason why mypy rejects the configuration or ignores a part of it.
        python_executable: Python of the environment that contains the imported packages. By
            default, the configuration decides, then `project_python`.
    """
    options, output = _process_options(python_executable)
    is_default = options is None or options.python_executable in {None, sys.executable}
    if not python_executable and is_default:
        python_executable = project_python(Path.cwd()) or ''
        if python_executable:
            options, output = _process_options(python_executable)
    if options is None:
        reason = output.rpartition('mypy: error: ')[2]
        problems.append(SourceProblem('', f'mypy refuses its configuration: {reason}'))
        return None
    executable_problem = _executable_problem(options.python_executable)
    if executable_problem is not None:
        problems.append(SourceProblem('', executable_problem))
        return None
    if output:
        # mypy reports a mistake in its configuration, and continues without that part.
        message = f'mypy cannot use its configuration: {output}'
        problems.append(SourceProblem('', message, is_unread=_is_file_skipped(options, output)))
    if options.python_executable is None:
        # `no_site_packages`
        options.python_executable = python_executable or sys.executable
    options.no_site_packages = False
    options.incremental = False
    options.cache_dir = os.devnull
    options.export_types = True
    options.preserve_asts = True
    for name, value in _NEWER_OPTIONS.items():
        if hasattr(options, name):
            setattr(options, name, value)
    options.check_untyped_defs = True
    options.output = 'json'
    options.report_dirs = {}
    # mypy hides some errors if there are very many.
    options.many_errors_threshold = -1
    for name, value in _with_types(_HIDING_OPTIONS_OFF, options.follow_imports).items():
        setattr(options, name, value)
    options.disable_error_code = _without_import_codes(options.disable_error_code)
    options.disabled_error_codes = {
        code for code in options.disabled_error_codes if code.code not in _IMPORT_CODES
    }
    # Per-module settings must not hide the files under check: their errors may be ignored by mypy,
    # but their types are needed. The trees of imported modules are not.
    sections = {
        pattern: _with_types(
            {name: value for name, value in section.items() if name not in _OVERRIDDEN},
            section.get('follow_imports'),
        )
        for pattern, section in options.per_module_options.items()
    }
    for section in sections.values():
        # mypy fails on codes that it does not know, such as those of a plugin that is not loaded.
        for name in {'disable_error_code', 'enable_error_code'} & section.keys():
            codes = _without_import_codes(section[name])
            section[name] = [code for code in codes if code in error_codes]
    options.per_module_options = {_ALL_MODULES: {'preserve_asts': False}, **sections}
    return options


def _process_options(python_executable: str) -> tuple[Options | None, str]:
    """Return the options, or None, and the messages of mypy in one line."""
    output = io.StringIO()
    # With a file in the arguments, mypy does not search for those of the configuration.
    arguments = [os.devnull]
    if python_executable:
        arguments += ['--python-executable', python_executable]
    try:
        _, options = process_options(arguments, stdout=output, stderr=output)
    except SystemExit as error:
        if is_signal_exit(error):
            raise
        options = None
    except (OSError, ValueError) as error:
        # The file is not text in UTF-8, or mypy converts a value of it without a check.
        return None, f'mypy: error: {error}'
    lines = [line for line in output.getvalue().split('\n') if not line.endswith(_HARMLESS)]
    return options, ' '.join(' '.join(lines).split())


def _is_file_skipped(options: Options, output: str) -> bool:
    """Return whether mypy skips a file of its configuration, such as one that does not parse.

    Its other messages are about sections and options of the file that it uses.
    """
    return options.config_file is None or not output.startswith(f'{options.config_file}: ')


def is_signal_exit(error: SystemExit) -> bool:
    """Return whether a signal ends this process: mypy itself exits with 1 or 2."""
    return isinstance(error.code, int) and error.code > _SIGNALLED


def _executable_problem(python_executable: str | None) -> str | None:
    """Return the reason why a program is no Python whose packages mypy can find; None if it is."""
    output = io.StringIO()
    try:
        with redirect_stdout(output):
            get_search_dirs(python_executable)
    except CompileError:
        # The build reports it.
        return None
    except subprocess.CalledProcessError as error:
        lines: list[str] = error.stderr.decode(errors='replace').strip().split('\n')
        reason = lines[-1].strip().rstrip('.') or f'it ended with the code {error.returncode}'
    except (SyntaxError, ValueError, TypeError):
        reason = 'it does not print its folders of packages'
    else:
        return None
    return f'{python_executable!r} is not a Python that mypy can use: {reason}.'


def _with_types(section: Mapping[str, object], follow_imports: object) -> dict[str, object]:
    """Return options with which mypy reads the imported modules."""
    if follow_imports in {'skip', 'error'}:
        # The errors of the imported modules are not needed.
        return {**section, 'follow_imports': 'silent'}
    return {**section}


def _without_import_codes(codes: object) -> list[str]:
    if not isinstance(codes, list):
        return []
    names = cast('list[str]', codes)
    return [code for code in names if code not in _IMPORT_CODES]


def copy_options(options: Options) -> Options:
    """Copy options and their per-module sections; a build changes both."""
    # `apply_changes` fails on error codes that mypy does not know before it loads its plugins.
    copied = copy.copy(options)
    copied.per_module_options = dict(options.per_module_options)
    return copied


def source_groups(
    paths: Iterable[str], options: Options, problems: list[SourceProblem]
) -> list[SourceGroup]:
    """Find the Python files, and separate those with equal module names.

    A mypy build cannot contain two modules of one name. Files under the same root stay together,
    since they import each other.
    """
    paths = list(paths)
    excluded = excluded_paths(paths, options)
    if excluded:
        count = pluralize(sum(item.files for item in excluded), 'Python file')
        names = join_limited([relative_path(item.path) + '/' * item.is_folder for item in excluded])
        message = f'the configuration of mypy excludes {count} from the check: {names}.'
        problems.append(SourceProblem('', message, is_unread=False, is_note=True))
    by_root: dict[str | None, list[BuildSource]] = {}
    for source in _find_sources(paths, options, problems):
        by_root.setdefault(source.base_dir, []).append(source)
    groups: list[SourceGroup] = []
    for sources in by_root.values():
        modules = {source.module for source in sources}
        group = next((group for group in groups if modules.isdisjoint(group.modules)), None)
        if group is None:
            group = SourceGroup([], copy_options(options))
            groups.append(group)
        group.sources += sources
    for group in groups:
        for name in _top_level_names(group.sources):
            # mypy skips the functions of a module in an installed folder, also an editable one.
            pattern = f'{name}.{_ALL_MODULES}'
            group.options.per_module_options[pattern] = {'preserve_asts': True}
    return groups


def _top_level_names(sources: Iterable[BuildSource]) -> set[str]:
    """Return the names of the modules and packages in the source folders, requested or not."""
    names = {source.module.partition('.')[0] for source in sources}
    for folder in {source.base_dir for source in sources}:
        with suppress(OSError):
            names |= {path.stem for path in Path(folder or '.').iterdir()}
    return set(filter(str.isidentifier, names))


def module_of_path(path: str, options: Options) -> str | None:
    """Return the name that mypy gives to the module in a file; None if it has none."""
    try:
        return SourceFinder(FileSystemCache(), options).crawl_up(path)[0]
    except InvalidSourceList:
        return None


def decode_source(content: bytes) -> str:
    """Decode Python source by its byte order mark or coding comment.

    Raises:
        ValueError: The encoding is unknown, or the source has other bytes.
        SyntaxError: The coding comment contradicts the byte order mark.
    """
    try:
        return decode_python_encoding(content)
    except DecodeError as error:
        raise ValueError(str(error)) from error


def read_source(path: str) -> str:
    """Read and decode a Python file."""
    return decode_source(Path(path).read_bytes())


def _visible_source(path: str) -> str | None:
    """Return the text of a file with what hides its types removed; None if there is nothing."""
    try:
        content = Path(path).read_bytes()
        if not may_hide_types(content):
            return None
        source = decode_source(content)
    except (OSError, ValueError, SyntaxError):
        # `parse_problem` reports it.
        return None
    text = visible_text(source)
    return None if text == source else text


def parse_problem(path: str) -> SourceProblem | None:
    """Return the reason why Python cannot parse a file; None if it can."""
    try:
        source = read_source(path)
        with warnings.catch_warnings(action='ignore'):
            ast.parse(source)
    except SyntaxError as error:
        line = error.lineno or 1
        message = f'it does not parse: {error.msg}.{_newer_python_note(error)}'
        return SourceProblem(path, message, line=line)
    except (RecursionError, MemoryError):
        return too_deep_problem(path)
    except (OSError, ValueError) as error:
        return SourceProblem(path, f'it cannot be read: {error}.')
    return None


def _newer_python_note(error: SyntaxError) -> str:
    """Return a note if the line with an error looks like the syntax of a newer Python."""
    for version, pattern in _NEWER_SYNTAX:
        if sys.version_info < version and any(map(pattern.search, (error.text or '', error.msg))):
            running, needed = ('.'.join(map(str, pair)) for pair in (sys.version_info[:2], version))
            return (
                f' The check runs on Python {running}; if this is syntax of Python {needed},'
                ' run the check on it.'
            )
    return ''


def too_deep_problem(path: str) -> SourceProblem:
    """Return the problem for an expression that exceeds the recursion limit of Python."""
    return SourceProblem(path, 'it cannot be read: an expression is nested too deeply for Python.')


def relative_path(path: str) -> str:
    """Return a path relative to the current directory."""
    try:
        return os.path.relpath(path)
    except ValueError:
        # On Windows, a path on another drive cannot be relative.
        return path


def _find_sources(
    paths: Iterable[str], options: Options, problems: list[SourceProblem]
) -> Iterator[BuildSource]:
    sources: dict[tuple[str, str], BuildSource] = {}
    for path in paths:
        message = _path_error(path)
        if message is not None:
            problems.append(SourceProblem(path, message))
            continue
        for source in _sources_at(path, options, problems):
            file = os.path.normpath(source.path or '')
            message = _file_error(file)
            if message is not None:
                problems.append(SourceProblem(file, message))
                continue
            real_path = os.path.realpath(file)
            known = sources.get((source.module, real_path))
            if known is None or _has_links(known.path, real_path) > _has_links(file, real_path):
                # The path without symbolic links is preferred.
                sources[source.module, real_path] = source
    for source in sources.values():
        file = os.path.normpath(source.path or '')
        yield BuildSource(file, source.module, _visible_source(file), base_dir=source.base_dir)


def _path_error(path: str) -> str | None:
    if not Path(path).exists():
        return 'there is no such file or folder.'
    if Path(path).is_dir() or path.endswith(('.py', '.pyi')):
        return None
    if path.endswith('.ipynb'):
        return 'this is a notebook; export its code to a .py file first.'
    return 'this is not a Python file.'


def _file_error(path: str) -> str | None:
    """Return the reason why a path must not be opened: to read a named pipe can take for ever."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        # `parse_problem` reports it.
        return None
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else 'this is not a regular file.'


def _has_links(path: str | None, real_path: str) -> bool:
    """Return whether a path contains a symbolic link."""
    return os.path.abspath(path or '') != real_path  # noqa: PTH100 -- resolve() follows links


def _sources_at(
    path: str, options: Options, problems: list[SourceProblem]
) -> Sequence[BuildSource]:
    try:
        return create_source_list([path], options, CheckedFiles())
    except InvalidSourceList as error:
        problems.append(SourceProblem(path, f'{str(error).rstrip(".")}.'))
        return ()
