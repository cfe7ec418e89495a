"""Worker process for regular expressions, which `regex_client` starts and the kernel can kill.

The script runs without its package, so it imports the standard library only. Its argument is the
number of seconds after which the kernel kills it.

Input: one line of JSON, {"pattern", "ignore_case", "name_pattern"}. Then for each request a line
`name SIZE 0` or `text SIZE LIMIT`, and SIZE bytes.

Output: one line of JSON, null or the reason why the pattern is invalid. Then one line of JSON for
each request: for a name whether `name_pattern` matches in it, for a text a list of at most LIMIT
matches [index of the line from 0, text].
"""

import json
import re
import signal
import sys
import warnings
from typing import BinaryIO


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until the end of the input."""
    job = json.loads(source.readline())
    try:
        pattern = re.compile(job['pattern'], re.IGNORECASE if job['ignore_case'] else 0)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        _answer(sink, str(error))
        return
    name_pattern = re.compile(job['name_pattern'])
    _answer(sink, None)
    while request := source.readline():
        subject, size, limit = request.split()
        data = source.read(int(size))
        if subject == b'name':
            match = name_pattern.search(data.decode('utf-8', 'surrogateescape'))
            _answer(sink, match is not None)
        else:
            _answer(sink, find_lines(pattern, data, int(limit)))


def find_lines(pattern: 're.Pattern[str]', data: bytes, limit: int) -> list[tuple[int, str]]:
    r"""Return the first matching lines of a text, without their line ends.

    U+FFFD replaces bytes that are not UTF-8.

    >>> find_lines(re.compile('b+'), b'a\nabb\n', 10)
    [(1, 'abb')]

    Args:
        pattern: The compiled regular expression.
        data: The text.
        limit: The maximum number of lines.
    """
    matches: list[tuple[int, str]] = []
    text = data.decode('utf-8', 'replace').removesuffix('\n')
    for index, line in enumerate(text.split('\n')):
        content = line.removesuffix('\r')
        if pattern.search(content):
            matches.append((index, content))
            if len(matches) == limit:
                break
    return matches


def _answer(sink: BinaryIO, answer: object) -> None:
    sink.write(json.dumps(answer).encode() + b'\n')
    sink.flush()


def _main() -> None:
    # With the default action the kernel ends the process, even inside one long match.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # The thread that started this process may have blocked its signals.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
    warnings.simplefilter('ignore')
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == '__main__':
    _main()
