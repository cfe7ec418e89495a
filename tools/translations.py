"""Update the message catalogs of `seamwise.locale` from the sources: `python -m tools.translations`.

Writes `seamwise.pot`, then each `LANG/LC_MESSAGES/seamwise.po` and its compiled `.mo`. A new message
is empty in the `.po` file of each language until it is translated; then run the tool again. The
English catalog repeats the sources.
"""

import sys
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

try:
    from babel.messages.catalog import Catalog, Message
    from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_file
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po, write_po
except ImportError as missing:
    raise ImportError(
        "The catalogs are compiled by Babel: pip install 'seamwise[dev]'"
    ) from missing

SOURCES = Path(__file__).parents[1] / 'src' / 'seamwise'
FOLDER = SOURCES / 'locale'
DOMAIN = 'seamwise'
METHOD = 'seamwise.locale.extraction:extract'
BORN = datetime(
    2026, 2, 20, tzinfo=UTC
)  # the same for ever: a file changes when its texts do, not by the day


def extracted(sources: Path = SOURCES) -> Catalog:
    """Give a template of everything that the sources below a folder hold to translate."""
    found = Catalog(
        project=DOMAIN,
        version='1',
        creation_date=BORN,
        fuzzy=False,
        header_comment='# What there is to translate in Seamwise.',
    )
    for file in sorted(sources.rglob('*.py')):
        place = file.relative_to(sources).as_posix()
        for line, message, comments, context in extract_from_file(METHOD, file, DEFAULT_KEYWORDS):
            found.add(message, locations=[(place, line)], auto_comments=comments, context=context)
    return found


def update(file: Path, template: Catalog) -> int:
    """Bring a catalogue and its compiled form up to a template, and say how many of its texts are not translated."""
    with file.open('rb') as source:
        catalogue = read_po(source)
    # A copy: it would hand its messages themselves to the first catalogue.
    catalogue.update(deepcopy(template), no_fuzzy_matching=True, update_creation_date=False)
    if catalogue.locale_identifier == 'en':
        for one in catalogue:
            one.string = one.id
    with file.open('wb') as source:
        write_po(source, catalogue, include_lineno=False, ignore_obsolete=True, width=0)
    with file.with_suffix('.mo').open('wb') as compiled:
        write_mo(compiled, catalogue)
    return sum(not _is_translated(one) for one in catalogue if one.id)


def _is_translated(message: Message) -> bool:
    return bool(
        message.string
        if isinstance(message.string, str)
        else message.string and all(message.string)
    )


def main(folder: Path = FOLDER) -> None:
    """Write the template and all catalogues; the exit code is 1 where a text is not translated."""
    template = extracted()
    with (folder / f'{DOMAIN}.pot').open('wb') as file:
        write_po(file, template, include_lineno=False, width=0)
    lacking = {
        file.parents[1].name: update(file, template)
        for file in sorted(folder.glob(f'*/LC_MESSAGES/{DOMAIN}.po'))
    }
    said = [
        f'{locale}: {count} texts are not translated' for locale, count in lacking.items() if count
    ]
    sys.exit('\n'.join(said) or None)


if __name__ == '__main__':
    main()
