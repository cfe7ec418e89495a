"""Testing support: assertions about results and adapters, and strategies for Hypothesis.

The fixtures and the comparison of results in failed assertions are in the pytest plugin `seamwise`,
which pytest loads automatically. This package itself needs neither pytest nor Hypothesis.
"""

from seamwise._runtime.fake_world import FakeWorld as FakeWorld
from seamwise.testing.assertions import assert_covers as assert_covers
from seamwise.testing.assertions import assert_failure as assert_failure
from seamwise.testing.assertions import assert_success as assert_success
from seamwise.testing.guards import fake_world as fake_world
from seamwise.testing.lazy_strategies import errors_of as errors_of
from seamwise.testing.lazy_strategies import register as _register

# Also without the entry point of Hypothesis, for example with HYPOTHESIS_NO_PLUGINS.
_register()
