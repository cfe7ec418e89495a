"""The other end of `matching`: searches lines for a regular expression, in a process that can be killed.

Run as a script with a number of seconds, after which the kernel kills it; there is no package around it, so that it
must import nothing but the standard library.

In: one line of JSON, {"pattern", "ignore_case", "wanted"}; then for each question a line `name SIZE 0` or
`text SIZE MOST`, and SIZE bytes.
Out: one line of JSON, null or what is wrong with the pattern; then for each name a line of JSON, whether `wanted`
finds itself in it, and for each text one, a list of at most MOST matches [line from 0, text].
"""

import json
import re
import signal
import sys
import warnings
from typing import BinaryIO


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer until nothing more is asked."""
    job = json.loads(source.readline())
    try:
        pattern = re.compile(job['pattern'], re.IGNORECASE if job['ignore_case'] else 0)
    except (re.error, ValueError, OverflowError, RecursionError) as raised:
        _answer(sink, str(raised))
        return
    wanted = re.compile(job['wanted'])
    _answer(sink, None)
    while question := source.readline():
        about, size, most = question.split()
        data = source.read(int(size))
        if about == b'name':
            _answer(sink, wanted.search(data.decode('utf-8', 'surrogateescape')) is not None)
        else:
            _answer(sink, matches(pattern, data, int(most)))


def matches(pattern: 're.Pattern[str]', data: bytes, most: int) -> list[tuple[int, str]]:
    """Give the first lines that match, without their ends; what is not UTF-8 in them is U+FFFD."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(data.decode('utf-8', 'replace').removesuffix('\n').split('\n')):
        text = line.removesuffix('\r')
        if pattern.search(text):
            found.append((number, text))
            if len(found) == most:
                break
    return found


def _answer(sink: BinaryIO, answer: object) -> None:
    sink.write(json.dumps(answer).encode() + b'\n')
    sink.flush()


def main() -> None:
    """Serve on the standard streams for as many seconds as the first argument says."""
    # Nobody catches it: the kernel ends the process, whatever `re` is at.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
    warnings.simplefilter('ignore')
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == '__main__':
    main()
