"""Refused commands end with exit code 1 every time, whatever their threads do at the end."""

import pytest

from tests.interfaces import refusals


@pytest.mark.slow
def test_refused_commands_always_end_with_one(tmp_path):
    for name, (arguments, given) in refusals.commands(tmp_path).items():
        codes, said = refusals.ends(arguments, given, times=8)
        assert codes == {1: 8}, f"{name}: {said}"
