"""Random damaged tables: every command ends with an answer or one line."""

import pytest

from tests.interfaces.tables.hostile_tables import try_tables


@pytest.mark.parametrize("seeds", [range(38, 50), pytest.param(range(500), marks=pytest.mark.slow)])
@pytest.mark.processes
def test_commands_end_with_an_answer_or_one_line(tmp_path, seeds):
    wrong = [(seed, *found) for seed, _, *found in try_tables(seeds, tmp_path) if found[1]]
    assert not wrong
