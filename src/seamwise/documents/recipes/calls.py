"""Calls that fail, one way for each error that the tool host gives."""

from collections.abc import Mapping

from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    ContentMismatch,
    ContentNotFound,
    DiffRejected,
    DuplicateMatch,
    FileAlreadyExists,
    FileNotFound,
    InvalidParameter,
    MissingParameter,
    PathForbidden,
    ResourceExhausted,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.documents.recipes.recipe import Calls, call
from seamwise.errors import TaggedError

_APP = {'src/app.py': 'def main():\n    return 1\n\n\ndef stop():\n    return 1\n'}
_MISFIT = '@@ -1,2 +1,2 @@\n def start():\n-    return 0\n+    return 2\n'

CALLS: Mapping[type[TaggedError], Calls] = {
    MissingParameter: Calls((call('search_files', path='src'),)),
    InvalidParameter: Calls(
        (call('read_file', path='src/app.py', start_line='1', mode='r'),), _APP
    ),
    UnknownTool: Calls((call('raed_file', path='src/app.py'),)),
    FileNotFound: Calls((call('read_file', path='src/ap.py'),), _APP),
    FileAlreadyExists: Calls((call('write_file', path='src/app.py', content=''),), _APP),
    PathForbidden: Calls((call('read_file', path='../secrets.txt'),)),
    ContentNotFound: Calls(
        (call('replace_in_file', path='src/app.py', search='def man():', replace='def start():'),),
        _APP,
    ),
    ContentMismatch: Calls(
        (
            call(
                'replace_in_file', path='src/app.py', search='return 1', replace='return 2', line=1
            ),
        ),
        _APP,
    ),
    DuplicateMatch: Calls(
        (call('replace_in_file', path='src/app.py', search='return 1', replace='return 2'),), _APP
    ),
    CommandTimedOut: Calls(
        (call('execute_command', command='echo compiling; sleep 60', timeout=0.2),)
    ),
    CommandFailed: Calls((call('execute_command', command='echo "2 tests failed"; exit 1'),)),
    DiffRejected: Calls((call('apply_diff', path='src/app.py', diff=_MISFIT),), _APP),
    ToolFailed: Calls((call('read_file', path='src/app.py'),), {**_APP, '.seamignore/': ''}),
    ToolTimedOut: Calls(
        (call('search_files', pattern='(a+)+$', timeout=0.2),), {'notes.txt': 'a' * 64 + '!\n'}
    ),
    ToolRepeated: Calls((call('list_files', path='src'),) * 4, _APP),
    TooManyMistakes: Calls(
        (call('read_file'), call('raed_file'), call('list_files')), mistake_limit=2
    ),
    ResourceExhausted: Calls((call('list_files', path='.'),), handles=0),
    UnreadableCall: Calls(('{"tool": "read_file", "arguments": {"path": "src/app.py",}}',)),
    SchemaViolations: Calls(('{"tool": "read_file", "arguments": ["src/app.py"], "priority": 1}',)),
}
