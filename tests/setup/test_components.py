"""What is inside the program and the page is listed (tools/components.json) and its licences are here."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import components

BUILD = ROOT / "build" / "release"


def test_the_list_is_the_program():
    if not (BUILD / "build.ninja").exists():
        pytest.skip("build/release is not configured")
    assert components.check(BUILD) == []


def test_a_library_that_is_not_listed_is_noticed(tmp_path):
    (tmp_path / "build.ninja").write_text("build sonde: LINK a.o\n  LINK_LIBRARIES = libx.a  /usr/lib/libnew.a  /usr/lib/libz.a  -ldl\nbuild other: x\n")
    problems = components.check(tmp_path)
    assert "the program links new, which components.json does not name" in problems
    assert "components.json names the archive zstd, which the program does not link" in problems


def test_bill_of_materials_names_every_part():
    bom = components.sbom("1.2.3")
    assert {c["name"] for c in bom["components"]} == {c["name"] for c in components.COMPONENTS}
    assert len({c["bom-ref"] for c in bom["components"]}) == len(components.COMPONENTS)
