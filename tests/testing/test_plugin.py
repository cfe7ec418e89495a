"""Tests of the pytest plugin: what it adds, and that the promises of pytest hold with it."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import _seamwise_pytestplugin

pytest_plugins = ['pytester']
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']

ERRORS = """
    from seamwise import Category, Failure, Result, Secret, Success, TaggedError

    class Gone(TaggedError, category=Category.NOT_FOUND):
        key: int
        note: object = None

    def find(key: int) -> Result[str, Gone]:
        return Success('ada') if key == 1 else Failure(Gone(key))
"""


class Runner:
    """Runs pytest in a new process, in a project in which the package is installed."""

    def __init__(self, pytester: pytest.Pytester, site: Path) -> None:
        self._pytester = pytester
        self._site = site

    def run(self, *arguments: str, **files: str) -> pytest.RunResult:
        """Write files of tests and run pytest; `shop.py` defines an error and a function."""
        self._pytester.makepyfile(shop=ERRORS, **files)
        return self._pytester.runpytest_subprocess(
            # Third-party plugins that take long to load.
            '-p',
            'no:schemathesis',
            '-p',
            'no:faker',
            '-p',
            'no:hypothesispytest',
            '-p',
            'no:cacheprovider',
            *arguments,
        )


@pytest.fixture
def runner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    # The metadata of an installed wheel, with the entry points of this project.
    metadata = tmp_path / 'site' / 'seamwise_wheel-0.dist-info'
    metadata.mkdir(parents=True)
    (metadata / 'METADATA').write_text('Metadata-Version: 2.1\nName: seamwise-wheel\nVersion: 0\n')
    entry_points = PROJECT['entry-points']['pytest11'].items()
    (metadata / 'entry_points.txt').write_text(
        '\n'.join(['[pytest11]', *(f'{name} = {module}' for name, module in entry_points)])
    )
    (metadata / 'RECORD').write_text('seamwise/__init__.py,,\n_seamwise_pytestplugin.py,,\n')
    source = Path(_seamwise_pytestplugin.__file__).parent
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(tmp_path / 'site'), str(source)]))
    monkeypatch.setenv('COLUMNS', '100')
    monkeypatch.delenv('CI', raising=False)
    monkeypatch.delenv('PYTEST_ADDOPTS', raising=False)
    return Runner(pytester, tmp_path / 'site')


FAILING = """
    from seamwise import Failure, Success
    from shop import Gone, find

    def test_find():
        assert find(8) == Failure(Gone(9))
"""


def test_the_project_declares_the_plugin_and_the_strategies() -> None:
    entry_points = PROJECT['entry-points']
    assert entry_points['pytest11'] == {'seamwise': '_seamwise_pytestplugin'}
    assert entry_points['hypothesis'] == {'seamwise': '_seamwise_hypothesisplugin:register'}
    assert PROJECT['optional-dependencies']['pytest'] == ['pytest>=8.4,<10']


def test_a_failed_comparison_says_which_fields_differ(runner: Runner) -> None:
    result = runner.run(test_shop=FAILING)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            'E*assert Failure(Gone(key=8, note=None)) == Failure(Gone(key=9, note=None))',
            'E*Gone differs in 1 field:',
            'E*  key: 8 != 9',
        ]
    )


def test_the_plugin_can_be_disabled(runner: Runner) -> None:
    result = runner.run('-p', 'no:seamwise', test_shop=FAILING)
    result.assert_outcomes(failed=1)
    assert 'differs in' not in result.stdout.str()


def test_the_plugin_works_without_assertion_rewriting(runner: Runner) -> None:
    runner.run('--assert=plain', test_shop=FAILING).assert_outcomes(failed=1)


def test_the_values_of_results_are_compared_by_pytest(runner: Runner) -> None:
    result = runner.run(
        test_shop="""
        from seamwise import Success

        def test_lists():
            assert Success([1, 2, 3]) == Success([1, 9, 3])

        def test_texts():
            assert Success('spam') == Success('ham')
        """
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(['*At index 1 diff: 2 != 9*', '*- ham*', '*+ spam*'])


def test_other_comparisons_stay_as_they_are(runner: Runner) -> None:
    test = """
        import pytest
        import seamwise

        @pytest.mark.parametrize('left, right', [
            (1, 2), ('a', 'b'), ([1], [2]), ({'a': 1}, {'a': 2}), ({1}, {2}),
        ])
        def test_equal(left, right):
            assert left == right

        def test_in():
            assert 1 in [2]

        def test_not_equal():
            assert seamwise.Success(1) != seamwise.Success(1)

        def test_order():
            assert 1 > 2
    """
    with_plugin = runner.run('-q', test_other=test)
    without = runner.run('-q', '-p', 'no:seamwise', test_other=test)
    with_plugin.assert_outcomes(failed=8)

    def explanations(result: pytest.RunResult) -> list[str]:
        return [line for line in result.outlines if line.startswith('E ')]

    assert explanations(with_plugin) == explanations(without)


def test_long_values_are_complete_with_vv_only(runner: Runner) -> None:
    test = """
        from seamwise import Failure
        from shop import Gone

        def test_long():
            left, right = 'x' * 300 + 'a' + 'x' * 300, 'x' * 300 + 'b' + 'x' * 300
            assert Failure(Gone(1, left)) == Failure(Gone(1, right))
    """
    assert f'{"x" * 300}a{"x" * 300}' not in runner.run(test_long=test).stdout.str()
    assert f'{"x" * 300}a{"x" * 300}' in runner.run('-vv', test_long=test).stdout.str()


@pytest.mark.parametrize('columns', [60, 150])
def test_the_summary_fits_the_terminal(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv('COLUMNS', str(columns))
    result = runner.run(
        test_wide="""
        from seamwise import Failure
        from shop import Gone

        def test_wide():
            assert Failure(Gone(1, 'a' * 500)) == Failure(Gone(2, 'a' * 500))
        """
    )
    summary = next(line for line in result.outlines if '…' in line and ' == ' in line)
    assert columns - 30 < len(summary) <= columns + len('AssertionError: ')


def test_secrets_are_not_printed(runner: Runner) -> None:
    # pytest prints the source of a failed test: the secrets are in another file.
    result = runner.run(
        '--tb=short',
        vault="""
        from seamwise import Category, Failure, Secret, TaggedError

        class LoginFailed(TaggedError, category=Category.AUTHENTICATION):
            token: Secret[str]

        LEFT, RIGHT = (Failure(LoginFailed(Secret(f'FAKE-{i}'))) for i in range(2))
        """,
        test_masked="""
        from seamwise.testing import assert_success
        from vault import LEFT, RIGHT

        def test_compare():
            assert LEFT == RIGHT

        def test_success():
            assert_success(LEFT)
        """,
    )
    result.assert_outcomes(failed=2)
    assert 'FAKE' not in result.stdout.str()
    result.stdout.fnmatch_lines(['*token: two different secrets', '*token: Secret(***)'])


def test_helpers_of_the_user_are_rewritten_and_explained(runner: Runner) -> None:
    result = runner.run(
        conftest="""
        import pytest
        pytest.register_assert_rewrite('helpers')
        """,
        helpers="""
        def check(result, expected):
            assert result == expected
        """,
        test_helper="""
        from helpers import check
        from seamwise import Failure
        from shop import Gone, find

        def test_helper():
            check(find(8), Failure(Gone(9)))

        def test_plain():
            check([1], [2])
        """,
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(['*key: 8 != 9', '*At index 0 diff: 1 != 2'])


def test_a_comparison_hook_of_the_user_has_precedence(runner: Runner) -> None:
    result = runner.run(
        conftest="""
        def pytest_assertrepr_compare(op, left, right):
            return ['my own explanation']
        """,
        test_shop=FAILING,
    )
    result.stdout.fnmatch_lines(['*my own explanation'])


def test_the_frames_of_the_assertions_are_hidden(runner: Runner) -> None:
    result = runner.run(
        test_hidden="""
        from seamwise.testing import assert_failure, assert_success
        from shop import Gone, find

        def test_success():
            assert_success(find(8))

        def test_failure():
            assert_failure(find(1), Gone)
        """
    )
    result.assert_outcomes(failed=2)
    assert 'assertions.py' not in result.stdout.str()
    result.stdout.fnmatch_lines(['*key: 8', '*Expected Failure(Gone(…)), not Success(*ada*)'])


@pytest.mark.parametrize(
    'arguments',
    [
        ('--strict-markers', '--strict-config'),
        ('-W', 'error'),
        ('-p', 'no:logging'),
        ('-p', 'no:terminal'),
        ('--import-mode=importlib',),
        ('-n', '2'),
    ],
    ids=' '.join,
)
def test_the_fixtures_work_with_options_of_pytest(
    runner: Runner, arguments: tuple[str, ...]
) -> None:
    result = runner.run(
        *arguments,
        test_fixtures="""
        from seamwise.policies import retry
        from seamwise import Failure
        from seamwise.catalog.network import HostUnreachable

        RETRY = retry(base=10.0, cap=10.0)

        def test_one(guard_world, failures, defects):
            RETRY.run_sync(lambda: Failure(HostUnreachable('bank', 'reset')))
            assert guard_world.slept == [5.0, 5.0]
            assert list(failures) == list(defects) == []

        def test_two(guard_world):
            assert guard_world.now == 0.0
        """,
    )
    assert result.ret == 0


def test_a_program_that_has_imported_seamwise_can_start_pytest(runner: Runner) -> None:
    result = runner.run(
        '--collect-only', '-q', test_nothing='def test_nothing(): pass', conftest=''
    )
    assert result.ret == 0
    code = 'import sys, seamwise, pytest; sys.exit(pytest.main(["-q"]))'
    process = subprocess.run(
        [sys.executable, '-c', code], check=False, capture_output=True, text=True
    )
    assert process.returncode == 0
    # pytest marks all packages of a plugin, and warns about those that are imported already.
    assert 'cannot be rewritten; seamwise' not in process.stdout
    assert 'cannot be rewritten; _seamwise' not in process.stdout


def test_the_fixtures_are_listed_with_their_descriptions(runner: Runner) -> None:
    result = runner.run('--fixtures', test_nothing='def test_nothing(): pass')
    text = result.stdout.str()
    for name in ('guard_world', 'failures', 'defects'):
        line = next(line for line in result.outlines if line.startswith(name))
        assert '_seamwise_pytestplugin' in line
    assert 'Replace the time of all guards' in text
    assert 'no docstring available' not in text[text.index('guard_world') :][:400]


def test_fixtures_of_the_user_override_those_of_the_plugin(runner: Runner) -> None:
    runner.run(
        conftest="""
        import pytest

        @pytest.fixture
        def failures():
            return 'mine'

        @pytest.fixture
        def guard_world(guard_world):
            guard_world.advance(7.0)
            return guard_world
        """,
        test_override="""
        import pytest

        @pytest.fixture
        def defects():
            return 'mine too'

        def test_override(failures, defects, guard_world):
            assert (failures, defects, guard_world.now) == ('mine', 'mine too', 7.0)
        """,
    ).assert_outcomes(passed=1)


def test_tests_without_the_fixtures_are_unaffected(runner: Runner) -> None:
    runner.run(
        test_plain="""
        import asyncio, sys, time

        def test_seamwise_is_not_imported():
            assert not [name for name in sys.modules if name.split('.')[0] == 'seamwise']
            assert 1 == 1

        def test_guards_are_real():
            from seamwise.policies import REAL
            assert REAL.clock is time.monotonic

        def test_state_of_guards_stays():
            from seamwise.policies import circuit
            global CIRCUIT
            CIRCUIT = circuit(name='kept')
            CIRCUIT.isolate()

        def test_state_of_guards_has_stayed():
            assert CIRCUIT.state == 'open'
        """
    ).assert_outcomes(passed=4)


def test_a_failed_comparison_of_other_values_does_not_import_seamwise(runner: Runner) -> None:
    result = runner.run(
        conftest="""
        import sys

        def pytest_sessionfinish():
            assert not [name for name in sys.modules if name.split('.')[0] == 'seamwise']
        """,
        test_plain='def test_plain(): assert [1] == [2]',
    )
    result.assert_outcomes(failed=1)
    assert result.ret == 1


def test_starting_pytest_imports_neither_seamwise_nor_hypothesis() -> None:
    code = (
        'import sys, _seamwise_pytestplugin; '
        'sys.exit(bool({"seamwise", "hypothesis", "msgspec", "returns"} & {*sys.modules}))'
    )
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0


def test_classes_of_unittest_can_use_the_fixtures(runner: Runner) -> None:
    runner.run(
        test_case="""
        import time, unittest
        import pytest
        from seamwise.policies import REAL
        from seamwise.testing import assert_success
        from shop import find

        @pytest.mark.usefixtures('guard_world')
        class TestGuards(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def _failures(self, failures):
                self.failures = failures

            def test_world(self):
                assert REAL.clock is not time.monotonic
                assert self.failures == []

        class TestPlain(unittest.TestCase):
            def test_plain(self):
                assert REAL.clock is time.monotonic
                self.assertEqual(assert_success(find(1)), 'ada')
        """
    ).assert_outcomes(passed=2)


def test_async_tests_can_use_the_fixtures(runner: Runner) -> None:
    runner.run(
        test_async="""
        import asyncio
        import pytest
        from seamwise import Success
        from seamwise.policies import REAL, deadline, rate_limit

        LIMIT = rate_limit(1, period=60.0, name='search', wait=100.0)
        DEADLINE = deadline(5.0)
        pytestmark = pytest.mark.anyio

        @pytest.fixture
        def anyio_backend():
            return 'asyncio'

        async def succeed():
            return Success(1)

        async def hang():
            await REAL.sleep(100.0)

        @pytest.mark.parametrize('run', range(2))
        async def test_async(guard_world, run):
            assert await LIMIT.run(succeed) == await LIMIT.run(succeed) == Success(1)
            assert guard_world.now == 60.0
            result = await DEADLINE.run(hang)
            assert result.failure().timeout == 5.0
        """
    ).assert_outcomes(passed=2)


def test_fixtures_of_wider_scopes_can_build_guards(runner: Runner) -> None:
    runner.run(
        test_scopes="""
        import pytest
        from seamwise import Failure
        from seamwise.catalog.network import HostUnreachable
        from seamwise.policies import circuit, consecutive

        @pytest.fixture(scope='session')
        def bank():
            return circuit(name='bank', trip=consecutive(1))

        @pytest.mark.parametrize('attempt', range(3))
        def test_bank(bank, guard_world, attempt):
            assert bank.state == 'closed'
            bank.run_sync(lambda: Failure(HostUnreachable('bank', 'reset')))
            assert bank.state == 'open'

        def test_after(bank):
            assert bank.state == 'closed'
        """
    ).assert_outcomes(passed=4)


def test_a_failing_test_restores_the_real_world(runner: Runner) -> None:
    runner.run(
        test_restore="""
        import time
        from seamwise.policies import REAL

        def test_fails(guard_world):
            assert False

        def test_raises(guard_world):
            raise KeyboardInterrupt if False else SystemExit

        def test_after():
            assert REAL.clock is time.monotonic
        """
    ).assert_outcomes(failed=2, passed=1)
