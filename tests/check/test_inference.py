"""Tests of `inference`: the facts of a few modules."""

from collections.abc import Mapping

import pytest

from seamwise.check.facts import FileFacts, TextEdit
from seamwise.check.inference import infer
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
    'generic': """
from collections.abc import Callable
from typing import TypeVar

class Full(Busy, message='full'):
    pass

T = TypeVar('T')
Bound = TypeVar('Bound', bound=Busy)
OneOfTwo = TypeVar('OneOfTwo', bound=Busy | Missing)
Each = TypeVar('Each', Busy, Missing)

def passed(result: Result[T, Bound]) -> Result[T, Bound]:
    return result

def called(function: Callable[[], Result[T, Bound]]) -> Result[T, Bound]:
    return function()

def failed(error: OneOfTwo) -> Result[int, OneOfTwo]:
    return Failure(error)

def each(error: Each) -> Result[int, Each]:
    return Failure(error)

def user() -> Result[int, Full]:
    return passed(called(lambda: failed(Full())))
""",
    'declared': """
def both(uid: int) -> Result[int, Missing | Busy]:
    return find(uid).bind(book)

def one(uid: int) -> Result[str, Missing | Busy]:
    return find(uid)
""",
    'edges': """
from seamwise import attempt, refine, when

RULES = when(ValueError).becomes(lambda _: Busy()) | when(KeyError).becomes(lambda _: Missing())

@attempt(RULES)
def parse(text: str) -> int:
    return int(text)

def classify(error: Exception) -> Failure[Missing] | None:
    return None

@refine(classify)
def load(text: str) -> int:
    return int(text)

def inline(text: str) -> Result[int, Busy]:
    return attempt(lambda: int(text), when(ValueError).becomes(lambda _: Busy()))
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
SILENT = cli.on(Missing | Busy).hidden()

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
def facts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, FileFacts]:
    """Analyse all modules together, because mypy is slow to start."""
    folder = tmp_path_factory.mktemp('inferred')
    (folder / 'base.py').write_text(BASE, encoding='utf-8')
    for name, code in CODE.items():
        (folder / f'{name}.py').write_text(START + code, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return {module.name: infer(module, {}) for module in modules(['.'])}


@pytest.mark.slow
def test_function_has_declared_inferred_and_impossible_errors(
    facts: Mapping[str, FileFacts],
) -> None:
    both, first = facts['declared'].functions[-2:]
    assert both.name == 'declared.both'
    assert both.declared == both.inferred == ('base.Busy', 'base.Missing')
    assert (first.inferred, first.impossible_errors) == (('base.Missing',), ('base.Busy',))


def test_error_sources_name_callees_and_handled_errors(
    facts: Mapping[str, FileFacts],
) -> None:
    shown = facts['entries'].functions[-1]
    assert [
        (source.callee, source.errors, source.handled, source.lost)
        for source in shown.error_sources
    ] == [
        ('base.find', ('base.Missing',), ('base.Missing',), ()),
        ('base.book', ('base.Busy',), (), ()),
    ]


def test_error_replaced_by_value_or_is_lost(facts: Mapping[str, FileFacts]) -> None:
    lost = facts['lost'].functions[-1]
    assert [(source.handled, source.lost) for source in lost.error_sources] == [
        ((), ('base.Missing',))
    ]


def test_source_of_a_new_failure_has_no_callee(facts: Mapping[str, FileFacts]) -> None:
    made = facts['made'].functions[-1]
    assert [(source.callee, source.errors) for source in made.error_sources] == [
        ('', ('base.Missing',)),
        ('', ('base.Busy',)),
    ]
    assert made.inferred == ('base.Busy', 'base.Missing')


def test_rules_and_classifiers_create_errors(facts: Mapping[str, FileFacts]) -> None:
    sources = {
        function.name.removeprefix('edges.'): [
            (source.callee, source.errors) for source in function.error_sources
        ]
        for function in facts['edges'].functions
    }
    assert sources['parse'] == [('', ('base.Busy', 'base.Missing'))]
    assert sources['load'] == [('', ('base.Missing',))]
    assert sources['inline'] == [('', ('base.Busy',))]


def test_function_passed_to_bind_is_an_error_source(facts: Mapping[str, FileFacts]) -> None:
    step = facts['steps'].functions[-1]
    assert [source.callee for source in step.error_sources] == ['base.find', 'base.book']


def test_callee_of_a_method_is_named_by_the_defining_class(
    facts: Mapping[str, FileFacts],
) -> None:
    _, load, twice = facts['methods'].functions[-3:]
    assert load.overrides == ('methods.Base.load',)
    assert [source.callee for source in twice.error_sources] == [
        'methods.Store.load',
        'methods.Base.load',
    ]


def test_inner_function_has_a_qualified_name(
    facts: Mapping[str, FileFacts],
) -> None:
    functions = facts['inner'].functions
    assert [function.name for function in functions[-2:]] == ['inner.outer', 'inner.outer.inner']
    assert [source.callee for source in functions[-2].error_sources] == ['inner.outer.inner']


def test_call_of_an_adapter_is_a_seam_use(
    facts: Mapping[str, FileFacts],
) -> None:
    inferred = facts['seams']
    assert [(adapter.name, adapter.seam, adapter.errors) for adapter in inferred.seams] == [
        ('seams.ANSWERS', 'http', ('base.Missing',)),
        ('seams.EXITS', 'cli', ('base.Missing',)),
        ('seams.SILENT', 'cli', ()),
    ]
    assert [(use.seam, use.errors) for use in inferred.functions[-1].seam_uses] == [
        ('http', ('base.Missing',))
    ]


def test_guard_has_layers_and_protected_calls(facts: Mapping[str, FileFacts]) -> None:
    inferred = facts['guards']
    layers = {guard.name: [layer.kind for layer in guard.layers or ()] for guard in inferred.guards}
    assert layers == {'guards.patient': ['named', 'retry', 'other']}
    (call,) = inferred.guarded_calls
    assert call.errors == ('base.Missing',)
    assert [name.rpartition('.')[2] for name in call.guard_errors] == [
        'CircuitOpen',
        'DeadlineExceeded',
    ]


def test_class_facts_have_tag_category_and_retryable(facts: Mapping[str, FileFacts]) -> None:
    classes = facts['classes'].classes
    assert [(info.name, info.tag, info.category, info.retryable) for info in classes] == [
        ('classes.Odd', 'OddOne', 'TIMEOUT', False)
    ]


def test_too_wide_channels_have_removal_edits(facts: Mapping[str, FileFacts]) -> None:
    assert [
        edit.new for function in facts['exact'].functions for edit in function.removal_edits
    ] == [
        'Missing',
        'Missing',
        'Missing',
        'Missing',
    ]


@pytest.mark.slow
def test_aliased_channel_is_replaced_by_the_errors_that_remain(
    facts: Mapping[str, FileFacts],
) -> None:
    functions = facts['aliases'].functions[-2:]
    assert [[edit.new for edit in function.removal_edits] for function in functions] == [
        ['Missing'],
        ['Success[int]'],
    ]
    assert [function.impossible_errors for function in functions] == [
        ('base.Busy',),
        ('base.Busy',),
    ]


@pytest.mark.slow
def test_edit_has_position_and_old_text(facts: Mapping[str, FileFacts]) -> None:
    (edit,) = facts['edits'].functions[-1].removal_edits
    line = CODE['edits'].count('\n', 0, CODE['edits'].index('def')) + START.count('\n') + 1
    assert edit == TextEdit(line, 48, line, 62, 'Missing | Busy', 'Missing')


def test_chained_names_are_inferred_once_each(facts: Mapping[str, FileFacts]) -> None:
    # Inferring each name twice would take 2**40 steps.
    (chained,) = facts['chains'].functions
    assert chained.inferred == ('base.Missing',)
    assert [source.lost for source in chained.error_sources] == [()] * len(chained.error_sources)


def test_bound_of_a_type_variable_is_no_error(facts: Mapping[str, FileFacts]) -> None:
    functions = {function.name: function for function in facts['generic'].functions}
    for name in ('passed', 'called', 'failed'):
        function = functions[f'generic.{name}']
        assert (function.declared, function.inferred, function.error_sources) == (None, None, ())
    assert functions['generic.each'].declared == ('base.Busy', 'base.Missing')
    assert functions['generic.user'].inferred == ('generic.Full',)
