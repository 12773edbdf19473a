#!/usr/bin/env python3
"""Compares Sonde's profile tools with the recorded output of the real ones, cell by cell.

For every sample capture and tool one recorded family binds (FAMILIES below, the order of trust of the
samples' README). Every recorded cell is either equal, or on the list of deliberate differences
(differences.json beside this file) with its reason and evidence, or wrong; of the cells that are not on
the list at least 95 % have to be equal, and the list may excuse at most 10 % of all recorded cells.
Rows that only Sonde has (more than a recorder's cap, tools the recorder leaves empty) have no recorded
cell to compare with: they count as wrong unless a rule names the table, and are reported apart.

Kinds of rules (all need id, tool, reason; captures narrows them):
  where      cells whose place matches the expression are excused when they differ; row narrows them to rows
             with such cells, same_numbers to sentences in which Sonde gives every figure the recorder gives
  more_rows  tables in which Sonde may have rows the recording lacks
  cut        {table, by, at}: the recorder keeps the first `at` rows of each value of the columns `by`; Sonde's
             table is cut the same way, ranks closed up, and then compared like any other
  rename     {Sonde's text: recorded text}, in the columns named, before rows are matched
  aside      [table, column] pairs that neither identify rows nor count (all their cells are excused)
  recorded   pattern the recorded value has to match for a cell to be excused
  given      the same for Sonde's value
  within     the largest difference of two numbers that is excused
  balance    pattern of columns whose sums over the row are equal on both sides: time only moved between them
  reduced    Sonde gives the recorded cell on a reduced capture: goldens_torch.py; a number instead of true says how much
             the two may differ there

Most captures are other people's and not part of this repository (../shared or SONDE_SHARED). Without that folder the
captures of our own are compared, which stand in tests/data/profile, and every other pair counts as skipped;
pairs.txt names them all. --keep makes the kept part and pairs.txt again from the folder.

    goldens.py [--sonde PROGRAM] [--only SUBSTR] [--verbose N] [--table docs/profile_numbers.md] [--kept] [--keep]
"""

import argparse
import collections
import contextlib
import fnmatch
import functools
import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare_profile
import goldens_torch

ROOT = HERE.parent.parent
NEEDED_SHARE = 0.95
EXCUSED_SHARE = 0.10
CUDA = ["tf_gpu_rtx5000_bs8", "tf_gpu_rtx5000_bs512", "tf_gpu_v100_multiworker"]
TENSORFLOW = ["tf_gpu_idle_prefetch", "tf_input_bound", "tf_input_fixed", "tf_loop_input_bound", "tf_loop_input_fixed", "tf_custom_loop",
              "tf_data_autotune", "tf_mem_bfc", "tf_pytracer", "tf_trace_on", "tf_xla_jit", "tf_multihost_2"]
XLA = ["jax_mi300_attention", "jax_mi300_conv_8gpu", "jax_mi300_gemm", "jax_mi355_te_attention", "jax_tpu_v6e_inference", "jax_cpu_mlp",
       "jax_cpu_2dev", "jax_cpu_eager"]
CLASSIC = ["overview_page", "input_pipeline_analyzer", "framework_op_stats", "kernel_stats", "memory_profile", "pod_viewer"]
XLA_TOOLS = ["op_profile", "hlo_stats", "roofline_model", "inference_profile"]

# (captures, tools, prefixes of the recorded families: the first that exists binds)
FAMILIES = [
    (CUDA, ["overview_page", "input_pipeline_analyzer"], ["recorded.", "level0fix.classic215.", "classic215."]),
    (CUDA, ["framework_op_stats"], ["level0fix.classic215.", "recorded."]),
    (CUDA, ["kernel_stats"], ["level0fix.classic215."]),
    (CUDA, ["pod_viewer"], ["level0fix.classic215.", "classic215."]),
    (CUDA, ["memory_profile", "tf_data_bottleneck_analysis"], ["classic215."]),
    (CUDA, ["roofline_model"], ["level0fix.xprof."]),
    (TENSORFLOW, [*CLASSIC, "tf_data_bottleneck_analysis"], ["classic215."]),
    (XLA, CLASSIC, [""]),
    (TENSORFLOW + XLA, XLA_TOOLS, [""]),
    (CUDA + TENSORFLOW + XLA, ["xspace_digest"], [""]),
]


def shared_folder():
    for folder in (os.environ.get("SONDE_SHARED"), ROOT.parent / "shared"):
        if folder and (Path(folder) / "profile_samples" / "goldens").is_dir():
            return Path(folder)
    return None


KEPT = ROOT / "tests" / "data" / "profile"


@contextlib.contextmanager
def kept_samples():
    """The captures and recordings of the tree, laid out like the shared folder."""
    with tempfile.TemporaryDirectory(prefix="sonde_goldens_") as folder:
        for name in ("goldens.tar", "captures.tar"):
            with tarfile.open(KEPT / name) as archive:
                archive.extractall(folder)
        for capture in (p.name for p in (Path(folder) / "goldens").iterdir()):
            target = Path(folder) / "B" / capture
            if not target.is_dir():
                target.mkdir(parents=True)
                for file in KEPT.glob(f"{capture}.*.gz"):
                    (target / file.name.removeprefix(f"{capture}.").replace("xplane", "vm.xplane")).symlink_to(file)
        yield Path(folder)


def keep(samples):
    """Packs what kept_samples() needs: recordings of the captures of our own, and those captures that stand nowhere else in the tree."""
    chosen = list(pairs(samples / "goldens"))
    own = sorted({p[0] for p in chosen if (samples / "B" / p[0]).is_dir()})
    recordings = {p[3] for p in chosen if p[0] in own} | {d for c in own for d in (samples / "goldens" / c).glob("trace_digest~*.neutral.json.gz")}
    captures = {f for c in own if not list(KEPT.glob(f"{c}.*.gz")) for f in (samples / "B" / c).glob("*") if ".trace.json" not in f.name or ".pt." in f.name}
    for name, files in (("goldens.tar", recordings), ("captures.tar", captures)):
        with tarfile.open(KEPT / name, "w") as archive:
            for file in sorted(files):
                entry = tarfile.TarInfo(str(file.relative_to(samples)))
                entry.size, entry.mode = file.stat().st_size, 0o644
                archive.addfile(entry, file.open("rb"))
    (HERE / "pairs.txt").write_text("".join(f"{c}/{t}\n" for c, t, *_ in chosen))


def pairs(goldens):
    for captures, tools, prefixes in FAMILIES:
        for capture in captures:
            for tool in tools:
                for prefix in prefixes:
                    golden = goldens / capture / f"{prefix}{tool}.neutral.json.gz"
                    if golden.exists():
                        yield capture, tool, prefix, golden
                        break
    for golden in sorted(goldens.glob("*/memory_viewer~*.neutral.json.gz")):
        capture = golden.parent.name
        if capture in XLA + TENSORFLOW:
            yield capture, golden.name[: -len(".neutral.json.gz")], "", golden
    for golden in sorted(goldens.glob("*/graph_viewer~*.short_txt.gz")):
        if "(" in graph_module(golden.name):  # longer names were cut
            yield golden.parent.name, golden.name[: -len(".short_txt.gz")], "", golden

    yield from goldens_torch.pairs(goldens)


def graph_module(name):
    return re.sub(r"_(\d+)_\.short_txt\.gz$", r"(\1)", name.split("~", 1)[1])


def lines_table(text):
    """A text as a table of its lines, so that lines are compared like rows."""
    return {"tables": {"text": {"columns": ["line"], "rows": [[line] for line in text.splitlines() if line]}}, "scalars": {}, "soft": []}


def tool_flags(tool, golden):
    """memory_viewer~jit_step_6_ is the tool with its module: jit_step(6); long names were cut."""
    if "~" not in tool or tool.startswith(goldens_torch.TORCH):
        return ["--tool", tool]
    name, module = tool.split("~", 1)
    module = re.sub(r"_(\d+)_$", r"(\1)", module)
    if "(" not in module:
        module = golden["scalars"]["moduleName"]
    return ["--tool", name, "--param", f"module_name={module}"]


def applies(rule, capture, tool):
    tools = rule["tool"] if isinstance(rule["tool"], list) else [rule["tool"]]
    return any(fnmatch.fnmatch(tool, t) for t in tools) and any(fnmatch.fnmatch(capture, c) for c in rule.get("captures", ["*"]))


def recorded_row(golden, where):
    """The row of the recorded table that a place such as kernels[3].rank is in."""
    found = re.match(r"^(.*?)\[(\d+)\]\.", where)
    if not found or found[1] not in golden["tables"]:
        return {}
    table = golden["tables"][found[1]]
    return dict(zip(table["columns"], table["rows"][int(found[2])]))


def figures(text):
    return set(re.findall(r"\d+\.\d+", str(text)))


def is_balanced(pattern, where, golden, candidate):
    """Whether the row's columns that match the pattern add up to the same on both sides (1e-5: recordings are rounded)."""
    found = re.match(r"^(.*?)\[(\d+)\]\.", where)
    sums = []
    for side in (golden, candidate):
        table = side["tables"].get(found[1]) if found else None
        if not table or int(found[2]) >= len(table["rows"]):
            return False
        row = table["rows"][int(found[2])]
        sums.append(sum(float(v or 0) for c, v in zip(table["columns"], row) if re.search(pattern, c) and c in golden["tables"][found[1]]["columns"]))
    return abs(sums[0] - sums[1]) <= 1e-5 * max(map(abs, sums))


def is_near(wanted, got, reach):
    """Whether two numbers differ by no more than a rule's reach; true as reach means not at all."""
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (wanted, got, reach))
    return numbers and abs(wanted - got) <= reach


def excused(rules, where, wanted, got, golden, candidate, still_differ):
    """The first rule that excuses a recorded cell which differs; still_differ() are the places that do so on the reduced capture, and what Sonde gives there."""
    for rule in rules:
        if "where" not in rule or not re.search(rule["where"], where):
            continue
        if rule.get("same_numbers") and not figures(wanted) <= figures(got):
            continue
        if "recorded" in rule and not re.search(rule["recorded"], str(wanted)):
            continue
        if "given" in rule and not re.search(rule["given"], str(got)):
            continue
        if "within" in rule and not (isinstance(got, (int, float)) and abs(wanted - got) <= rule["within"]):
            continue
        if "balance" in rule and not is_balanced(rule["balance"], where, golden, candidate):
            continue
        if rule.get("reduced") and where in still_differ() and not is_near(wanted, still_differ()[where], rule["reduced"]):
            continue
        row = recorded_row(golden, where) if "row" in rule else {}
        if all(re.search(pattern, str(row.get(column, ""))) for column, pattern in rule.get("row", {}).items()):
            return rule["id"]
    return None


def same_list(compare, wanted, got):
    """Lists of numbers written as text ("[0.25,0,0]"): number by number."""
    if not (isinstance(wanted, str) and isinstance(got, str) and wanted.startswith("[") and got.startswith("[")):
        return False
    try:
        wanted, got = json.loads(wanted), json.loads(got)
    except ValueError:
        return False
    return len(wanted) == len(got) and all(compare.is_num(a) and compare.is_num(b) and compare.same(a, b, 1e-6, 0.0) for a, b in zip(wanted, got))


def cut(candidate, rule, only_sonde):
    """Sonde's table as the recorder's cap would leave it; the rows that go are counted."""
    table = candidate["tables"].get(rule["cut"]["table"])
    if not table:
        return
    by = [table["columns"].index(column) for column in rule["cut"]["by"]]
    rank = table["columns"].index("rank")
    seen, kept = collections.Counter(), []
    for row in table["rows"]:
        kind = tuple(row[i] for i in by)
        seen[kind] += 1
        if seen[kind] <= rule["cut"]["at"]:
            kept.append(row)
    if rule["cut"].get("close_ranks"):
        kept = [[*row[:rank], n, *row[rank + 1:]] for n, row in enumerate(kept, 1)]
    only_sonde[rule["id"]] += len(table["rows"]) - len(kept)
    table["rows"] = kept


def prepare(golden, candidate, rules, used, only_sonde):
    """Applies the rules that come before the comparison; returns the number of cells set aside."""
    aside = 0
    for rule in rules:
        if "cut" in rule and candidate:
            cut(candidate, rule, only_sonde)
        for table in candidate.get("tables", {}).values():
            for column in rule.get("rename", {}).get("columns", []):
                if column in table["columns"]:
                    at = table["columns"].index(column)
                    for row in table["rows"]:
                        if row[at] in rule["rename"]["texts"]:
                            row[at] = rule["rename"]["texts"][row[at]]
                            used[rule["id"]] += 1
        for table, column in rule.get("aside", []):
            named = f"{table}.{column}"
            if table in golden["tables"] and column in golden["tables"][table]["columns"] and named not in golden["soft"]:
                golden["soft"].append(named)
                aside += len(golden["tables"][table]["rows"])
                used[rule["id"]] += len(golden["tables"][table]["rows"])
    return aside


Outcome = collections.namedtuple("Outcome", "capture tool family equal recorded excused extra_rows wrong stderr ran")


def examine(compare, samples, program, rules, pair):
    """Runs one tool on one capture and weighs every recorded cell."""
    capture, tool, prefix, golden_path = pair
    folder = next(samples / s / capture for s in ("A", "B") if (samples / s / capture).is_dir())
    if golden_path.name.endswith(".short_txt.gz"):
        golden = lines_table(gzip.open(golden_path, "rt").read())
        flags = ["--tool", "graph_viewer", "--param", f"module_name={graph_module(golden_path.name)}", "--param", "type=short_txt"]
        run = subprocess.run([program, "profile", str(folder), *flags, "--format", "xprof"], capture_output=True, text=True)
        candidate = lines_table(run.stdout)
    else:
        golden = compare.load(str(golden_path))
        run = subprocess.run([program, "profile", str(folder), *tool_flags(tool, golden), "--format", "neutral"], capture_output=True, text=True)
        candidate = compare.loads(run.stdout) if run.returncode == 0 else {}
    here = [rule for rule in rules if applies(rule, capture, tool)]
    used, only_sonde = collections.Counter(), collections.Counter()
    aside = prepare(golden, candidate, here, used, only_sonde)
    result = compare.compare(golden, candidate)
    left_out, wrong, surplus, total = aside, [], collections.Counter(), result.total + aside
    equal = result.matched
    quantum = goldens_torch.clock_quantum(samples / "goldens", capture, compare.load) if prefix == goldens_torch.TORCH else 0

    def in_clock(own, where, wanted, got):
        return quantum and goldens_torch.within_clock(quantum, goldens_torch.own_row(own, where, recorded_row(golden, where)), wanted, got)

    @functools.cache
    def still_differ():
        own = goldens_torch.reduced_answer(compare, program, folder, tool, tool_flags(tool, golden))
        return {where: got for where, wanted, got in compare.compare(golden, own).diffs if not in_clock(own, where, wanted, got)}

    for where, wanted, got in result.diffs:
        if " surplus row ." in where:
            surplus[where.split(" surplus row .")[0]] += 1
            continue
        if same_list(compare, wanted, got):
            equal += 1
            continue
        if in_clock(candidate, where, wanted, got):
            equal += 1
            continue
        rule = excused(here, where, wanted, got, golden, candidate, still_differ)
        if rule:
            left_out += 1
            used[rule] += 1
        else:
            wrong.append((where, wanted, got))
    for table, cells in surplus.items():
        soft = {s.rsplit(".", 1)[1] for s in golden["soft"] if s.rsplit(".", 1)[0] == table}
        rows = cells // len([c for c in golden["tables"][table]["columns"] if c not in soft])
        rule = next((r for r in here if any(re.search(p, table) for p in r.get("more_rows", []))), None)
        if rule:
            only_sonde[rule["id"]] += rows
            total -= cells
        else:
            wrong += [(f"{table} surplus row", "<no row>", "...")] * cells
    return Outcome(capture, tool, prefix, equal, total, left_out, sum(only_sonde.values()), wrong,
                   run.stderr.strip()[:200], run.returncode == 0), used, only_sonde


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonde", default=str(ROOT / "build" / "release" / "sonde"))
    parser.add_argument("--only", default="", help="pairs capture/tool that contain this text")
    parser.add_argument("--verbose", type=int, default=0, help="differences shown of every pair")
    parser.add_argument("--kept", action="store_true", help="only what stands in the tree, as on a machine without ../shared")
    parser.add_argument("--keep", action="store_true", help="pack that part again from ../shared")
    parser.add_argument("--table", help="Markdown file whose tables are made again")
    options = parser.parse_args()
    shared = shared_folder()
    if options.keep:
        return keep(shared / "profile_samples")
    if shared and not options.kept:
        return compare_all(shared / "profile_samples", options, whole=True)
    with kept_samples() as samples:
        return compare_all(samples, options, whole=False)


def compare_all(samples, options, whole):
    everything = [name for name in (HERE / "pairs.txt").read_text().split("\n") if options.only in name and name]
    rules = [rule for name in ("differences.json", "differences_torch.json") for rule in json.loads((HERE / name).read_text())["differences"]]
    used, only_sonde, rows, failed = collections.Counter(), collections.Counter(), [], 0
    chosen = [p for p in pairs(samples / "goldens") if options.only in f"{p[0]}/{p[1]}"]
    with ThreadPoolExecutor(2) as workers:
        for outcome, pair_used, pair_only in workers.map(lambda p: examine(compare_profile, samples, options.sonde, rules, p), chosen):
            used.update(pair_used)
            only_sonde.update(pair_only)
            rows.append(outcome)
            counted = outcome.recorded - outcome.excused
            share = outcome.equal / counted if counted else 1.0
            good = share >= NEEDED_SHARE and outcome.ran
            failed += not good
            if not good or (options.verbose and outcome.wrong):
                print(f"{'ok  ' if good else 'FAIL'} {outcome.capture}/{outcome.family * (outcome.family != goldens_torch.TORCH)}{outcome.tool}: {outcome.equal}/{counted} "
                      f"({100 * share:.2f} %), {outcome.excused} excused {outcome.stderr}")
                for where, wanted, got in outcome.wrong[: max(options.verbose, 3)]:
                    print(f"       {where}: recorded {str(wanted)[:90]!r}, Sonde {str(got)[:90]!r}")
    if options.table:
        write_table(Path(options.table), rows, rules, used, only_sonde)
    unused = [rule["id"] for rule in rules if rule["id"] not in used and rule["id"] not in only_sonde]
    if whole and unused and not options.only:
        print(f"rules of differences.json that excuse nothing: {', '.join(unused)}")
        failed += 1
    recorded, left_out, equal = (sum(getattr(r, f) for r in rows) for f in ("recorded", "excused", "equal"))
    if whole and not options.only and left_out > EXCUSED_SHARE * recorded:
        print(f"the list excuses {100 * left_out / recorded:.1f} % of the recorded cells, more than {100 * EXCUSED_SHARE:.0f} %")
        failed += 1
    print(f"{recorded} recorded cells: {equal} equal, {left_out} excused ({100 * left_out / max(1, recorded):.2f} %), "
          f"{recorded - left_out - equal} wrong; equal of those not excused {100 * equal / max(1, recorded - left_out):.2f} %; "
          f"{sum(only_sonde.values())} rows only Sonde has")
    skipped = len(everything) - len(rows)
    if whole and skipped:
        print("pairs.txt does not name the pairs of ../shared/profile_samples: goldens.py --keep")
        failed, skipped = failed + 1, 0
    if skipped:
        print(f"skipped: [{skipped}] captures of other people (../shared/profile_samples) are not on this machine")
    print(f"{len(rows) - min(failed, len(rows))} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


FAMILY_NAMES = {"": "xprof 2.24.2", "classic215.": "plug-in 2.15", "recorded.": "the capturing program",
                "level0fix.classic215.": "plug-in 2.15, op stat renamed", "level0fix.xprof.": "xprof 2.24.2, op stat renamed",
                goldens_torch.TORCH: "torch-tb-profiler 0.4.3"}


def write_table(path, rows, rules, used, only_sonde):
    text = path.read_text() if path.exists() else ""
    lines = [text.split("<!-- table -->")[0].rstrip(), "", "<!-- table -->", "", "## By tool", "",
             "| tool | recorded cells | equal | excused | wrong | equal of those not excused | rows only Sonde has |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    tools = collections.defaultdict(list)
    for row in rows:
        tools[row.tool.split("~")[0]].append(row)
    tools["**all but xspace_digest**"] = [r for r in rows if r.tool != "xspace_digest"]
    tools["**all**"] = rows
    for tool, group in tools.items():
        recorded, left_out, equal, extra = (sum(getattr(r, f) for r in group) for f in ("recorded", "excused", "equal", "extra_rows"))
        lines.append(f"| {tool} | {recorded} | {equal} | {left_out} ({100 * left_out / max(1, recorded):.1f} %) | {recorded - left_out - equal} | "
                     f"{100 * equal / max(1, recorded - left_out):.2f} % | {extra} |")
    lines += ["", "## By capture and tool", "", "| capture | tool | recorded by | recorded cells | equal | excused | wrong | rows only Sonde has |",
              "|---|---|---|--:|--:|--:|--:|--:|"]
    for row in sorted(rows):
        family = "plain decoding" if row.tool == "xspace_digest" else FAMILY_NAMES[row.family]
        lines.append(f"| {row.capture} | {row.tool} | {family} | {row.recorded} | {row.equal} | {row.excused} | "
                     f"{row.recorded - row.excused - row.equal} | {row.extra_rows} |")
    lines += ["", "## Deliberate differences", "", "| id | tool | recorded cells | rows only Sonde has | reason |", "|---|---|--:|--:|---|"]
    for rule in rules:
        names = ", ".join(rule["tool"]) if isinstance(rule["tool"], list) else rule["tool"]
        lines.append(f"| {rule['id']} | {names} | {used[rule['id']]} | {only_sonde[rule['id']]} | {rule['reason']} |")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
