"""Sources that are compiled as one do not see each other's private names, whatever their authors called them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import unity

ROOMS = re.findall(r"^sonde_layer\(([^ )]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)

# a source file, the names it keeps to itself
KEPT = [
    ("namespace a { int shared(int x) { return x; } }", set()),
    ("namespace a { namespace { int own(int x) { return x; } } }", {"own"}),
    ("namespace { constexpr int kMost = 3; struct Row { int count; }; using Rows = int; }", {"kMost", "Row", "Rows"}),
    ("namespace { enum : int64_t { kFirst = 1, kSecond }; enum Kind : int { kA, kB }; enum class Sort { kC }; }", {"kFirst", "kSecond", "Kind", "kA", "kB", "Sort"}),
    ("static int helper() { return 1; }\nconst char* given() { return \"static int no() {\"; }", {"helper"}),
    ("namespace a { const Tool kTool{1, 2}; struct Only { int x; }; struct Later; void Other::method() {} }", {"kTool", "Only"}),
    ("namespace { template <class T> std::vector<T> sorted(std::vector<T> v) { struct Inner {}; return v; } }", {"sorted"}),
    ("namespace { // int commented() {}\nusing namespace b; namespace fs = std::filesystem; }", {"fs"}),
    ("namespace a { struct Outer::Impl { int x; }; static_assert(sizeof(int) == 4); using namespace std::chrono_literals; }", set()),
    ("namespace a { extern const Tool kA, kB; const Tool kA{1}; const Tool kOwn{2}; }", {"kOwn"}),
]


@pytest.mark.parametrize(("text", "names"), KEPT, ids=range(len(KEPT)))
def test_names_a_source_keeps_to_itself(text, names):
    assert unity.own_names(text) == names


def made_of(tmp_path, monkeypatch, **texts):
    (tmp_path / "src/room").mkdir(parents=True)
    monkeypatch.setattr(unity, "ROOT", tmp_path)
    for name, text in texts.items():
        (tmp_path / "src/room" / f"{name}.cc").write_text(text)
    return [unity.joined(group) for group in unity.groups(unity.sources("room"))]


def test_the_same_name_in_two_sources_is_numbered_and_compiles(tmp_path, monkeypatch):
    (made,) = made_of(tmp_path, monkeypatch,
                      one="namespace s { namespace { int table(int x) { return x; } }\nint first() { return table(1); } }\n",
                      two="#include <string>\nnamespace s { namespace { const char* table() { return \"table\"; } }\nstd::string second() { return table(); } }\n")
    assert "#define table table_1" in made and "#undef table" in made
    (tmp_path / "made.cc").write_text(made)
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Werror", f"-I{tmp_path}/src", tmp_path / "made.cc"], check=True)


def test_a_name_that_is_a_member_as_well_keeps_sources_apart(tmp_path, monkeypatch):
    own = "namespace s { namespace { int size(int x) { return x; } }\nint %s(const T& t) { return size(t.size()); } }\n"
    assert made_of(tmp_path, monkeypatch, one=own % "first", two=own % "second") == []


def test_a_source_with_a_macro_stays_alone(tmp_path, monkeypatch):
    assert made_of(tmp_path, monkeypatch, one="#define TWO 2\nint one();\n", two="int two();\n") == []


def test_every_source_is_compiled_once():
    for room in ROOMS:
        listed = unity.sources(room)
        joined = [source.path for group in unity.groups(listed) for source in group]
        assert len(joined) == len(set(joined)) and set(joined) <= set(listed)


@pytest.mark.parametrize(("breaks", "said", "code"), [
    ("never", "", 0),
    ("ON", "building once more, one source at a time", 0),
    ("always", "the release build failed; the first error is above", 1),
])
def test_sources_that_do_not_go_together_do_not_fail_the_build(tmp_path, breaks, said, code):
    """build() of tools/setup.sh with stand-ins for CMake and the compiler."""
    (tmp_path / "cmake").write_text('#!/bin/sh\nmkdir -p build/release\ntouch build/release/build.ninja\n'
                                    'echo "SONDE_UNITY:BOOL=${3#-DSONDE_UNITY=}" >build/release/CMakeCache.txt\n')
    (tmp_path / "cmake").chmod(0o755)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/build_progress.py").write_text(
        f"import sys\nsys.exit({breaks!r} == 'always' or open('build/release/CMakeCache.txt').read() == 'SONDE_UNITY:BOOL={breaks}\\n')\n")
    run = subprocess.run(["bash", "-euc", f". {ROOT}/tools/setup.sh; root=$PWD; build release sonde"], cwd=tmp_path, capture_output=True, text=True,
                         env={"PATH": f"{tmp_path}:/usr/bin:/bin", "SONDE_UNITY": "ON"})
    assert run.returncode == code, run.stderr
    assert said in run.stderr
