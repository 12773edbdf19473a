#!/usr/bin/env python3
"""clang-tidy over C++ sources, fast enough to run before every push: prints one line a finding.

Reading the standard library costs more than reading our files, so the files of a room are read together,
twenty at a time, as one translation unit. What was found is kept in build/tidy under a hash of the file, the
headers of ours it includes and .clang-tidy, so an unchanged file is never read twice. Unit tests are left out:
doctest's macros are findings by themselves.

    tools/tidy.py FILE...    these files (a header stands for the source of its name)
    tools/tidy.py --all      every source of src/
"""

import concurrent.futures
import functools
import hashlib
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = "clang-tidy-19"
KEPT = ROOT / "build" / "tidy"
BATCH = 20
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
FINDING = re.compile(r"^(/[^:]+):(\d+):\d+: (?:warning|error): (.*) \[([\w.,-]+)\]$", re.M)


@functools.cache
def headers(path: Path) -> frozenset[Path]:
    """Our own headers a file reads, through other headers too."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        for name in INCLUDE.findall(waiting.pop().read_text(encoding="utf-8")):
            header = next((p for p in (ROOT / "src" / name, ROOT / "include" / name) if p.is_file()), None)
            if header and header not in found:
                found.add(header)
                waiting.append(header)
    return frozenset(found)


@functools.cache
def content(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def key(path: Path) -> str:
    parts = [content(ROOT / ".clang-tidy"), str(path.relative_to(ROOT)).encode(), content(path), *(content(h) for h in sorted(headers(path)))]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:32]


def is_checked(path: Path) -> bool:
    return path.suffix == ".cc" and path.is_relative_to(ROOT / "src") and not path.name.endswith("_test.cc")


def sources(files: Iterable[Path]) -> list[Path]:
    """The files to read: sources themselves, and for a header the source of its name or one that includes it."""
    chosen: set[Path] = set()
    everything = [p for p in (ROOT / "src").rglob("*.cc") if is_checked(p)]
    for path in files:
        if is_checked(path):
            chosen.add(path)
        elif path.suffix == ".h" and path.is_file():
            twin = path.with_suffix(".cc")
            user = twin if twin.is_file() else next((p for p in everything if path in headers(p)), None)
            chosen |= {user} if user else set()
    return sorted(chosen)


@functools.cache
def flags() -> tuple[str, ...]:
    """Where headers lie and what is defined, from the release build's own commands."""
    found: dict[str, None] = {}
    for entry in json.loads((ROOT / "build" / "release" / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for word, following in itertools.pairwise(words):
            if word == "-isystem":
                found[f"-isystem{following}"] = None
            elif word.startswith(("-I", "-D")) and word not in ("-DNDEBUG",):
                found[word] = None
    return ("-std=c++20", "-ferror-limit=0", "-w", *found)


def read_together(batch: list[Path]) -> dict[Path, list[str]]:
    """The findings of each file; one in a header counts for every file that includes it."""
    unit = KEPT / f"unit_{key(batch[0])}.cc"
    unit.write_text("".join(f'#include "{path}"\n' for path in batch))
    run = subprocess.run([TOOL, "--quiet", str(unit), "--", *flags()], cwd=ROOT, capture_output=True, text=True)
    unit.unlink()
    found: dict[Path, list[str]] = {path: [] for path in batch}
    if run.returncode < 0 or (not run.stdout and "rror while processing" not in run.stderr and run.returncode):
        return {path: [f"{path.relative_to(ROOT)}: {TOOL} failed: {run.stderr[-300:]}"] for path in batch}
    for name, line, text, check in FINDING.findall(run.stdout):
        where = Path(os.path.normpath(name))
        if check.startswith("clang-diagnostic") or not where.is_relative_to(ROOT):
            continue  # two files of one room may use one name for helpers of their own; the compiler judges errors
        finding = f"{where.relative_to(ROOT)}:{line}: {text} [{check.removesuffix(',-warnings-as-errors')}]"
        for path in [where] if where in found else [p for p in batch if where in headers(p)]:
            found[path].append(finding)
    return found


def findings(files: Iterable[Path]) -> Iterator[str]:
    KEPT.mkdir(parents=True, exist_ok=True)
    everything = sources(files)
    unread = [p for p in everything if not (KEPT / f"{key(p)}.json").exists()]
    batches: list[list[Path]] = []
    for _, room in itertools.groupby(unread, key=lambda p: p.relative_to(ROOT / "src").parts[:2]):
        listed = list(room)
        batches += [listed[i : i + BATCH] for i in range(0, len(listed), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(read_together, batches):
            for path, lines in result.items():
                (KEPT / f"{key(path)}.json").write_text(json.dumps(lines))
    yield from sorted({line for p in everything for line in json.loads((KEPT / f"{key(p)}.json").read_text())})


def main(arguments: list[str]) -> int:
    files = (ROOT / "src").rglob("*.cc") if "--all" in arguments else [Path(a).resolve() for a in arguments]
    lines = list(findings(files))
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
