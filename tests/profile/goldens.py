#!/usr/bin/env python3
"""Compares Sonde's profile tools with the recorded output of the real ones, cell by cell.

For every sample capture and tool one recorded family binds (FAMILIES below, the order of trust of the
samples' README). Cells on the list of deliberate differences (differences.json beside this file, each
with its reason) leave the count; of the rest at least 95 % have to be equal. The captures are not part
of this repository: without the folder (../shared or SONDE_SHARED) the test says so and passes.

    goldens.py [--sonde PROGRAM] [--only SUBSTR] [--verbose N] [--table docs/profile_numbers.md]
"""

import argparse
import fnmatch
import gzip
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NEEDED_SHARE = 0.95

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
    (TENSORFLOW, CLASSIC + ["tf_data_bottleneck_analysis"], ["classic215."]),
    (XLA, CLASSIC, [""]),
    (TENSORFLOW + XLA, XLA_TOOLS, [""]),
    (CUDA + TENSORFLOW + XLA, ["xspace_digest"], [""]),
]


def shared_folder():
    for folder in (os.environ.get("SONDE_SHARED"), ROOT.parent / "shared"):
        if folder and (Path(folder) / "profile_samples" / "goldens").is_dir():
            return Path(folder)
    return None


def comparer(shared):
    spec = importlib.util.spec_from_file_location("compare_profile", shared / "tools" / "compare_profile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def tool_flags(tool):
    """memory_viewer~jit_step_6_ is the tool with its module: jit_step(6)."""
    if "~" not in tool:
        return ["--tool", tool]
    name, module = tool.split("~", 1)
    module = re.sub(r"_(\d+)_$", r"(\1)", module)
    return ["--tool", name, "--param", f"module_name={module}"]


def recorded_row(golden, where):
    """The row of the recorded table that a place such as kernels[3].rank is in."""
    found = re.match(r"^(.*)\[(\d+)\]\.", where)
    if not found or found[1] not in golden["tables"]:
        return {}
    table = golden["tables"][found[1]]
    return dict(zip(table["columns"], table["rows"][int(found[2])]))


def excused(rules, capture, tool, where, golden):
    for rule in rules:
        tools = rule["tool"] if isinstance(rule["tool"], list) else [rule["tool"]]
        if not any(fnmatch.fnmatch(tool, t) for t in tools) or not any(fnmatch.fnmatch(capture, c) for c in rule.get("captures", ["*"])):
            continue
        if not re.search(rule["where"], where):
            continue
        row = recorded_row(golden, where) if "row" in rule else {}
        if all(re.search(pattern, str(row.get(column, ""))) for column, pattern in rule.get("row", {}).items()):
            return rule["id"]
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sonde", default=str(ROOT / "build" / "release" / "sonde"))
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", type=int, default=0)
    parser.add_argument("--table")
    options = parser.parse_args()
    shared = shared_folder()
    if not shared:
        print("skipped: the sample captures (../shared/profile_samples) are not on this machine")
        print("1 passed, 0 failed")
        return 0
    compare = comparer(shared)
    samples = shared / "profile_samples"
    listed = json.loads((HERE / "differences.json").read_text())
    rules, gaps = listed["differences"], listed["gaps"]
    used, rows, failed, open_gaps = {}, [], 0, 0
    for capture, tool, prefix, golden in pairs(samples / "goldens"):
        if options.only and options.only not in f"{capture}/{tool}":
            continue
        folder = next(samples / s / capture for s in ("A", "B") if (samples / s / capture).is_dir())
        run = subprocess.run([options.sonde, "profile", str(folder), *tool_flags(tool), "--format", "neutral"], capture_output=True, text=True)
        candidate = json.loads(run.stdout) if run.returncode == 0 else {}
        wanted_tables = compare.load(str(golden))
        result = compare.compare(wanted_tables, compare.loads(run.stdout) if candidate else {})
        left_out, real = 0, []
        for where, wanted, got in result.diffs:
            rule = excused(rules, capture, tool, where, wanted_tables)
            if rule:
                left_out += 1
                used[rule] = used.get(rule, 0) + 1
            else:
                real.append((where, wanted, got))
        counted = result.total - left_out
        share = result.matched / counted if counted else 1.0
        good = share >= NEEDED_SHARE and run.returncode == 0
        gap = next((g["reason"] for g in gaps if fnmatch.fnmatch(f"{capture}/{tool}", g["pair"])), None)
        open_gaps += bool(gap) and not good
        failed += not good and not gap
        rows.append((capture, tool, prefix, result.matched, counted, left_out, result.total))
        if not good or options.verbose:
            print(f"{'ok  ' if good else 'gap ' if gap else 'FAIL'} {capture}/{prefix}{tool}: {result.matched}/{counted} ({100 * share:.2f} %), {left_out} left out {run.stderr.strip()[:200]}")
            for where, wanted, got in real[: max(options.verbose, 3)]:
                print(f"       {where}: recorded {str(wanted)[:90]!r}, Sonde {str(got)[:90]!r}")
    if options.table:
        write_table(Path(options.table), rows, rules, used, gaps)
    unused = [rule["id"] for rule in rules if rule["id"] not in used]
    if unused and not options.only:
        print(f"rules of differences.json that excuse nothing: {', '.join(unused)}")
    matched, counted = sum(r[3] for r in rows), sum(r[4] for r in rows)
    print(f"{matched} of {counted} compared cells equal ({100 * matched / max(1, counted):.2f} %), {sum(r[5] for r in rows)} listed differences left out, "
          f"{open_gaps} pairs are known gaps")
    print(f"{len(rows) - failed - open_gaps} passed, {failed} failed")
    return 1 if failed else 0


def write_table(path, rows, rules, used, gaps):
    text = path.read_text() if path.exists() else ""
    head = text.split("<!-- table -->")[0] if "<!-- table -->" in text else text
    lines = [head.rstrip(), "", "<!-- table -->", "", "## Cells equal, by capture and tool", "",
             "| capture | tool | recorded by | equal | compared | left out |", "|---|---|---|--:|--:|--:|"]
    for capture, tool, prefix, matched, counted, left_out, _ in sorted(rows):
        family = {"": "xprof 2.24.2", "classic215.": "plug-in 2.15", "recorded.": "the capturing program",
                  "level0fix.classic215.": "plug-in 2.15, op stat renamed", "level0fix.xprof.": "xprof 2.24.2, op stat renamed"}[prefix]
        if tool == "xspace_digest":
            family = "plain decoding"
        lines.append(f"| {capture} | {tool} | {family} | {100 * matched / max(1, counted):.1f} % | {counted} | {left_out} |")
    lines += ["", "## Deliberate differences", "", "| id | tool | cells | reason |", "|---|---|--:|---|"]
    for rule in rules:
        tools = ", ".join(rule["tool"]) if isinstance(rule["tool"], list) else rule["tool"]
        lines.append(f"| {rule['id']} | {tools} | {used.get(rule['id'], 0)} | {rule['reason']} |")
    lines += ["", "## Known gaps", "", "| pair | what is missing |", "|---|---|"]
    lines += [f"| {gap['pair']} | {gap['reason']} |" for gap in gaps]
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
