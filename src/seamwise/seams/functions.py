"""Arms of a plain function: the error classes of its annotation, and a sample answer for each."""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, iscoroutine, signature
from typing import Any, Generic, TypeVar, final

from typing_extensions import TypeIs

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import TaggedError

S = TypeVar('S')

_POSITIONAL = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}


@final
class FunctionArm(Generic[S]):
    """The arm of one error class in the annotation of a function."""

    __slots__ = ('_function', '_kind', '_samples')

    def __init__(self, function: Callable[[Any], S], kind: type[TaggedError]) -> None:
        self._function = function
        self._kind = kind
        self._samples: tuple[TaggedError, S] | None = None

    def __call__(self, error: object) -> S:
        """Return the answer of the function."""
        return self._function(error)

    def is_same(self, other: object) -> bool:
        """Return whether both are arms of one class and one function."""
        return (
            is_function_arm(other)
            and self._kind is other._kind
            and self._function == other._function
        )

    @property
    def name(self) -> str:
        """The name of the function."""
        return function_name(self._function)

    @property
    def sample(self) -> S:
        """The answer to an example of the error class; the function is called once.

        Raises:
            TypeError: The function raises for it, or the class allows no example.
        """
        return self._sampled()[1]

    @property
    def sample_error(self) -> TaggedError:
        """The example of the error class.

        Raises:
            TypeError: As for `sample`.
        """
        return self._sampled()[0]

    def _sampled(self) -> tuple[TaggedError, S]:
        if self._samples is None:
            # Imported here: a program that only translates errors needs no samples.
            from seamwise._defects.exception_kinds import describe_exception  # noqa: PLC0415
            from seamwise._runtime.samples import NoSample, sample_error  # noqa: PLC0415

            kind = self._kind.__name__
            try:
                error = sample_error(self._kind)
            except NoSample as reason:
                raise TypeError(
                    f'{self.name} cannot be called with an example of {kind}: {reason} '
                    f'Replace this class by an arm: `Adapter.of({self.name}).but(on({kind})…)`.'
                ) from reason
            try:
                answer = self._function(error)
            except Exception as raised:
                raise TypeError(
                    f'{self.name} raises for {error!r}, an example of {kind}: '
                    f'{describe_exception(raised)}. Add a case for {kind}, or remove it from the '
                    'annotation.'
                ) from raised
            self._samples = error, answer
        return self._samples


def function_arms(function: Callable[[Any], S]) -> dict[type[TaggedError], FunctionArm[S]]:
    """Return an arm for each error class in the annotation of a function's parameter.

    Raises:
        TypeError: The parameter has no annotation, or one with other types than tagged errors.
    """
    return {kind: FunctionArm(function, kind) for kind in annotated_kinds(function)}


def annotated_kinds(function: Callable[..., object]) -> tuple[type[TaggedError], ...]:
    """Return the error classes in the annotation of a function's parameter.

    Raises:
        TypeError: The parameter has no annotation, or one with other types than tagged errors.
    """
    name = function_name(function)
    class_: object = function
    if isinstance(class_, type) and issubclass(class_, BaseException | TaggedError):
        raise TypeError(
            f'{name} is a class of errors, not a table: write a rule for it, as in '
            f'`on({name}).hidden()`.'
        )
    advice = f'Write its parameter as in `def {_identifier(name)}(error: NotFound | Busy)`'
    try:
        parameters = [*signature(function, eval_str=True).parameters.values()]
    except NameError as missing:
        raise TypeError(
            f'The annotation of {name} contains a name that does not exist at run time '
            f'({missing}). Import the error classes outside of `if TYPE_CHECKING`.'
        ) from missing
    except ValueError as missing:
        raise TypeError(f'{name} has no signature. {advice}.') from missing
    if not parameters or parameters[0].kind not in _POSITIONAL:
        raise TypeError(f'{name} takes no error. {advice}.')
    if any(_is_required(parameter) for parameter in parameters[1:]):
        raise TypeError(f'{name} needs more arguments than the error. {advice}.')
    annotation: object = parameters[0].annotation
    if annotation is Signature.empty:
        raise TypeError(
            f'{name} does not say which errors it takes. {advice}, so that documents and checks '
            'know them.'
        )
    try:
        return error_classes(annotation)
    except TypeError as wrong:
        raise TypeError(f'{name}: {wrong} {advice}.') from wrong


def check_samples(arms: Mapping[type, object], shape: type) -> None:
    """Check that each function among the arms returns a shape for an example of its class.

    Raises:
        TypeError: A function raises, or returns another type.
    """
    for kind, arm in arms.items():
        if is_function_arm(arm) and not isinstance(sample := arm.sample, shape):
            if iscoroutine(sample):
                # Otherwise Python would warn that the coroutine was never awaited.
                sample.close()
            raise TypeError(
                f'{arm.name} returned {type(sample).__name__} instead of {shape.__name__} for an '
                f'example of {kind.__name__}.'
            )


def is_function_arm(arm: object) -> TypeIs[FunctionArm[object]]:
    """Return whether an arm is that of a function."""
    return isinstance(arm, FunctionArm)


def function_name(function: object) -> str:
    """Return the name of a function as a message shows it."""
    return getattr(function, '__name__', None) or type(function).__name__


def _is_required(parameter: Parameter) -> bool:
    is_rest = parameter.kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
    return parameter.default is Parameter.empty and not is_rest


def _identifier(name: str) -> str:
    return name if name.isidentifier() else 'to_http'
