"""The order: services, `bind`, and a function with `match` for each of three seams."""

import sys
from typing import TypeAlias, assert_never

from domain import BankDown, Cart, CardDeclined, CartEmpty, Receipt, charge, load_cart, find_user
from fastapi import FastAPI
from seamwise import Failure, Result, Success
from seamwise.seams import cli, http, session
from typing_extensions import assert_type

PayError: TypeAlias = CardDeclined | BankDown


def to_cli(error: PayError) -> cli.Rendered:
    match error:
        case CardDeclined():
            return cli.Rendered.of(error, exit_code=1)
        case BankDown(after=seconds):
            return cli.Rendered.of(error, exit_code=75, hint=f'try again in {seconds:g} s.')
        case _:
            assert_never(error)


def to_http(error: PayError) -> http.HttpError:
    match error:
        case CardDeclined():
            return http.HttpError.of(error, 409, 'CARD_DECLINED')
        case BankDown():
            return http.HttpError.of(error, 503, 'BANK_DOWN')
        case _:
            assert_never(error)


def to_session(error: PayError) -> session.ErrorEvent:
    match error:
        case CardDeclined(reason=reason):
            return session.ErrorEvent.of(error, 'error.correctable', 'ERR_CARD_001', reason=reason)
        case BankDown():
            return session.ErrorEvent.of(error, 'error.transient', 'ERR_BANK_001')
        case _:
            assert_never(error)


# Without an arm: one error for each function.


def cli_without_an_arm(error: PayError) -> cli.Rendered:
    match error:
        case CardDeclined():
            return cli.Rendered.of(error, exit_code=1)
        case _:
            assert_never(error)  # want: error, BankDown is not covered


def http_without_an_arm(error: PayError) -> http.HttpError:
    match error:
        case BankDown():
            return http.HttpError.of(error, 503, 'BANK_DOWN')
        case _:
            assert_never(error)  # want: error, CardDeclined is not covered


def session_without_an_arm(error: PayError) -> session.ErrorEvent:
    match error:
        case BankDown():
            return session.ErrorEvent.of(error, 'error.transient', 'ERR_BANK_001')
        case _:
            assert_never(error)  # want: error, CardDeclined is not covered


# At the seams: the errors of the pipeline must be those of the function.


def text_of(receipt: Receipt) -> str:
    return str(receipt.total)


def at_the_seams(app: FastAPI, chat: session.Receiver, cart: Cart) -> int:
    paid = charge(cart).map(text_of)
    http.install(app, to_http)
    session.publish(paid, chat, adapter=to_session)
    return cli.report(paid, to_cli, stdout=sys.stdout, stderr=sys.stderr)


def with_more_errors(chat: session.Receiver, paid: Result[str, CartEmpty | CardDeclined | BankDown]) -> int:
    session.publish(paid, chat, adapter=to_session)  # want[mypy,mypy+plugin,pyright,pyrefly]: error, CartEmpty is not covered
    return cli.report(paid, to_cli, stdout=sys.stdout, stderr=sys.stderr)  # want: error, CartEmpty is not covered


def piped(uid: int) -> Result[Receipt, CartEmpty | CardDeclined | BankDown]:
    return find_user(uid).bind(load_cart).bind(charge)  # want: error, UserNotFound is in the channel too


def handled(uid: int) -> str:
    match find_user(uid).bind(load_cart).bind(charge):
        case Success(receipt):
            assert_type(receipt, Receipt)
            return str(receipt.total)
        case Failure(error):
            return str(error)


http.HttpError.of(ValueError('no'), 409, 'NO')  # want: error, an exception is no tagged error
cli.Rendered.of(BankDown())  # want: error, the exit code is missing
session.ErrorEvent.of(BankDown(), 'error.transiemt', 'ERR_BANK_001')  # want: error, no such event
