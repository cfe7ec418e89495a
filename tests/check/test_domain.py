"""Tests of the domain modules, which SW109 checks."""

from pathlib import Path

import pytest

from seamwise import Success
from seamwise.check.checking import run_check
from seamwise.check.facts import FileFacts
from seamwise.check.settings import CheckSettings, load_settings

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]


@pytest.mark.parametrize(
    ('module', 'path'),
    [
        ('shop.domain.orders', 'src/shop/domain/orders.py'),
        ('shop.services', 'shop/services.py'),
        ('shop.services', 'shop/services/__init__.py'),
        ('domain', 'domain.py'),
        ('orders', 'shop/domain/orders.py'),
        ('orders', '../other/services/orders.py'),
    ],
)
def test_module_with_a_domain_part_in_its_name_is_domain(module: str, path: str) -> None:
    assert CheckSettings().is_domain(FileFacts(module, path))


@pytest.mark.parametrize(
    ('module', 'path'),
    [
        ('shop.web.orders', 'src/shop/web/orders.py'),
        ('shop.domains.orders', 'shop/domains/orders.py'),
        ('shop.my_services', 'shop/my_services.py'),
        ('api.routes', 'services/api/api/routes.py'),
        ('routes', 'services/api/src/routes.py'),
        ('api', 'services/api/__init__.py'),
    ],
)
def test_other_module_is_not_domain(module: str, path: str) -> None:
    assert not CheckSettings().is_domain(FileFacts(module, path))


def test_settings_name_the_domain_layers(tmp_path: Path) -> None:
    (tmp_path / 'pyproject.toml').write_text(
        '[tool.seamwise.check]\ndomain = ["core", "shop.rules"]\n', encoding='utf-8'
    )
    loaded = load_settings(tmp_path, [])
    assert isinstance(loaded, Success)
    settings = loaded.unwrap()
    assert settings.is_domain(FileFacts('bank.core.money', 'bank/core/money.py'))
    assert settings.is_domain(FileFacts('shop.rules.prices', 'shop/rules/prices.py'))
    assert not settings.is_domain(FileFacts('bank.rules', 'bank/rules.py'))
    assert not settings.is_domain(FileFacts('shop.domain', 'shop/domain.py'))


CODE = 'from http import HTTPStatus\n\nSTATUS = HTTPStatus.NOT_FOUND\n'


def test_only_domain_modules_except_tests_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        'shop/domain/orders.py',
        'shop/web/orders_page.py',
        'tests/domain/orders_case.py',
        'shop/domain/test_more.py',
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(CODE, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    findings = run_check(['.'], no_cache=True).findings
    assert [(finding.path, finding.line, finding.code) for finding in findings] == [
        ('shop/domain/orders.py', 3, 'SW109')
    ]
    findings = run_check(['.'], CheckSettings(domain=('web',)), no_cache=True).findings
    assert [(finding.path, finding.code) for finding in findings] == [
        ('shop/web/orders_page.py', 'SW109')
    ]


def test_changed_domain_setting_applies_with_a_warm_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'orders.py').write_text(CODE, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    assert run_check(['orders.py']).findings == ()
    findings = run_check(['orders.py'], CheckSettings(domain=('orders',))).findings
    assert [finding.code for finding in findings] == ['SW109']
    assert run_check(['orders.py']).findings == ()
