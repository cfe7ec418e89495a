# `accumulate` runs all checks of a form and returns every error, not only the first.
from seamwise import Category, Failure, Result, Success, TaggedError, accumulate
from seamwise.seams import http


class NameMissing(TaggedError, category=Category.VALIDATION, message='Enter a name.'):
    pass


class AgeInvalid(TaggedError, category=Category.VALIDATION, message='{age} is not an age.'):
    age: int


def check_name(name: str) -> Result[str, NameMissing]:
    return Success(name) if name else Failure(NameMissing())


def check_age(age: int) -> Result[int, AgeInvalid]:
    return Success(age) if 0 <= age < 150 else Failure(AgeInvalid(age))


AS_HTTP = (
    http.on(NameMissing).responds(422, 'NAME_MISSING')  # status and code
    | http.on(AgeInvalid).responds(422, 'AGE_INVALID')
)

print(accumulate(check_name('Ada'), check_age(36)))

errors = accumulate(check_name(''), check_age(-1))
print(errors)

errors
