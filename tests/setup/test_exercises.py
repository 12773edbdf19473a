"""The exercises of docs/extending.md still fit the tree; tests/exercises.py (./test --all) builds them too."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import exercises

EVERY = dict(exercises.exercises())


def test_there_are_three():
    assert list(EVERY) == ["Add a profile tool", "Add a capture format", "Add a dashboard"]
    assert all(len(files) <= 4 for files in EVERY.values())


@pytest.mark.parametrize("title", EVERY)
def test_the_diff_applies(title, tmp_path):
    for name, is_new, _ in EVERY[title]:
        if not is_new:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(exercises.ROOT / name, tmp_path / name)
    exercises.apply(tmp_path, EVERY[title])


def test_a_diff_that_does_not_fit_is_seen():
    with pytest.raises(AssertionError, match="has no line"):
        exercises.changed(["a", "b"], [" c", "+d"], "x")
    assert exercises.changed(["a", "b", "c"], [" a", "-b", "+d"], "x") == ["a", "d", "c"]
