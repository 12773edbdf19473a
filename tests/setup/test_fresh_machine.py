"""The scripts of a bare machine agree on where they meet; that they work there is shown by tools/fresh_machine itself."""

import re
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def test_the_steps_of_the_dockerfile_know_the_file_that_starts_them():
    asked = re.search(r"\[ -f (\S+) \]", (TOOLS / "dockerfile_steps").read_text())
    assert asked
    assert f'cat >"$fresh{asked[1]}"' in (TOOLS / "fresh_machine").read_text()
