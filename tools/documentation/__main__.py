"""Build the documentation site."""

import shutil
import subprocess
import sys
from pathlib import Path

import click
from sphinx.cmd.build import main as sphinx_build

from tools.documentation.copies import write_copies
from tools.documentation.reference import write_reference
from tools.documentation.stage import stage
from tools.playground.assets import write_playground

ROOT = Path(__file__).parents[2]


@click.command()
@click.option(
    '--output',
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / 'build' / 'site',
    help='Folder of the site.  [default: build/site]',
)
@click.option(
    '--check-links',
    is_flag=True,
    help='Only request the links to other sites, and list broken ones.',
)
def build(*, output: Path, check_links: bool) -> None:
    """Build the site: HTML pages, a Markdown copy of each, and llms.txt. Warnings are errors."""
    build_folder = ROOT / 'build'
    source, doctrees, converted = (
        build_folder / name for name in ('site-source', 'site-doctrees', 'site-markdown')
    )
    for folder in (source, doctrees, converted, output):
        shutil.rmtree(folder, ignore_errors=True)
    stage(ROOT, source)
    write_reference(source / 'reference')
    options = ['--fail-on-warning', '--keep-going', '--quiet', '--conf-dir', str(ROOT / 'docs')]
    options += ['--doctree-dir', str(doctrees)]
    if check_links:
        target = build_folder / 'site-links'
        sys.exit(sphinx_build(['--builder', 'linkcheck', *options, str(source), str(target)]))
    not_in_markdown = [str(path) for path in source.rglob('*.rst')]
    status = sphinx_build(['--builder', 'dirhtml', *options, str(source), str(output)])
    status = status or sphinx_build(
        ['--builder', 'markdown', *options, str(source), str(converted), *not_in_markdown]
    )
    if status:
        sys.exit(status)
    try:
        write_copies(source, converted, output)
    except LookupError as error:
        raise click.ClickException(str(error)) from error
    try:
        write_playground(ROOT, output)
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        raise click.ClickException(f'The playground cannot be built: {error}') from error
    click.echo(f'The site is in {output}.')


if __name__ == '__main__':
    build()
