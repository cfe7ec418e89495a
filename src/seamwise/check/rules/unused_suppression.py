"""# SW100: suppression without effect

Remove suppressions that suppress nothing. They hide the next finding on their line, which may be a
real one.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class DiskFull(TaggedError, category=Category.RESOURCE, message='No room for {name!r}.'):
    name: str


def save(name: str) -> Result[None, DiskFull]:
    return Failure(DiskFull(name)) if name == 'big' else Success(None)
```

Reported:

```python
def save_both(name: str) -> Result[None, DiskFull]:
    # seamwise: allow[SW101] a cache: unsaved entries are computed again
    return save(name).bind(lambda _: save(f'{name}.bak'))
```

Fixed:

```python
def save_twice(name: str) -> Result[None, DiskFull]:
    return save(name).bind(lambda _: save(f'{name}.bak'))
```

| Comment | Reported |
| --- | --- |
| A suppression of a rule that has no finding there | yes |
| A suppression with a code that does not exist, e.g. `allow[SW999]` | yes |
| A comment that is meant as a suppression, e.g. `# seamwise: ignore[SW101]` | yes |
| A suppression of a rule that is off, or ignored in this file | no |
| A suppression without a reason: the finding itself asks for the reason | no |
| A suppression in a file with a missing import, where some types are unknown | no |
| One of a rule that reads several files, such as SW102, if one of them is unknown | no |

The check also reads the files that the checked ones import from their source folder, so that the
verdict does not depend on the list of files. It is unknown what the files of other source folders
contain, unless they are checked too.

`--fix` removes the comment if all of its codes are without effect.
"""

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet

from seamwise._text.close_matches import close_matches
from seamwise.check.facts import Location, RuleHit, Suppression, TextEdit
from seamwise.check.rules.rule import Rule, join_code

CODE = 'SW100'

_MALFORMED = 'This comment does not have the form of a suppression, so it has no effect.'
_MALFORMED_HELP = 'Write `# seamwise: allow[SW101] reason`, with the code of the rule.'


def unused_suppressions(
    suppressions: Iterable[Suppression],
    used: AbstractSet[tuple[int, str]],
    *,
    active: AbstractSet[str],
    known: Collection[str],
) -> Iterator[RuleHit]:
    """Yield a hit for each suppression in a file that has no effect.

    Args:
        suppressions: All suppressions in the file.
        used: Line and code of those that apply to a finding.
        active: The rules that examined the file; only these can be without a finding.
        known: The codes of all rules.
    """
    for suppression in suppressions:
        unknown = sorted(suppression.codes - {*known})
        unused = sorted(
            code
            for code in suppression.codes & active - {CODE}
            if (suppression.line, code) not in used
        )
        if not suppression.codes:
            yield _hit(suppression, _MALFORMED, _MALFORMED_HELP)
        is_removable = bool(unused) and len(unused) == len(suppression.codes)
        if unknown:
            yield _hit(suppression, *_unknown_message(unknown, known))
        if unused:
            edits = _removal(suppression) if is_removable else ()
            help_ = 'Remove it.' if is_removable else f'Remove {join_code(unused)} from it.'
            message = f'This suppression has no effect: {join_code(unused)} finds nothing here.'
            if len(unused) > 1:
                message = message.replace('finds', 'find')
            yield _hit(suppression, message, help_, edits)


def _unknown_message(unknown: list[str], known: Collection[str]) -> tuple[str, str]:
    is_plural = len(unknown) > 1
    nearest = [code for name in unknown for code in close_matches(name.upper(), known)[:1]]
    message = f'This suppression names {join_code(unknown)}, which {"are" if is_plural else "is"} '
    suggestion = f'Did you mean {join_code(nearest)}? ' if nearest else ''
    return (
        message + ('no rules.' if is_plural else 'no rule.'),
        f'{suggestion}`seamwise check --explain CODE` shows a rule.',
    )


def _hit(
    suppression: Suppression, message: str, help_: str, edits: tuple[TextEdit, ...] = ()
) -> RuleHit:
    location = Location(
        line=suppression.line,
        column=suppression.column + 1,
        last_line=suppression.line,
        end_column=suppression.end_column + 1,
        source=suppression.source,
    )
    return RuleHit(CODE, location, message, help_, edits)


def _removal(suppression: Suppression) -> tuple[TextEdit, ...]:
    line, source = suppression.line, suppression.source
    column, end = len(source[: suppression.column].rstrip()), suppression.end_column
    following = source[end:].lstrip()
    if following:
        # Another comment follows it.
        start = suppression.column
        end = len(source) - len(following)
        return (TextEdit(line, start, line, end, source[start:end], ''),)
    if not column:
        return (TextEdit(line, 0, line + 1, 0, f'{source}\n', ''),)
    return (TextEdit(line, column, line, len(source), source[column:], ''),)


RULE = Rule(CODE, 'suppression without effect', 'warning', __doc__ or '')
