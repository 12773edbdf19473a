#!/usr/bin/env python3
"""Compares `inspect --json` of every corpus directory with goldens/inventory.json.gz.

    compare_inventory.py --inspect 'build/release/sonde inspect {logdir} --json' [--corpus DIR] [--goldens DIR] [--only REGEX]
    (tests/engine/test_completeness.py runs it over tests/data/corpus)
    compare_inventory.py --self        the inventory against itself, and every number changed once (must be noticed)

The command prints one JSON object on stdout: {"runs": {NAME: {files, first_event_wall_time, has_graph, has_meta_graph, run_metadata, tags}}, ...},
a run as in the inventory. More members are welcome at the top (totals, damage ...), inside a run, a file or a tag, and are ignored.
Standard library only. Exit code: 0 equal, 1 differences, 2 usage or the command failed.

The inventory is what TensorBoard's Python reader finds. Where a reader that loses nothing must find more, the rules below replace it:
  FOUND     directories with damage: (records, steps) per run and tag after skipping to the next good frame and opening gzip/zlib files
  RESTART   tags whose `points` may also be the cleaned-up restart view (raw_points stays)
  LOOP      runs reached through a symlink loop, and a run whose only file is a broken link, are optional
"""
import argparse
import copy
import gzip
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EIGHT, SEVEN, THREE, TWO = [[0, 1, 8]], [[0, 1, 3], [4, 1, 4]], [[0, 1, 3]], [[0, 1, 2]]
FOUND = {
    "edge_corrupt": {
        "first_record_bad": {"loss": EIGHT}, "garbage": {}, "text_file": {}, "gzipped": {"loss": TWO}, "gzipped_same_name": {"loss": TWO},
        "zlibbed": {"loss": TWO}, "length_crc_middle": {"loss": SEVEN}, "length_value_middle": {"loss": SEVEN}, "payload_bit_middle": {"loss": SEVEN},
        "payload_crc_middle": {"loss": SEVEN}, "then_good_file": {"loss": [[0, 1, 3], [4, 1, 7]]}, "zero_length_record": {"loss": EIGHT}, "zeros": {"loss": TWO}},
    "edge_bad_proto": {"healthy": {"loss": THREE}, "run": {"loss": SEVEN}},
    "edge_length_huge": {"healthy": {"loss": THREE}, "run": {"loss": SEVEN}},
    "edge_dir_as_file": {"healthy": {"loss": THREE}, "run/events.out.tfevents.1700000000.h": {"v": [[0, 0, 1]]}},
}
RESTART = {("torch_purge_step", "run", "loss"): [[0, 1, 12]], ("edge_restart_nosession", "one_file", "loss"): [[0, 1, 12]],
           ("edge_restart_nosession", "two_files", "loss"): [[0, 1, 12]]}
# Runs with no good event: TensorBoard's loaders disagree on listing them.
MAY_MISS = {("edge_corrupt", "garbage"), ("edge_corrupt", "text_file"), ("edge_dir_as_file", "run")}


def optional(name, run, want):
    return (name == "edge_symlinks" and (run.startswith("cycle/") or run == "broken")) or not any(f["records"] for f in want.get("files", {}).values())


def expand(runs):
    return [start + stride * i for start, stride, n in runs for i in range(n)]


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return type(a) is type(b) and a == b


def steps_of(tag, kind="steps"):
    return expand(tag.get(kind) or tag.get("steps") or [])


def check(name, want, got):
    """Yields one line per difference."""
    if name in FOUND:
        for run, tags in FOUND[name].items():
            if run not in got:
                if (name, run) not in MAY_MISS:
                    yield "%s: run missing" % run
                continue
            have = got[run].get("tags", {})
            if set(have) != set(tags):
                yield "%s: tags %s instead of %s" % (run, sorted(have), sorted(tags))
            for tag, steps in tags.items():
                if tag in have and (steps_of(have[tag]) != expand(steps) or have[tag].get("points") != len(expand(steps))):
                    yield "%s/%s: steps %s instead of %s" % (run, tag, have[tag].get("steps"), steps)
        for run in sorted(set(got) - set(FOUND[name])):
            if (name, run) not in MAY_MISS:
                yield "%s: unexpected run" % run
        return
    for run in sorted(set(got) - set(want)):
        yield "%s: unexpected run" % run
    for run, w in want.items():
        if run not in got:
            if not optional(name, run, w):
                yield "%s: run missing" % run
            continue
        g = got[run]
        for key in ("first_event_wall_time", "has_graph", "has_meta_graph", "run_metadata"):
            if not same(w[key], g.get(key)):
                yield "%s: %s %r instead of %r" % (run, key, g.get(key), w[key])
        for part in ("files", "tags"):
            if set(w[part]) != set(g.get(part, {})):
                yield "%s: %s %s instead of %s" % (run, part, sorted(g.get(part, {})), sorted(w[part]))
        for f, wf in w["files"].items():
            for key in ("bytes", "records"):
                if f in g.get("files", {}) and wf[key] != g["files"][f].get(key):
                    yield "%s: file %s: %s %r instead of %r" % (run, f, key, g["files"][f].get(key), wf[key])
        for t, wt in w["tags"].items():
            gt = g.get("tags", {}).get(t)
            if gt is None:
                continue
            view = RESTART.get((name, run, t))
            cleaned = view is not None and gt.get("points") == len(expand(view)) and steps_of(gt) == expand(view)
            for key in ("plugin", "kind", "raw_points"):
                if not same(wt[key], gt.get(key)):
                    yield "%s/%s: %s %r instead of %r" % (run, t, key, gt.get(key), wt[key])
            for key in () if cleaned else ("points", "first_step", "last_step", "finite_sum", "not_finite"):
                if key in wt and not same(wt[key], gt.get(key)):
                    yield "%s/%s: %s %r instead of %r" % (run, t, key, gt.get(key), wt[key])
            if not cleaned and steps_of(wt) != steps_of(gt):
                yield "%s/%s: steps %s instead of %s" % (run, t, gt.get("steps"), wt["steps"])
            if "raw_steps" in wt and steps_of(wt, "raw_steps") != steps_of(gt, "raw_steps"):
                yield "%s/%s: raw_steps %s instead of %s" % (run, t, gt.get("raw_steps"), wt["raw_steps"])


def logdir_of(corpus, name, scratch):
    path = os.path.join(corpus, name)
    if os.path.isdir(path):
        return path
    with tarfile.open(path + ".tar.gz") as t:
        t.extractall(scratch)
    return os.path.join(scratch, name)


def selftest(inventory):
    """Changes every number of every tag and file once; each change must give a difference."""
    tried = missed = 0
    for name, want in inventory.items():
        if name in FOUND:
            continue
        assert not list(check(name, want, want)), name
        for run, w in list(want.items())[:20]:
            for part in ("tags", "files"):
                for key, obj in w[part].items():
                    for member, value in obj.items():
                        if isinstance(value, (int, float)) and not isinstance(value, bool):
                            got = dict(want)
                            got[run] = copy.deepcopy(w)
                            got[run][part][key][member] = value + 1 + abs(value) // 100
                            tried += 1
                            missed += not list(check(name, want, got))
    print("self: %d changes, %d unnoticed" % (tried, missed))
    return 1 if missed else 0


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--inspect", metavar="COMMAND")
    ap.add_argument("--corpus", default=os.path.join(HERE, "..", "data", "corpus"))
    ap.add_argument("--goldens", default=os.path.join(HERE, "..", "data"))
    ap.add_argument("--only", default="")
    ap.add_argument("--self", action="store_true")
    a = ap.parse_args()
    with gzip.open(os.path.join(a.goldens, "inventory.json.gz"), "rt") as f:
        inventory = json.load(f)
    if a.self:
        return selftest(inventory)
    if not a.inspect:
        ap.error("--inspect COMMAND or --self is needed")
    bad = done = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in sorted(n for n in inventory if re.search(a.only, n)):
            argv = [w.format(logdir=logdir_of(a.corpus, name, scratch)) for w in shlex.split(a.inspect)]
            p = subprocess.run(argv, capture_output=True, text=True)
            try:
                lines = list(check(name, inventory[name], json.loads(p.stdout)["runs"]))
            except (ValueError, AttributeError, TypeError, KeyError) as e:
                lines = ["exit code %d, output unusable: %s; stderr: %s" % (p.returncode, e, p.stderr.strip()[-200:])]
            done += 1
            bad += bool(lines)
            print("%-28s %s" % (name, "equal" if not lines else "%d differences" % len(lines)))
            for line in lines[:8]:
                print("    " + line)
    print("%d directories, %d equal" % (done, done - bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
