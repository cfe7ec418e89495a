"""What is read of a function: what comes in, what is handled, what comes out, and what seams show of it."""

from collections.abc import Mapping

import pytest

from seamwise.check.facts import TextEdit
from seamwise.check.inference import InferredFacts, infer
from tests.check.reading import modules

BASE = """
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import circuit


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


def find(uid: int) -> Result[str, Missing]:
    return Failure(Missing()) if uid else Success('ada')


def book(name: str) -> Result[int, Busy]:
    return Failure(Busy()) if name else Success(1)


upstream = circuit(name='upstream')
"""
START = """
from base import Busy, Missing, book, find, upstream
from seamwise import Category, Do, Failure, Result, Success, TaggedError, collect, fallible
from seamwise.policies import deadline, retry
from seamwise.seams import cli
from seamwise.seams.http import HttpError, on
"""
CODE = {
    'chains': 'def chained(uid: int) -> Result[object, Missing | Busy]:\n    name0 = find(uid)\n'
    + ''.join(
        f'    name{n + 1} = collect(name{n}, name{n}).map(lambda two: two[0])\n' for n in range(40)
    )
    + '    return name40\n',
    'declared': """
def both(uid: int) -> Result[int, Missing | Busy]:
    return find(uid).bind(book)

def one(uid: int) -> Result[str, Missing | Busy]:
    return find(uid)
""",
    'entries': """
def shown(uid: int) -> Result[str, Busy]:
    match find(uid):
        case Success(name):
            return book(name).map(str)
        case Failure(Missing()):
            return Success('nobody')
""",
    'lost': """
def lost(uid: int) -> str:
    return find(uid).value_or('nobody')
""",
    'made': """
@fallible
def made(do: Do[Missing | Busy], uid: int) -> int:
    if not uid:
        do.fail(Missing())
    return do(Failure(Busy()))
""",
    'steps': """
def step(uid: int) -> Result[int, Missing | Busy]:
    return find(uid).bind(book)
""",
    'methods': """
class Base:
    def load(self) -> Result[str, Missing]:
        return find(1)

class Store(Base):
    def load(self) -> Result[str, Missing]:
        return find(2)

    def twice(self) -> Result[str, Missing]:
        self.load().value_or('')
        return Base().load()
""",
    'inner': """
def outer() -> Result[str, Missing]:
    def inner() -> Result[str, Missing]:
        return find(1)

    return inner()
""",
    'seams': """
ANSWERS = on(Missing).responds(404, 'MISSING') | on(Busy).hidden()
EXITS = cli.on(Missing).exits(2)

def answer(uid: int) -> HttpError | str:
    match find(uid):
        case Success(name):
            return name
        case Failure(error):
            return ANSWERS(error)
""",
    'guards': """
patient = upstream >> retry(attempts=2) >> deadline(1.0)

def call(uid: int) -> object:
    return patient.run_sync(lambda: find(uid))
""",
    'classes': """
class Odd(TaggedError, category=Category.TIMEOUT, retryable=False, tag='OddOne', message='odd'):
    pass
""",
    'aliases': """
Both = Missing | Busy

def f(uid: int) -> Result[str, Both]:
    return find(uid)

def g() -> Result[int, Busy]:
    return Success(1)
""",
    'edits': """
def fünf(uid: int, ö: str = 'ä') -> Result[str, Missing | Busy]:
    return find(uid)
""",
    'exact': """
def one(uid: int) -> Result[str, Missing | Busy]:
    return find(uid)

def other(uid: int) -> Result[str, Busy | Missing]:
    return find(uid)

async def later(uid: int) -> Result[str, (Busy | Missing)]:
    return find(uid)

@fallible
def direct(do: Do[Busy | Missing], uid: int) -> str:
    return do(find(uid))
""",
}


@pytest.fixture(scope='module')
def flows(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, InferredFacts]:
    """Read all of them at once: mypy takes its time to start."""
    folder = tmp_path_factory.mktemp('flows')
    (folder / 'base.py').write_text(BASE, encoding='utf-8')
    for name, code in CODE.items():
        (folder / f'{name}.py').write_text(START + code, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return {module.name: infer(module) for module in modules(['.'])}


def test_a_function_says_what_it_declares_and_what_really_comes_out(
    flows: Mapping[str, InferredFacts],
) -> None:
    found = flows['declared'].functions
    both, one = found[-2:]
    assert both.name == 'declared.both'
    assert both.declared == both.inferred == ('base.Busy', 'base.Missing')
    assert (one.inferred, one.impossible_errors) == (('base.Missing',), ('base.Busy',))


def test_an_entry_says_where_errors_come_in_and_which_end_there(
    flows: Mapping[str, InferredFacts],
) -> None:
    shown = flows['entries'].functions[-1]
    assert [(one.callee, one.errors, one.handled, one.lost) for one in shown.error_sources] == [
        ('base.find', ('base.Missing',), ('base.Missing',), ()),
        ('base.book', ('base.Busy',), (), ()),
    ]


def test_what_nobody_looks_at_is_lost(flows: Mapping[str, InferredFacts]) -> None:
    lost = flows['lost'].functions[-1]
    assert [(one.handled, one.lost) for one in lost.error_sources] == [((), ('base.Missing',))]


def test_a_failure_that_is_made_here_has_no_callee(flows: Mapping[str, InferredFacts]) -> None:
    made = flows['made'].functions[-1]
    assert [(one.callee, one.errors) for one in made.error_sources] == [
        ('', ('base.Missing',)),
        ('', ('base.Busy',)),
    ]
    assert made.inferred == ('base.Busy', 'base.Missing')


def test_a_step_that_is_handed_over_brings_its_errors(flows: Mapping[str, InferredFacts]) -> None:
    step = flows['steps'].functions[-1]
    assert [one.callee for one in step.error_sources] == ['base.find', 'base.book']


def test_methods_go_by_the_class_that_defines_them(flows: Mapping[str, InferredFacts]) -> None:
    found = flows['methods'].functions
    _, load, twice = found[-3:]
    assert load.overrides == ('methods.Base.load',)
    assert [one.callee for one in twice.error_sources] == [
        'methods.Store.load',
        'methods.Base.load',
    ]


def test_functions_inside_of_functions_have_names_of_their_own(
    flows: Mapping[str, InferredFacts],
) -> None:
    found = flows['inner'].functions
    assert [one.name for one in found[-2:]] == ['inner.outer', 'inner.outer.inner']
    assert [one.callee for one in found[-2].error_sources] == ['inner.outer.inner']


def test_what_is_handed_to_an_adapter_is_shown_at_its_seam(
    flows: Mapping[str, InferredFacts],
) -> None:
    found = flows['seams']
    assert [(one.name, one.seam, one.errors) for one in found.seams] == [
        ('seams.ANSWERS', 'http', ('base.Missing',)),
        ('seams.EXITS', 'cli', ('base.Missing',)),
    ]
    assert [(one.seam, one.errors) for one in found.functions[-1].seam_uses] == [
        ('http', ('base.Missing',))
    ]


def test_guards_are_known_layer_by_layer(flows: Mapping[str, InferredFacts]) -> None:
    found = flows['guards']
    layers = {one.name: [layer.kind for layer in one.layers or ()] for one in found.guards}
    assert layers == {'guards.patient': ['named', 'retry', 'other']}
    (call,) = found.guarded_calls
    assert call.errors == ('base.Missing',)
    assert [name.rpartition('.')[2] for name in call.guard_errors] == [
        'CircuitOpen',
        'DeadlineExceeded',
    ]


def test_classes_say_their_category(flows: Mapping[str, InferredFacts]) -> None:
    found = flows['classes'].classes
    assert [(one.name, one.tag, one.category, one.retryable) for one in found] == [
        ('classes.Odd', 'OddOne', 'TIMEOUT', False)
    ]


def test_a_channel_that_is_too_wide_can_be_made_exact(flows: Mapping[str, InferredFacts]) -> None:
    assert [one.new for function in flows['exact'].functions for one in function.removal_edits] == [
        'Missing',
        'Missing',
        'Missing',
        'Missing',
    ]


def test_a_channel_behind_another_name_is_left_alone(flows: Mapping[str, InferredFacts]) -> None:
    found = flows['aliases'].functions[-2:]
    assert [one.removal_edits for one in found] == [(), ()]
    assert [one.impossible_errors for one in found] == [('base.Busy',), ('base.Busy',)]


def test_an_edit_knows_what_it_replaces(flows: Mapping[str, InferredFacts]) -> None:
    (edit,) = flows['edits'].functions[-1].removal_edits
    line = CODE['edits'].count('\n', 0, CODE['edits'].index('def')) + START.count('\n') + 1
    assert edit == TextEdit(line, 48, line, 62, 'Missing | Busy', 'Missing')


def test_names_that_lead_to_others_are_followed_once(flows: Mapping[str, InferredFacts]) -> None:
    # Each twice would be a million million ways.
    (chained,) = flows['chains'].functions
    assert chained.inferred == ('base.Missing',)
    assert [one.lost for one in chained.error_sources] == [()] * len(chained.error_sources)
