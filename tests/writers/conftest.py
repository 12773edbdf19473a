import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

PROGRAM = Path(os.environ.get("SONDE_BINARY") or Path(__file__).parents[2] / "build" / "release" / "sonde")


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The log directory that `sonde demo` makes, for tests that only read it."""
    if not PROGRAM.exists():
        pytest.skip("build/release has no sonde")
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run([PROGRAM, "demo", folder, "--seed", "3"], check=True, stdout=subprocess.DEVNULL)
    return folder
