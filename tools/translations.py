"""Update the message catalogs of `seamwise.locale`: `python -m tools.translations`.

Writes `seamwise.pot`, then each `LANG/LC_MESSAGES/seamwise.po` and its compiled `.mo`. A new
message is empty in the `.po` file of each language until it is translated; then run the tool
again. The English catalog repeats the sources.
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
OPTIONS = {'message_constants': 'true'}
# Constant, so that a file changes only if its texts change.
CREATION_DATE = datetime(2026, 2, 20, tzinfo=UTC)


def extract_template(sources: Path = SOURCES) -> Catalog:
    """Return a template with all translatable texts of the sources in a folder."""
    template = Catalog(
        project=DOMAIN,
        version='1',
        creation_date=CREATION_DATE,
        fuzzy=False,
        header_comment='# What there is to translate in Seamwise.',
    )
    for file in sorted(sources.rglob('*.py')):
        path = file.relative_to(sources).as_posix()
        texts = extract_from_file(METHOD, file, DEFAULT_KEYWORDS, options=OPTIONS)
        for line, message, comments, context in texts:
            template.add(message, locations=[(path, line)], auto_comments=comments, context=context)
    return template


def update(file: Path, template: Catalog) -> int:
    """Update a message catalog and its compiled form; return the number of untranslated texts."""
    with file.open('rb') as source:
        catalog = read_po(source)
    # A deep copy, because `Catalog.update` takes the message objects out of the template.
    catalog.update(deepcopy(template), no_fuzzy_matching=True, update_creation_date=False)
    if catalog.locale_identifier == 'en':
        for message in catalog:
            message.string = message.id
    with file.open('wb') as source:
        write_po(source, catalog, include_lineno=False, ignore_obsolete=True, width=0)
    with file.with_suffix('.mo').open('wb') as compiled:
        write_mo(compiled, catalog)
    return sum(not _is_translated(message) for message in catalog if message.id)


def _is_translated(message: Message) -> bool:
    return bool(
        message.string
        if isinstance(message.string, str)
        else message.string and all(message.string)
    )


def main(folder: Path = FOLDER) -> None:
    """Write the template and all message catalogs; exit with 1 if a text is untranslated."""
    template = extract_template()
    with (folder / f'{DOMAIN}.pot').open('wb') as file:
        write_po(file, template, include_lineno=False, width=0)
    untranslated = {
        file.parents[1].name: update(file, template)
        for file in sorted(folder.glob(f'*/LC_MESSAGES/{DOMAIN}.po'))
    }
    lines = [
        f'{locale}: untranslated texts: {count}' for locale, count in untranslated.items() if count
    ]
    sys.exit('\n'.join(lines) or None)


if __name__ == '__main__':
    main()
