"""Tests of `pictures`: the diagrams show what the code does today."""

import pytest
from tools.pictures import FOLDER, PICTURES, seam_outputs
from tools.themes import THEMES


@pytest.mark.parametrize('theme', THEMES)
@pytest.mark.parametrize('name', PICTURES)
def test_the_files_are_up_to_date(name: str, theme: str) -> None:
    file = FOLDER / f'{name}-{theme}.svg'
    assert file.read_text(encoding='utf-8') == PICTURES[name](THEMES[theme]), (
        'Run `python -m tools.pictures`.'
    )


def test_each_of_eight_seams_has_output() -> None:
    outputs = dict(seam_outputs())
    assert len(outputs) == 8
    assert all(outputs.values())
