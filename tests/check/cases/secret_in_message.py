from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final, Literal, TypeAlias

import msgspec

from seamwise import Category, Failure, Internal, Result, Secret, Success, TaggedError
from seamwise.seams import cli

Hidden: TypeAlias = Secret[str]
KEYED: Final = 'Not with {api_key}.'
PLAIN = 'Not with {password}.'


class Kind(StrEnum):
    BASIC = 'basic'
    BEARER = 'bearer'


class Detailed(TaggedError, category=Category.VALIDATION, message='{detail}'):
    detail: str


# case: a Secret
class A1(TaggedError, category=Category.AUTHENTICATION, message='Not with {given}.'):  # finds: SW112
    given: Secret[str]


# case: a plain field with such a name in the public message
class A1b(TaggedError, category=Category.AUTHENTICATION, message='No.', public='Not {password}.'):  # finds: SW112
    password: str


# case: an internal field in the message
class A1c(TaggedError, category=Category.UNAVAILABLE, message='No {host}.', public='No.'):
    host: Internal[str]


# case: a Secret that is not printed
class A2(TaggedError, category=Category.AUTHENTICATION, message='Not {user}.'):
    user: str
    given: Secret[str]
    password: str


# case: a plain field with such a name
class A3(TaggedError, category=Category.AUTHENTICATION, message='Not with {password!r}.'):  # finds: SW112
    password: str


# case: a Secret behind an alias
class A4(TaggedError, category=Category.AUTHENTICATION, message='Not with {given}.'):  # finds: SW112
    given: Hidden


# case: a Secret or None
class A5(TaggedError, category=Category.AUTHENTICATION, message='Not with {given}.'):  # finds: SW112
    given: Secret[str] | None = None


# case: a Secret among others
class A6(TaggedError, category=Category.AUTHENTICATION, message='Not with {given}.'):  # finds: SW112
    given: 'int | Secret[bytes]'


# case: several Secrets
class A7(TaggedError, category=Category.AUTHENTICATION, message='Not with {given}.'):  # finds: SW112
    given: tuple[Secret[str], ...]


# case: other words with a redaction word
class A8(TaggedError, category=Category.QUOTA, message='{max_tokens} tokens at most, {token_count} given, {tokens} left.'):
    max_tokens: int
    token_count: int
    tokens: int


# case: a key that opens nothing
class A9(TaggedError, category=Category.NOT_FOUND, message='No row {primary_key}, no entry {key}, no {monkey}.'):
    primary_key: str
    key: str
    monkey: str


# case: an api key
class A10(  # finds: SW112
    TaggedError,
    category=Category.AUTHENTICATION,
    message='The key {apiKey} is unknown.',
):
    apiKey: str


# case: a decorator above
def marked(kind: type[TaggedError]) -> type[TaggedError]:
    return kind


@marked
class A11(TaggedError, category=Category.AUTHENTICATION, message='Not with {access_token:>20}.'):  # finds: SW112
    access_token: str


# case: a bool, a date and closed words
class A12(TaggedError, category=Category.AUTHENTICATION, message='{has_password} {token_expires} {credential} {token_kind}'):
    has_password: bool
    token_expires: datetime | None
    credential: Literal['key', 'password']
    token_kind: Kind


# case: braces that are none
class A13(TaggedError, category=Category.VALIDATION, message='Write {{password}} for the password.'):
    password: str


# case: words only
class A14(TaggedError, category=Category.AUTHENTICATION, message='The password is wrong; ask for a new token.'):
    password: Secret[str]
    token: Secret[str]


# case: no message
class A15(TaggedError, category=Category.AUTHENTICATION):
    password: Secret[str]


# case: a template under a name
class A16(TaggedError, category=Category.AUTHENTICATION, message=KEYED):  # finds: SW112
    api_key: str


# case: a template under a plain name
class A17(TaggedError, category=Category.AUTHENTICATION, message=PLAIN):  # finds: SW112
    password: str


# case: a template in parts
class A18(TaggedError, category=Category.AUTHENTICATION, message='Not with ' + '{password}.'):  # finds: SW112
    password: str


# case: an inherited field
class Keyed(msgspec.Struct, frozen=True):
    given: Secret[str]
    user: str


class A19(TaggedError, Keyed, category=Category.AUTHENTICATION, message='{user} not with {given}.'):  # finds: SW112
    number: int = 0


# case: an inherited field that is not printed
class A20(TaggedError, Keyed, category=Category.AUTHENTICATION, message='Not {user}.'):
    number: int = 0


# case: the text of the error itself
class A21(TaggedError, category=Category.AUTHENTICATION, message='no'):
    given: Secret[str]

    def __str__(self) -> str:
        return f'Not with {self.given}.'  # finds: SW112


# case: the text of the error itself, revealed
class A22(TaggedError, category=Category.AUTHENTICATION, message='no'):
    given: Secret[str]

    def __str__(self) -> str:
        return 'Not with ' + self.given.reveal()  # finds: SW112


# case: the text of the error itself, a part of it
class A23(TaggedError, category=Category.AUTHENTICATION, message='no'):
    password: str

    def __str__(self) -> str:
        return self.password[:4]  # finds: SW112


# case: the text of the error itself, by format
class A24(TaggedError, category=Category.AUTHENTICATION, message='no'):
    password: str

    def __str__(self) -> str:
        return 'Not with {}.'.format(self.password)  # finds: SW112


# case: the text of the error itself, by per cent
class A25(TaggedError, category=Category.AUTHENTICATION, message='no'):
    user: str
    password: str

    def __str__(self) -> str:
        return '%s: %s' % (self.user, self.password)  # finds: SW112


# case: only tested
class A26(TaggedError, category=Category.AUTHENTICATION, message='no'):
    user: str
    password: Secret[str] | None = None

    def __str__(self) -> str:
        if self.password is None:
            return f'{self.user} gave no password.'
        return f'{self.user} gave {"a wrong" if self.password else "no"} password.'


# case: only its length
class A27(TaggedError, category=Category.VALIDATION, message='no'):
    password: str

    def __str__(self) -> str:
        return f'{len(self.password)} characters are too few, {self.password.startswith("a")}.'


# case: a method that uses it
class A28(TaggedError, category=Category.AUTHENTICATION, message='no'):
    password: Secret[str]

    def matches(self, other: str) -> bool:
        return self.password.reveal() == other

    def given(self) -> Secret[str]:
        return self.password


# case: a constant of the class
class A29(TaggedError, category=Category.AUTHENTICATION, message='no'):
    LIMIT: ClassVar[int] = 3

    def __str__(self) -> str:
        return f'After {self.LIMIT} times.'


# case: a hint at a seam
HINT = cli.on(A2).exits(2, hint=lambda error: f'Not with {error.password}.')  # finds: SW112


# case: a hint at a seam that prints another field
OTHER_HINT = cli.on(A2).exits(2, hint=lambda error: f'Ask for {error.user}.')


# case: a table of templates
TEXTS: dict[type[TaggedError], str] = {
    A2: '{user} is not let in with {password}.',  # finds: SW112
    A14: 'Not with this password.',
}


# case: a table of templates that print other fields
OTHER_TEXTS: Mapping[type[TaggedError], str] = {A2: '{user} is not let in.', A9: '{key}'}


# case: a table of templates of others
NAMES = {'login': 'Not with {password}.'}


# case: a text by match
def text_of(error: A2 | A3) -> str:
    match error:
        case A2(user=user, password=password):
            return f'{user}: {password}'  # finds: SW112
        case A3(password):
            return f'Not with {password}.'  # finds: SW112


# case: a text by match that prints other fields
def safe_text_of(error: A2 | A3) -> str:
    match error:
        case A2(user, password=given):
            return f'{user}: no' if given else 'nobody'
        case A3():
            return 'no'


# case: a text of an error that is given
def told(error: A2) -> str:
    return f'{error.user} with {error.given}'  # finds: SW112


# case: details are no message
def details(error: A2) -> dict[str, object]:
    return {'user': error.user, 'password': error.password}


# case: a revealed secret given to an error
def login(user: str, password: Secret[str]) -> Result[str, Detailed]:
    if user != 'ada':
        return Failure(Detailed(f'{user} is not let in with {password.reveal()}.'))  # finds: SW112
    return Success(user)


# case: a revealed secret given to an error by name
def login_by_name(user: str, password: Secret[str]) -> Detailed:
    return Detailed(detail=password.reveal())  # finds: SW112


# case: a revealed secret given to a field that is not printed
def kept_by_name(user: str, given: Secret[str]) -> A2:
    return A2(user, given, password=f'{user}:{given.reveal()}')


# case: the length of a revealed secret
def length(password: Secret[str]) -> Detailed:
    return Detailed(f'{len(password.reveal())} characters are too few.')


# case: a revealed secret where it is used
def header(token: Secret[str]) -> dict[str, str]:
    return {'Authorization': f'Bearer {token.reveal()}'}


# case: a secret given to an error as such
def keeps(user: str, password: Secret[str]) -> Result[str, A14]:
    return Failure(A14(password, Secret(f'{user}:{password.reveal()}')))


# case: a class that is no error
@dataclass
class Login:
    user: str
    password: str

    def __str__(self) -> str:
        return f'{self.user}: {self.password}'


# case: a text of an object that is not an error
def of_login(login: Login) -> str:
    return f'{login.user} has a password: {bool(login.password)}'


# case: another keyword of the class
class A30(TaggedError, category=Category.AUTHENTICATION, tag='password', message='no {user}'):
    user: str
    password: str


# case: allowed with a reason
class A31(TaggedError, category=Category.VALIDATION, message='{token!r} was not expected.'):  # seamwise: allow[SW112] a word of the source
    token: str
