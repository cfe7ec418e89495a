"""Handlers: order, else, finally, nesting, names."""


class Wet(Exception):
    """It rains."""


class Cold(Exception):
    def __init__(self, degrees: int, unit: str = 'C') -> None:
        super().__init__(f'{degrees:+} {unit!s} {{cold}}')
        self.degrees = degrees
        self.unit = unit


class Windy(Exception): pass


def walk(day: int) -> str:
    if day % 4 == 1:
        raise Wet('rain')
    if day % 4 == 2: raise Cold(-day)
    if day % 4 == 3:
        raise Windy
    return f'walk {day}'


def log(text: str) -> str:
    print('log', text)
    return text


def in_order(day: int) -> str:
    try:
        return log(f'a {walk(day)}')
    except Wet:
        return log('wet')
    except Cold as problem:
        return log(f'{problem} {problem.degrees}')
    except Windy as problem:
        return log(f'windy<{problem}>')


def with_else(day: int) -> str:
    try:
        text = walk(day)
    except (Wet, Cold) as error:
        log(str(error))
        text = 'home'
    else:
        log('else')
    finally:
        log('finally')
    return text


def later_in_body(day: int) -> str:
    try:
        log('first')
        one = walk(day)
        log('second')
        two = walk(day + 1)
        return one + two
    except Cold as error:
        return f'cold {error}'
    except Wet as error:
        return f'wet {error}'


def nested(day: int) -> str:
    try:
        try:
            return walk(day)
        except Wet as error:
            log(f'inner {error}')
            raise
        except Cold as error:
            log(f'inner {error}')
            raise Windy('from cold') from error
        finally:
            log('inner finally')
    except Windy as error:
        return f'outer {type(error).__name__} {error}'


def in_handler(day: int) -> str:
    try:
        return walk(day)
    except Wet:
        try:
            return walk(day + 1)
        except Cold as error:
            return f'second {error}'
    except Cold:
        return walk(day + 2)


def in_finally(day: int) -> str:
    try:
        return log('body')
    finally:
        try:
            walk(day)
        except Wet as error:
            log(f'late {error}')


def loop(days: int) -> list[str]:
    seen = []
    for day in range(days):
        try:
            seen.append(walk(day))
            if day == 8:
                break
        except Wet:
            continue
        except Cold as error:
            seen.append(f'{error}')
        else:
            seen.append('dry')
        finally:
            seen.append('.')
    else:
        seen.append('whole')
    return seen


def counted(day: int) -> int:
    tries = 0
    while True:
        try:
            walk(day)
            return tries
        except Wet:
            tries += 1
            day += 3
        except Cold:
            day += 2


def broad(day: int) -> str:
    try:
        return walk(day) + str(1 // (day - 4))
    except Wet:
        return 'wet'
    except ZeroDivisionError as error:
        return f'zero {error}'
    except Exception as error:
        log(f'{type(error).__name__}: {error}')
        raise


def broad_only(day: int) -> str:
    try:
        return walk(day) + str(1 // (day - 4))
    except Exception as error:
        return f'{type(error).__name__}: {error}'


def broad_unnamed(day: int) -> str:
    try:
        return walk(day)
    except Exception:
        return 'something'


def bare(day: int) -> str:
    try:
        return walk(day)
    except:
        log('bare')
        raise


def base(day: int) -> str:
    try:
        return walk(day)
    except BaseException:
        log('base')
        raise


def foreign(day: int) -> str:
    try:
        return walk(int('x' * (day == 4) or day))
    except ValueError as error:
        return f'{error}'
    except Wet as error:
        return f'{error}'


def raised_here(day: int) -> str:
    try:
        if day == 0:
            raise Wet('here')
        return walk(day)
    except Wet as error:
        return f'caught {error}'


def from_none(day: int) -> str:
    try:
        return walk(day)
    except Cold as error:
        raise Wet(f'melted {error}') from None


def shadowed(error: str, raised: str, value: str, day: int) -> str:
    try:
        value = value + walk(day)
    except Wet as problem:
        return f'{error} {raised} {value} {problem}'
    return value + error + raised


def same_names(day: int) -> str:
    parts = ''
    try:
        parts += walk(day)
    except Wet as error:
        parts += f'1{error}'
    try:
        parts += walk(day + 1)
    except Cold as error:
        parts += f'2{error}'
    try:
        parts += str(int(parts))
    except ValueError as error:
        parts += f'3{error}'
    return parts


def short(day: int) -> str:
    try: return walk(day)
    except Wet: return 'short'


def commented(day: int) -> str:
    # before
    try:  # try
        # inside
        text = walk(day)  # call
        # after the call
    # before the handler
    except Wet:  # wet
        # in the handler
        text = 'commented'
    # behind
    return text


def conditional(day: int) -> str:
    try:
        return walk(day) if day > 2 else 'early'
    except Wet:
        return 'wet'


def twice(day: int) -> str:
    try:
        return walk(day) + walk(day + 4)
    except Wet:
        return 'wet'


def in_arguments(day: int) -> str:
    return log('a') + log(walk(day)) + log('b')


def in_comprehension(days: int) -> list[str]:
    return [walk(day) for day in range(0, days, 4)] + list(walk(day) for day in range(days))


def in_lambda(day: int) -> str:
    call = lambda: walk(day)
    try:
        return call()
    except Wet as error:
        return f'lambda {error}'


def maps(days: int) -> list[str]:
    try:
        return list(map(walk, range(0, days)))
    except Wet as error:
        return [f'map {error}']


def recursive(day: int) -> int:
    if day == 0:
        raise Wet('bottom')
    return recursive(day - 1) + 1 if day > 1 else 0 if day == 1 else recursive(day + 1)


def returns_none(day: int) -> None:
    if day == 1:
        raise Wet('none')
    log('none')
    if day == 2:
        return
    log('end')


def conditional_raise(day: int) -> str:
    return walk(day) and log('and') or walk(day + 1)


def asserted(day: int) -> str:
    assert walk(day)
    while walk(day) and day < 4:
        day += 1
    return {walk(day): walk(day + 4)}[walk(day)]


def inner_handles_one_of_two(day: int) -> str:
    try:
        log(walk(day))
        try:
            return walk(day + 1)
        except Cold as error:
            return f'inner {error}'
    except Wet as error:
        return f'outer {error}'


def match_in_a_handler(day: int) -> str:
    try:
        return str(int('x'))
    except ValueError:
        try:
            text = walk(day)
        except Wet as error:
            text = f'wet {error}'
    finally:
        log('end')
    return text


def main() -> None:
    for day in range(9):
        for call in (
            lambda: in_order(day), lambda: with_else(day), lambda: later_in_body(day),
            lambda: nested(day), lambda: in_handler(day), lambda: in_finally(day),
            lambda: loop(day), lambda: counted(day), lambda: broad(day), lambda: broad_only(day),
            lambda: broad_unnamed(day), lambda: bare(day), lambda: base(day),
            lambda: foreign(day), lambda: raised_here(day), lambda: from_none(day),
            lambda: shadowed('e', 'r', 'v', day), lambda: same_names(day), lambda: short(day),
            lambda: commented(day), lambda: conditional(day), lambda: twice(day),
            lambda: in_arguments(day), lambda: in_comprehension(day), lambda: in_lambda(day),
            lambda: maps(day), lambda: recursive(day), lambda: returns_none(day),
            lambda: conditional_raise(day), lambda: asserted(day),
            lambda: inner_handles_one_of_two(day), lambda: match_in_a_handler(day),
        ):
            try:
                print(call())
            except Wet as error:
                print('main wet', error)
            except Cold as error:
                print('main cold', error, error.unit)
            except Exception as error:
                print('main', type(error).__name__, error)


if __name__ == '__main__':
    main()
