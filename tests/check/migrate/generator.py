"""Random programs that raise exceptions and print their effects."""

import random
from collections.abc import Iterator

_HEAD = '''\
from types import TracebackType


class Red(Exception):
    pass


class Hue(Exception):
    """Some colour."""


class Green(Hue):
    pass


class Blue(Hue):
    def __init__(self, depth: int, name: str = 'sky') -> None:
        super().__init__(f'{name} {depth:03}')
        self.depth = depth
        self.name = name


class Manager:
    def __enter__(self) -> None:
        print('enter')

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        print('exit', error is None)


def show(*values: object) -> int:
    print(*values)
    return len(values)


'''
_RAISES = ("Red(f'red {n}')", "Green('green')", 'Blue(n)', "Blue(n, name='sea')", 'Red()')
_CLAUSES = (
    'Red',
    'Green',
    'Blue',
    'Hue',
    '(Red, Green)',
    '(Red, Hue)',
    'Exception',
    'ValueError',
    'ZeroDivisionError',
    'BaseException',
)


class Generator:
    """Source of one program."""

    def __init__(self, seed: int, functions: int = 8) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- not for secrets
        self.functions = functions

    def source(self) -> str:
        """Return the source."""
        parts = [_HEAD]
        for number in range(self.functions):
            body = [*self._block(number, 1, depth=0, in_loop=False, error='')]
            parts.append(
                f'def f{number}(n: int) -> int:\n' + '\n'.join(body) + '\n    return n\n\n\n'
            )
        parts.append('for n in range(-2, 7):\n')
        parts += [
            f'    try:\n        show({number}, n, f{number}(n))\n'
            '    except Blue as error:\n        show(str(error), error.depth, error.name)\n'
            '    except (Red, Hue) as error:\n        show(type(error).__name__, str(error))\n'
            '    except Exception as error:\n        show(type(error).__name__, str(error))\n'
            for number in range(self.functions)
        ]
        return ''.join(parts)

    def _block(
        self, number: int, indent: int, *, depth: int, in_loop: bool, error: str
    ) -> Iterator[str]:
        for _ in range(self.random.randint(1, 3)):
            yield from self._statement(
                number, '    ' * indent, indent, depth=depth, in_loop=in_loop, error=error
            )

    def _call(self, number: int) -> str:
        if number == 0:
            return 'show(n)'
        return f'f{self.random.randrange(number)}(n - {self.random.randint(0, 2)})'

    def _statement(  # noqa: C901 -- one branch per statement
        self, number: int, pad: str, indent: int, *, depth: int, in_loop: bool, error: str
    ) -> Iterator[str]:
        choice = self.random.randrange(15 if depth < 3 else 9)
        condition = f'n % {self.random.randint(2, 4)} == {self.random.randint(0, 1)}'
        deeper = depth + 1
        if choice == 0:
            yield f"{pad}show('{self.random.randrange(100)}', n)"
        elif choice in {1, 2}:
            yield f'{pad}if {condition}:\n{pad}    raise {self.random.choice(_RAISES)}'
        elif choice in {3, 4}:
            yield f'{pad}n = {self._call(number)} + {self._call(number)}'
        elif choice == 5:
            yield f'{pad}if {condition}:\n{pad}    return {self._call(number)}'
        elif choice == 6:
            yield f"{pad}show(f'{{{self._call(number)}}}', 6 // n)"
        elif choice == 7 and in_loop:
            word = self.random.choice(['break', 'continue'])
            yield f'{pad}if {condition}:\n{pad}    {word}'
        elif choice in {7, 8} and error:
            yield f'{pad}show(type({error}).__name__, str({error}))'
            end = self.random.choice(
                ['raise', f'raise {error}', f"raise Red('from') from {error}", 'return n']
            )
            yield f'{pad}if {condition}:\n{pad}    {end}'
        elif choice in {7, 8}:
            yield f'{pad}n = [{self._call(number)} for n in range(n)][-1] if n > 1 else n'
        elif choice == 9:
            yield f'{pad}for n in range(n, 5):'
            yield from self._block(number, indent + 1, depth=depth + 1, in_loop=True, error=error)
            if self.random.random() < 0.5:
                yield f'{pad}else:'
                yield from self._block(
                    number, indent + 1, depth=deeper, in_loop=in_loop, error=error
                )
        elif choice == 10:
            yield f'{pad}with Manager():'
            yield from self._block(number, indent + 1, depth=deeper, in_loop=in_loop, error=error)
        else:
            yield from self._try(number, pad, indent, depth=deeper, in_loop=in_loop, error=error)

    def _try(
        self, number: int, pad: str, indent: int, *, depth: int, in_loop: bool, error: str
    ) -> Iterator[str]:
        yield f'{pad}try:'
        if self.random.random() < 0.5:
            yield f'{pad}    n = {self._call(number)}'
        else:
            yield from self._block(number, indent + 1, depth=depth, in_loop=in_loop, error=error)
        clauses = sorted(
            self.random.sample(range(len(_CLAUSES)), self.random.randint(0, 3)),
            key=lambda index: (index in {6, 9}, self.random.random()),
        )
        for index in clauses:
            name = f'error{depth}' if self.random.random() < 0.7 else ''
            yield f'{pad}except {_CLAUSES[index]}' + (f' as {name}:' if name else ':')
            yield from self._block(number, indent + 1, depth=depth, in_loop=in_loop, error=name)
        if clauses and self.random.random() < 0.3:
            yield f'{pad}else:'
            yield from self._block(number, indent + 1, depth=depth, in_loop=in_loop, error=error)
        if not clauses or self.random.random() < 0.3:
            yield f"{pad}finally:\n{pad}    show('finally', n)"
