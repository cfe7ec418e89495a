"""Show the shop: results, a match, a forgotten arm, and one failure at three seams.

Run it in the folder of the examples: `python -m first`. It needs mypy.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from first import shop
from first.seams import AS_EVENT, AS_HTTP, AS_TEXT
from seamwise.seams import http, session

SHOP = Path(shop.__file__)
ARM = """\
                case CardDeclined(reason):
                    return f'Please try another card ({reason}).'
"""


def title(text: str) -> None:
    print(f'\n{text}\n{"-" * len(text)}')


def type_errors_without(arm: str) -> str:
    """Return what mypy reports for the shop without some of its lines."""
    source = SHOP.read_text(encoding='utf-8')
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, SHOP.name).write_text(source.replace(arm, ''), encoding='utf-8')
        command = [sys.executable, '-m', 'mypy', '--strict', '--config-file=', '--no-error-summary']
        result = subprocess.run(
            [*command, '--cache-dir', folder, SHOP.name],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    return f'{result.stdout}{result.stderr}'


def main() -> None:
    title('1. Functions return results: examples/first/shop.py')
    for name in ('ada', 'eve'):
        print(f'find_user({name!r}).bind(charge)  ->  {shop.pay(name)}')
    for name, limit in (('ada', 50), ('ada', 10)):
        print(f'checkout({name!r}, limit={limit})  ->  {shop.checkout(name, limit=limit)}')

    title('2. A match takes a failure apart')
    failed = shop.checkout('ada', limit=10)
    print(f'explain({failed})\n  ->  {shop.explain(failed)!r}')

    title('3. A forgotten arm is a type error: mypy without `case CardDeclined`')
    print(type_errors_without(ARM), end='')

    title('4. The same failure at three seams: examples/first/seams.py')
    error = failed.failure()
    text = AS_TEXT(error)
    print(f'terminal, exit code {text.exit_code}:\n{text.text}')
    response = http.response(AS_HTTP(error), request_id='r-1')
    print(f'\nHTTP {response.status}:')
    print(msgspec.json.format(response.body, indent=2).decode())
    print(f'\nsession event:\n{session.encode(AS_EVENT(error)).decode()}')


if __name__ == '__main__':
    main()
