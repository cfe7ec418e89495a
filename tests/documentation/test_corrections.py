"""Tests of `corrections`: what the build changes in the output of Sphinx."""

import zlib

from tools.documentation.corrections import complete_markup, without_private_names


def test_a_picture_is_a_link_to_its_full_size() -> None:
    image = '<img alt="A map" class="only-dark" src="../_images/map-dark.png" />'
    assert complete_markup(image) == (
        '<a class="picture only-dark" href="../_images/map-dark.png">'
        '<img loading="lazy" alt="A map" src="../_images/map-dark.png" /></a>'
    )
    assert 'class="picture only-dark medium"' in complete_markup(
        image.replace('only-dark', 'only-dark medium')
    )
    other = '<img loading="lazy" alt="A map" src="../_images/map.png" />'
    assert complete_markup(other) == other


def test_the_inventory_has_no_private_modules() -> None:
    head = b'# Sphinx inventory version 2\n# Project: a\n# Version: 1\n# zlib\n'
    lines = b'a.B py:class 1 page/#$ -\na._c.B py:class -1 page/#a.B -\n'
    inventory = without_private_names(head + zlib.compress(lines))
    assert inventory.startswith(head)
    assert zlib.decompress(inventory.removeprefix(head)) == b'a.B py:class 1 page/#$ -\n'
