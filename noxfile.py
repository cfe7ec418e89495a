"""Development tasks: `nox -s tests`, `types`, `lint`, `docs`, `bench`, and others."""

import nox

nox.options.default_venv_backend = 'venv'
nox.options.sessions = ['lint', 'types', 'tests']

PROSE = ('docs', 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md')
CHECKED = ('src', 'tests', 'benchmarks', 'tools')


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests in parallel; pass paths or options of pytest after `--`."""
    session.install('-e', '.[dev]')
    session.run('pytest', '-q', '-n', 'auto', *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Run mypy and pyright on the code, and four type checkers on the typing cases."""
    session.install('-e', '.[dev]')
    session.run('mypy', '--strict', *CHECKED)
    session.run('pyright')
    session.run(
        *('python', 'tests/typing_check.py', '--cases', 'tests/typing'),
        *('--checkers', 'mypy,mypy+plugin,pyright,pyrefly,ty'),
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff, codespell on the pages, and `seamwise check`."""
    session.install('-e', '.[dev]')
    session.run('ruff', 'check', '.')
    session.run('ruff', 'format', '--check', '.')
    session.run('codespell', *PROSE)
    session.run('seamwise', 'check', 'src', 'benchmarks', 'examples/api')


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site in build/site; pass `--output FOLDER` after `--`."""
    session.install('-e', '.[docs]')
    session.run('python', '-m', 'tools.documentation', *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure everything, and write docs/performance.md."""
    session.install('-e', '.[dev]')
    session.run('python', '-m', 'benchmarks', *session.posargs)


@nox.session
def translations(session: nox.Session) -> None:
    """Update the message catalogs of `seamwise.locale` from the sources."""
    session.install('-e', '.[dev]')
    session.run('python', '-m', 'tools.translations')


@nox.session
def release(session: nox.Session) -> None:
    """Build and check the packages in dist; pass `--dry-run` after `--` without a tag."""
    session.install('.[release]')
    session.run('python', '-m', 'tools.release', *session.posargs)
