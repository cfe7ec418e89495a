"""Tests of SW122 over several files: guards and clients are usually in different ones."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.settings import CheckSettings

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

GUARDS = """
from seamwise.policies import circuit, deadline, keyed, retry

patient = circuit(name='bank') >> retry(attempts=3)
once = circuit(name='bank') >> deadline(2.0)
with_key = keyed(patient)
"""

BANK = """
import httpx
from seamwise import Category, Failure, Result, Success, TaggedError

class BankDown(TaggedError, category=Category.UNAVAILABLE, message='down'):
    pass

class Bank:
    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def charge(self) -> Result[int, BankDown]:
        self._client.post('/charges')
        self._client.patch('/accounts')
        self._client.post('/receipts')
        return Success(1)

    def charge_with_key(self, key: str) -> Result[int, BankDown]:
        return Success(self._client.post('/charges', headers={'X-Key': key}).status_code)

    def balance(self) -> Result[int, BankDown]:
        return Success(self._client.get('/balance').status_code)

    def charge_or_read(self, is_read: bool) -> Result[int, BankDown]:
        if is_read:
            return self.balance()
        return Success(self._client.get('/') and self._client.post('/charges').status_code)
"""

SHOP = """
from bank import Bank, BankDown
from guards import once, patient, with_key
from seamwise import Result

def by_method(bank: Bank) -> object:
    return patient.run_sync(bank.charge)

def by_lambda(bank: Bank) -> object:
    return (patient >> once).run_sync(
        lambda: bank.charge(),
    )

@patient
def by_decorator(bank: Bank) -> Result[int, BankDown]:
    return bank.charge()

def reads(bank: Bank) -> object:
    return patient.run_sync(bank.balance)

def sends_once(bank: Bank) -> object:
    return once.run_sync(bank.charge)

def sends_a_key(bank: Bank) -> object:
    return with_key.run_sync(bank.charge_with_key)

def has_a_choice(bank: Bank) -> object:
    return patient.run_sync(bank.charge_or_read, True)

# seamwise: allow[SW122] the bank refuses a second charge of an order
allowed = patient(Bank.charge)
"""


def check(folder: Path, files: Sequence[tuple[str, str]], paths: Sequence[str] = ('.',)) -> Report:
    for name, text in files:
        (folder / f'{name}.py').write_text(text, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run_check(paths, CheckSettings(select=('SW122',)))


def test_guard_client_and_call_can_be_in_different_files(tmp_path: Path) -> None:
    report = check(tmp_path, [('guards', GUARDS), ('bank', BANK), ('shop', SHOP)])
    assert report.problems == ()
    assert [(finding.path, finding.source.strip()) for finding in report.findings] == [
        ('shop.py', 'return patient.run_sync(bank.charge)'),
        ('shop.py', 'return (patient >> once).run_sync('),
        ('shop.py', '@patient'),
    ]
    (message,) = {finding.message for finding in report.findings}
    assert message == (
        'This retry repeats `self._client.post(…)` and `self._client.patch(…)` in `charge`, '
        'which may have taken effect.'
    )


@pytest.mark.parametrize('other', ['bank.py', 'guards.py'])
def test_the_files_of_the_guard_and_the_client_are_read_if_they_are_not_named(
    tmp_path: Path, other: str
) -> None:
    files = [('guards', GUARDS), ('bank', BANK), ('shop', SHOP)]
    everything = check(tmp_path, files)
    named = check(tmp_path, files, [other, 'shop.py'])
    assert everything.findings == named.findings
    assert {finding.code for finding in named.findings} == {'SW122'}


def test_an_untyped_client_is_unknown(tmp_path: Path) -> None:
    untyped = BANK.replace('client: httpx.Client', 'client')
    report = check(tmp_path, [('guards', GUARDS), ('bank', untyped), ('shop', SHOP)])
    assert report.findings == ()


def test_a_guard_with_two_definitions_is_unknown(tmp_path: Path) -> None:
    guards = f'{GUARDS}\nif not __debug__:\n    patient = circuit(name="bank") >> deadline(1.0)\n'
    report = check(tmp_path, [('guards', guards), ('bank', BANK), ('shop', SHOP)])
    assert report.findings == ()
