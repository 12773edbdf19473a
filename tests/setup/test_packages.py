"""CMake names every library that is missing, its package and the command that installs it, before anything is compiled."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = [row.split("|") for row in re.findall(r'^  "([^"]+\|[^"]+)"', (ROOT / "cmake/packages.cmake").read_text(), re.M)]


def looked_for(place: Path, without: str = "") -> str:
    """What cmake says in a place that has every library but one."""
    for name, header, archives, *_ in ROWS:
        if name == without:
            continue
        file = place / "include" / header
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        for archive in archives.split(",") if archives != "-" else []:
            (place / "lib").mkdir(exist_ok=True)
            (place / f"lib/lib{archive}.a").touch()
    script = place / "look.cmake"
    script.write_text('set(CMAKE_FIND_LIBRARY_PREFIXES lib)\nset(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)\n'
                      f'set(CMAKE_PREFIX_PATH "{place}")\n'
                      'set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\nset(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)\n'
                      f'include("{ROOT}/cmake/packages.cmake")\n')
    run = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
    assert (run.returncode == 0) == (run.stderr == ""), run.stderr
    return run.stderr


def test_nothing_is_said_where_everything_is_there(tmp_path):
    assert looked_for(tmp_path) == ""


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_missing_library_is_named_with_its_package(tmp_path, row):
    said = looked_for(tmp_path, without=row[0])
    assert f"{row[0]}: no header <{row[1]}>; it is in " in said
    packages = re.search(r"(?:apt-get|dnf|brew) install (.+)", said)[1].split()
    assert len(packages) == 1 and packages[0] in row[3:]


def test_all_of_them_in_one_message(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "look.cmake").write_text('set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\nset(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)\n'
                                         f'include("{ROOT}/cmake/packages.cmake")\n')
    said = subprocess.run(["cmake", "-P", tmp_path / "look.cmake"], capture_output=True, text=True).stderr
    assert said.count("no header") == len(ROWS)


def test_the_packages_are_those_that_run_installs():
    wanted = re.search(r'sonde_build_packages="([^"]+)"', (ROOT / "tools/setup.sh").read_text())[1].replace("|", " ").split()
    assert {row[3] for row in ROWS} <= set(wanted)
