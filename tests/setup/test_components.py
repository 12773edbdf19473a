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


def test_a_package_in_the_page_that_is_not_listed_is_noticed(tmp_path):
    (tmp_path / "build.ninja").write_text("build sonde: LINK a.o\n  LINK_LIBRARIES = /usr/lib/libz.a\nbuild other: x\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web/dist.packages.json").write_text('["svelte", "left-pad"]')
    assert "the page holds code of left-pad, which components.json does not name" in components.check(tmp_path)


def test_bill_of_materials_names_every_part():
    bom = components.sbom("1.2.3")
    assert {c["name"] for c in bom["components"]} == {c["name"] for c in components.COMPONENTS}
    assert len({c["bom-ref"] for c in bom["components"]}) == len(components.COMPONENTS)


@pytest.mark.parametrize(("offered", "code", "said"), [
    ("3.0.2", 1, "libssl-dev 3.0.2 is out: install it and build again"),
    ("3.0.1", 0, "newest"),
    ("(none)", 0, "no package list knows it"),
])
def test_a_library_older_than_the_distributions_is_named(tmp_path, monkeypatch, capsys, offered, code, said):
    for name, text in (("dpkg-query", "printf 3.0.1"), ("apt-cache", f"echo '  Candidate: {offered}'")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(components, "COMPONENTS", [{"name": "openssl", "packages": ["libssl-dev"]}])
    assert components.main(["outdated"]) == code
    assert said in capsys.readouterr().out
