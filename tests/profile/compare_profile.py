#!/usr/bin/env python3
"""Compares a program's profile-tool output with a recorded golden, cell by cell.

Standard library only (Python 3.8+). Files may be plain or gzip (by content).

    compare_profile.py GOLDEN CANDIDATE [options]
        GOLDEN     a *.neutral.json.gz of profile_samples/goldens
        CANDIDATE  the program's output for the same (tool, capture), neutral shape
    compare_profile.py --tree GOLDEN_ROOT CANDIDATE_ROOT [options]
        every GOLDEN_ROOT/<capture>/<tool>.neutral.json.gz against
        CANDIDATE_ROOT/<capture>/<tool>.neutral.json.gz, .json or .json.gz (missing = all cells wrong);
        --only SUBSTR keeps the pairs whose "<capture>/<tool>" contains SUBSTR
    compare_profile.py --to-neutral KIND TOOL CAPTURE RAW [OUT]
        converts a raw output; KIND: gviz | tree | flat | torch | chrome | digest | auto
    compare_profile.py --schema GOLDEN
        prints tables, columns, row counts and scalars of a neutral file

Options: --rel R (1e-6)  --max N differences shown (20)  --strict-order  --all (count soft columns too)
         --json (one JSON object per pair on stdout)  --min-share X (exit 1 when matched/total < X)
Exit code: 0 = everything matched (or >= --min-share), 1 = differences, 2 = usage or unreadable file.

NEUTRAL SHAPE (what the candidate has to offer)
    {"neutral": 1,
     "tool": "overview_page", "capture": "tf_input_bound",
     "tables": {"<table>": {"columns": ["stepnum", ...], "rows": [["1", 0.52, ...], ...]}},
     "scalars": {"<name>": value},
     "soft": ["<table>.<column>" or "<scalar>", ...]}        (optional, goldens only)
  * column names are the ids of the original table (gviz "id", torch plug-in column name);
  * a cell is a number, string, bool or null; nothing nested (nested values: compact JSON text);
  * candidates may add tables, columns and scalars: they are ignored;
  * rows missing in the candidate and rows it has too many both count as wrong;
  * row order: rows are first compared by position; if the identifying strings differ by position they
    are aligned by those strings (order then only matters with --strict-order).

HOW VALUES COMPARE
  numbers    |g-c| <= rel*max(|g|,|c|), or within half a unit of the golden's last printed decimal when the whole
             golden column is visibly rounded (at most 6 decimals and 11 significant digits everywhere);
  strings    equal; a golden string that is a number (also with a trailing %) accepts a number, or another numeric
             string, within half a unit of its last decimal ("83.5%" accepts 83.4731);
  bool/null  equal; null = absent = "" are one value (tools print absent cells in all three ways).

HOW RAW OUTPUTS BECOME NEUTRAL
  gviz    {"cols","rows","p"} or a list of such: each becomes a table (named by GVIZ_NAMES / GVIZ_SIGNATURES below, else
          "table_<i>"; a second one of the same name gets a "+"), each entry of "p" the scalar "<table>.<key>"; list
          members without "cols" are flattened (see flat) under "table_<i>".
  tree    op_profile: every node one row; column "path" = names joined with " > " from the root, then metrics.* / xla.*;
          one table per root (byProgram, byCategory, byProvenance, ...).
  flat    any JSON: objects become "a/b" paths; scalar leaves -> scalars; a list of objects -> table at its path, leaves
          of nested objects as dotted columns; a list inside a row -> child table "<path>/<key>" whose first column
          "_parent" is the row index in the parent; a list of scalars -> table with column "value".
  torch   {"columns","rows"} -> table; {"metadata","data":[...]} -> table(s) of data, nested children in "_parent" tables;
          everything else as flat.
  chrome  Chrome trace (also a TF timeline): table "events" (ph,pid,tid,name,cat,ts,dur,id,args-as-JSON, sorted by
          ts, pid, tid, name), table "processes" (pid,name).
  digest  Chrome trace reduced to counts: processes, threads, names (count, total/min/max duration in microseconds).
"""
import argparse
import glob
import gzip
import json
import math
import os
import re
import sys
from collections import Counter, defaultdict

GVIZ_NAMES = {                      # tools whose tables always come in this order
    "framework_op_stats": ["with_idle", "without_idle"],
    "tensorflow_stats": ["with_idle", "without_idle"],
    "kernel_stats": ["kernels"],
    "hlo_stats": ["hlo_ops"],
    "roofline_model": ["roofline", "diagnostics"],
    "inference_profile": ["models", "requests"],
}
GVIZ_SIGNATURES = [                 # the others are told by their columns: versions differ in order and number
    ({"severity", "message"}, "diagnostics"), ({"stepnum"}, "step_times"), ({"opName"}, "input_ops"),
    ({"host_id", "command_line"}, "run_environment"), ({"tip_type"}, "recommendations"),
    ({"selfTimePercent", "operation"}, "op_stats"), ({"percentile", "totalTimeMs"}, "inference_latency"),
    ({"parent", "rank"}, "iterators"), ({"num_slow_calls"}, "pipelines"), ({"bottleneck", "suggestion"}, "bottlenecks"),
    ({"link"}, "recommendations"),
]
SOFT_COLUMN = re.compile(r"(tooltip|trace_viewer_url|_html)$", re.I)
SOFT_SCALAR = re.compile(r"(step_time_graph_column_ids|summary_color|remark_color|start_time)$")


class Num(float):
    """A JSON number that remembers how it was written."""
    __slots__ = ("text",)

    def __new__(cls, text):
        self = float.__new__(cls, text)
        self.text = text
        return self


def load(path):
    with open(path, "rb") as f:
        raw = f.read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    return loads(raw.decode("utf-8", "replace"))


def loads(text):
    return json.loads(text, parse_float=Num, parse_int=lambda t: int(t) if len(t) < 17 else BigInt(t))


class BigInt(int):
    """Integers beyond 2^53 stay exact."""


def _default(o):
    raise TypeError(repr(o))


def dump(obj, path):
    data = json.dumps(obj, separators=(",", ":"), ensure_ascii=False, default=_default).encode()
    if path.endswith(".gz"):
        with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as g:
            g.write(data)
    else:
        with open(path, "wb") as f:
            f.write(data)


# ------------------------------------------------------------------ converters

def _cell(v):
    if isinstance(v, (dict, list)):
        return json.dumps(v, separators=(",", ":"), sort_keys=True)
    return v


def new(tool, capture, producer=None):
    d = {"neutral": 1, "tool": tool, "capture": capture}
    if producer:
        d["producer"] = producer
    d.update(tables={}, scalars={}, soft=[])
    return d


def _is_gviz(j):
    return isinstance(j, dict) and "cols" in j and "rows" in j


def add_gviz(out, name, t):
    cols = [c.get("id") or c.get("label") or f"col{i}" for i, c in enumerate(t["cols"])]
    rows = []
    for r in t["rows"]:
        cells = [_cell(c.get("v")) if isinstance(c, dict) else _cell(c) for c in (r.get("c") or [])]
        rows.append(cells + [None] * (len(cols) - len(cells)))
    if cols or rows:
        out["tables"][name] = {"columns": cols, "rows": rows}
    for c in cols:
        if SOFT_COLUMN.search(c):
            out["soft"].append(f"{name}.{c}")
    for k, v in (t.get("p") or {}).items():
        out["scalars"][f"{name}.{k}"] = _cell(v)


def gviz_name(tool, i, t):
    names = GVIZ_NAMES.get(tool)
    if names:
        return names[i] if i < len(names) else f"table_{i}"
    ids = {c.get("id") for c in t.get("cols") or []} if isinstance(t, dict) else set()
    return next((n for sig, n in GVIZ_SIGNATURES if sig <= ids), f"table_{i}")


def conv_gviz(out, raw):
    tables = raw if isinstance(raw, list) else [raw]
    for i, t in enumerate(tables):
        name = gviz_name(out["tool"], i, t)
        while name in out["tables"]:
            name += "+"
        if _is_gviz(t):
            add_gviz(out, name, t)
        else:
            flatten(out, name, t)


def conv_tree(out, raw):
    for root, node in raw.items():
        if isinstance(node, dict) and "name" in node:
            rows, cols = [], ["path", "depth"]
            seen = {c: i for i, c in enumerate(cols)}

            def walk(n, path, depth):
                p = [*path, str(n.get("name", ""))]
                row = {"path": " > ".join(p), "depth": depth}
                for k, v in n.items():
                    if k in ("name", "children"):
                        continue
                    for kk, vv in _leaves(v, k):
                        row[kk] = vv
                for k in row:
                    if k not in seen:
                        seen[k] = len(cols)
                        cols.append(k)
                rows.append(row)
                for c in n.get("children") or []:
                    walk(c, p, depth + 1)
            walk(node, [], 0)
            out["tables"][root] = {"columns": cols, "rows": [[r.get(c) for c in cols] for r in rows]}
        else:
            flatten(out, root, node)


def _leaves(v, prefix):
    if isinstance(v, dict):
        for k, x in v.items():
            yield from _leaves(x, f"{prefix}.{k}" if prefix else k)
    elif isinstance(v, list) and not any(isinstance(x, dict) for x in v):
        yield prefix, _cell(v)
    elif isinstance(v, list):
        return
    else:
        yield prefix, v


def _child_lists(v, prefix):
    if isinstance(v, dict):
        for k, x in v.items():
            yield from _child_lists(x, f"{prefix}.{k}" if prefix else k)
    elif isinstance(v, list) and any(isinstance(x, dict) for x in v):
        yield prefix, v


def flatten(out, path, v):
    if _is_gviz(v):
        add_gviz(out, path or "table", v)
    elif isinstance(v, dict) and isinstance(v.get("columns"), list) and isinstance(v.get("rows"), list):
        add_torch_table(out, path or "table", v)
        for k, x in v.items():
            if k not in ("columns", "rows"):
                flatten(out, f"{path}/{k}" if path else k, x)
    elif isinstance(v, dict):
        for k, x in v.items():
            flatten(out, f"{path}/{k}" if path else str(k), x)
    elif isinstance(v, list):
        if v and all(isinstance(x, dict) for x in v):
            add_rows(out, path or "rows", v, None)
        elif v and all(isinstance(x, list) for x in v):
            w = max(len(x) for x in v)
            out["tables"][path or "rows"] = {"columns": [f"col{i}" for i in range(w)],
                                             "rows": [[_cell(c) for c in x] + [None] * (w - len(x)) for x in v]}
        elif v:
            out["tables"][path or "rows"] = {"columns": ["value"], "rows": [[_cell(x)] for x in v]}
    else:
        out["scalars"][path or "value"] = v


def add_rows(out, path, items, parents):
    cols, rows, children = (["_parent"] if parents is not None else []), [], defaultdict(list)
    seen = set(cols)
    for i, it in enumerate(items):
        row = {}
        if parents is not None:
            row["_parent"] = parents[i]
        for k, v in _leaves(it, ""):
            row[k] = v
            if k not in seen:
                seen.add(k)
                cols.append(k)
        for k, lst in _child_lists(it, ""):
            children[k].extend((i, x) for x in lst)
        rows.append(row)
    out["tables"][path] = {"columns": cols, "rows": [[r.get(c) for c in cols] for r in rows]}
    for c in cols:
        if SOFT_COLUMN.search(c):
            out["soft"].append(f"{path}.{c}")
    for k, lst in children.items():
        add_rows(out, f"{path}/{k}", [x if isinstance(x, dict) else {"value": x} for _, x in lst], [i for i, _ in lst])


def add_torch_table(out, name, t):
    cols = []
    for i, c in enumerate(t["columns"]):
        n = c.get("name") if isinstance(c, dict) else str(c)
        if not n:
            n = f"{cols[-1] if cols else 'col'}.tooltip" if isinstance(c, dict) and c.get("role") == "tooltip" else f"col{i}"
        cols.append(n)
    rows = [[_cell(x) for x in r] for r in t["rows"]]
    out["tables"][name] = {"columns": cols, "rows": rows}
    for c in cols:
        if SOFT_COLUMN.search(c):
            out["soft"].append(f"{name}.{c}")


def conv_torch(out, raw):
    flatten(out, "", raw)


def _events(raw):
    ev = raw if isinstance(raw, list) else raw.get("traceEvents", [])
    return [e for e in ev if isinstance(e, dict) and e]


def conv_chrome(out, raw):
    ev = _events(raw)
    procs = sorted({(str(e.get("pid")), str((e.get("args") or {}).get("name")))
                    for e in ev if e.get("ph") == "M" and e.get("name") == "process_name"})
    out["tables"]["processes"] = {"columns": ["pid", "name"], "rows": [list(p) for p in procs]}
    rows = []
    for e in ev:
        if e.get("ph") == "M":
            continue
        rows.append([e.get("ph"), str(e.get("pid")), str(e.get("tid")), e.get("name"), e.get("cat"), e.get("ts"),
                     e.get("dur"), e.get("id"), _cell(e.get("args")) if e.get("args") is not None else None])
    rows.sort(key=lambda r: (float(r[5] or 0), r[1], r[2], str(r[3]), str(r[0])))
    out["tables"]["events"] = {"columns": ["ph", "pid", "tid", "name", "cat", "ts", "dur", "id", "args"], "rows": rows}
    out["scalars"]["events"] = len(rows)


def conv_digest(out, raw):
    ev = _events(raw)
    pname, tname = {}, {}
    for e in ev:
        if e.get("ph") == "M":
            a = e.get("args") or {}
            if e.get("name") == "process_name":
                pname[e.get("pid")] = str(a.get("name"))
            elif e.get("name") == "thread_name":
                tname[(e.get("pid"), e.get("tid"))] = str(a.get("name"))
    agg, phases = defaultdict(lambda: [0, 0.0, math.inf, 0.0, math.inf, -math.inf]), Counter()
    for e in ev:
        ph = e.get("ph")
        if ph == "M":
            continue
        phases[str(ph)] += 1
        d, ts = float(e.get("dur") or 0), float(e.get("ts") or 0)
        a = agg[(e.get("pid"), e.get("tid"), str(e.get("name")))]
        a[0] += 1
        a[1] += d
        a[2] = min(a[2], d)
        a[3] = max(a[3], d)
        a[4] = min(a[4], ts)
        a[5] = max(a[5], ts + d)
    fin = lambda x: 0 if math.isinf(x) else round(x, 6)
    names, threads, procs = [], defaultdict(lambda: [0, 0.0, math.inf, -math.inf]), defaultdict(lambda: [0, 0.0])
    for (p, t, n), a in agg.items():
        names.append([pname.get(p, str(p)), tname.get((p, t), str(t)), n, a[0], round(a[1], 6), fin(a[2]), fin(a[3])])
        th = threads[(pname.get(p, str(p)), str(t), tname.get((p, t), ""))]
        th[0] += a[0]
        th[1] += a[1]
        th[2] = min(th[2], a[4])
        th[3] = max(th[3], a[5])
        pr = procs[pname.get(p, str(p))]
        pr[0] += a[0]
        pr[1] += a[1]
    names.sort()
    out["tables"]["processes"] = {"columns": ["process", "events", "total_dur_us"],
                                  "rows": [[k, v[0], round(v[1], 6)] for k, v in sorted(procs.items())]}
    out["tables"]["threads"] = {"columns": ["process", "tid", "thread", "events", "total_dur_us", "first_ts_us", "last_end_us"],
                                "rows": [[*list(k), v[0], round(v[1], 6), fin(v[2]), fin(v[3])]
                                         for k, v in sorted(threads.items())]}
    out["tables"]["names"] = {"columns": ["process", "thread", "name", "count", "total_dur_us", "min_dur_us", "max_dur_us"],
                              "rows": names}
    out["tables"]["phases"] = {"columns": ["ph", "count"], "rows": [[k, v] for k, v in sorted(phases.items())]}
    out["scalars"]["events"] = sum(phases.values())


def to_neutral(kind, tool, capture, raw, producer=None):
    out = new(tool, capture, producer)
    if kind == "auto":
        if tool in ("op_profile", "hlo_op_profile"):
            kind = "tree"
        elif _is_gviz(raw) or (isinstance(raw, list) and raw and any(_is_gviz(x) for x in raw)):
            kind = "gviz"
        elif isinstance(raw, dict) and "traceEvents" in raw:
            kind = "digest"
        else:
            kind = "flat"
    {"gviz": conv_gviz, "tree": conv_tree, "torch": conv_torch, "chrome": conv_chrome, "digest": conv_digest,
     "flat": lambda o, r: flatten(o, "", r)}[kind](out, raw)
    for k in out["scalars"]:
        if SOFT_SCALAR.search(k):
            out["soft"].append(k)
    out["soft"] = sorted(set(out["soft"]))
    return out


# ------------------------------------------------------------------ comparison

_NUMSTR = re.compile(r"^\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%?)\s*$")


def is_num(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def _text(v):
    return getattr(v, "text", None) or repr(v)


def _decimals(text):
    m = re.match(r"^-?(\d*)\.?(\d*)$", text)
    if not m:
        return 99, 99                       # exponent form: never "rounded"
    frac = m.group(2).rstrip("0")
    digits = (m.group(1).lstrip("0") + frac) if m.group(1).strip("0") else frac.lstrip("0")
    return len(frac), len(digits)


def column_rounding(cells):
    """Half a unit of the last printed decimal, or 0 when the column shows full precision."""
    dec, sig, non_int = 0, 0, 0
    for v in cells:
        if isinstance(v, Num):
            d, s = _decimals(v.text)
            dec, sig = max(dec, d), max(sig, s)
            non_int += d > 0
    if non_int >= 1 and dec <= 6 and sig <= 11:
        return 0.5 * 10 ** -dec * (1 + 1e-9)
    return 0.0


def same(g, c, rel, rnd):
    if g is None or g == "":
        return c is None or c == ""
    if isinstance(g, bool) or isinstance(c, bool):
        return isinstance(g, bool) and isinstance(c, bool) and g == c
    if is_num(g):
        if isinstance(c, str):
            m = _NUMSTR.match(c)
            if not m:
                return False
            c = float(m.group(1))
        if not is_num(c):
            return False
        if isinstance(g, int) and isinstance(c, int):
            return g == c or (abs(g - c) <= rel * max(abs(g), abs(c)) and max(abs(g), abs(c)) > 1 / rel)
        if math.isnan(g) or math.isnan(c):
            return math.isnan(g) and math.isnan(c)
        if g == c:
            return True
        return abs(g - c) <= rel * max(abs(g), abs(c)) or abs(g - c) <= rnd
    if isinstance(g, str):
        if g == c:
            return True
        m = _NUMSTR.match(g)
        if not m:
            return False
        if isinstance(c, str):
            mc = _NUMSTR.match(c)
            if not mc or mc.group(2) != m.group(2):
                return False
            c = float(mc.group(1))
        if not is_num(c):
            return False
        d, _ = _decimals(m.group(1))
        shown = len(m.group(1).split(".")[1]) if "." in m.group(1) else 0
        return abs(float(m.group(1)) - c) <= 0.5 * 10 ** -max(shown, d if d < 99 else 0) * (1 + 1e-9) or \
            abs(float(m.group(1)) - c) <= rel * abs(c)
    return g == c


def key_columns(cols, rows, soft):
    cand = []
    for i, _c in enumerate(cols):
        if i in soft:
            continue
        vals = [r[i] for r in rows if i < len(r)]
        if vals and all(isinstance(v, str) or v is None for v in vals):
            cand.append((len(set(vals)), i))
    cand.sort(key=lambda x: (-x[0], x[1]))
    chosen, best = [], 1
    for n, i in cand:
        if n < 2:
            break
        trial = [*chosen, i]
        d = len({tuple(r[j] for j in trial) for r in rows})
        if d > best:
            chosen, best = trial, d
        if best == len(rows):
            break
    return chosen


class Result:
    def __init__(self):
        self.matched = self.total = 0
        self.diffs, self.notes, self.per_table = [], [], {}

    def add(self, ok, where, g=None, c=None):
        self.total += 1
        if ok:
            self.matched += 1
        else:
            self.diffs.append((where, g, c))


def compare(golden, cand, rel=1e-6, strict_order=False, count_soft=False):
    res = Result()
    if not isinstance(cand, dict):
        res.notes.append("candidate is not in the neutral shape (see --to-neutral)")
        cand = {}
    never_keys = set(golden.get("soft") or [])          # presentation text never identifies a row, counted or not
    soft = set() if count_soft else never_keys
    ctab, csc = cand.get("tables") or {}, cand.get("scalars") or {}
    for name, g in (golden.get("scalars") or {}).items():
        if name not in soft and not (g in ("", None) and name not in csc):     # blank and absent: nothing to compare
            res.add(same(g, csc.get(name), rel, 0.0), name, g, csc.get(name, "<absent>"))
    for name, gt in (golden.get("tables") or {}).items():
        m0, t0 = res.matched, res.total
        _compare_table(res, name, gt, ctab.get(name), rel, strict_order, soft, never_keys)
        res.per_table[name] = (res.matched - m0, res.total - t0)
    for name in ctab:
        if name not in (golden.get("tables") or {}):
            res.notes.append(f"candidate has the extra table {name!r} (ignored)")
    return res


def _compare_table(res, name, gt, ct, rel, strict_order, soft, never_keys):
    cols, rows = gt["columns"], gt["rows"]
    softi = {i for i, c in enumerate(cols) if f"{name}.{c}" in soft}
    use = [i for i in range(len(cols)) if i not in softi]
    if ct is None:
        res.notes.append(f"table {name!r} is missing ({len(rows)} rows)")
        for r in range(len(rows)):
            for i in use:
                res.add(False, f"{name}[{r}].{cols[i]}", rows[r][i] if i < len(rows[r]) else None, "<no table>")
        if not rows:
            res.add(False, name, "empty table", "<no table>")
        return
    cpos = {c: i for i, c in enumerate(ct.get("columns") or [])}
    missing = [cols[i] for i in use if cols[i] not in cpos]
    if missing:
        res.notes.append(f"table {name!r} lacks the columns {missing}")
    crows = [[(r[cpos[c]] if c in cpos and cpos[c] < len(r) else None) for c in cols] for r in ct.get("rows") or []]
    rnd = [column_rounding([r[i] for r in rows if i < len(r)]) for i in range(len(cols))]
    keys = key_columns(cols, rows, {i for i, c in enumerate(cols) if f"{name}.{c}" in never_keys})
    ident = lambda r: tuple(str(r[i]) if r[i] is not None else "" for i in keys)
    pairs, extra = [], 0
    if [ident(r) for r in rows] == [ident(r) for r in crows]:
        pairs = list(zip(rows, crows, range(len(rows))))
    elif keys:
        pool = defaultdict(list)
        for r in crows:
            pool[ident(r)].append(r)
        moved = Counter(map(ident, rows)) == Counter(map(ident, crows))
        res.notes.append(f"table {name!r}: rows " + ("in another order" if moved else "differ in their identifying columns")
                         + f" (aligned by {[cols[i] for i in keys]})")
        for n, r in enumerate(rows):
            p = pool.get(ident(r))
            pairs.append((r, p.pop(0) if p else None, n))
        extra = sum(len(p) for p in pool.values())
        if strict_order and moved:
            res.add(False, f"{name} row order", "golden order", "other order")
    else:
        pairs = [(r, crows[n] if n < len(crows) else None, n) for n, r in enumerate(rows)]
        extra = max(0, len(crows) - len(rows))
    for g, c, n in pairs:
        for i in use:
            gv = g[i] if i < len(g) else None
            if c is None:
                res.add(False, f"{name}[{n}].{cols[i]}", gv, "<no row>")
            else:
                res.add(same(gv, c[i], rel, rnd[i]), f"{name}[{n}].{cols[i]}", gv, c[i])
    for _ in range(extra):
        for i in use:
            res.add(False, f"{name} surplus row .{cols[i]}", "<no row>", "...")
    if not rows and not extra:
        res.add(True, name)          # an empty table present on both sides counts as one cell


def show(res, label, opts):
    share = res.matched / res.total if res.total else 1.0
    if opts.json:
        print(json.dumps({"pair": label, "matched": res.matched, "total": res.total, "share": round(share, 6),
                          "tables": res.per_table, "notes": res.notes,
                          "first": [[w, str(g)[:200], str(c)[:200]] for w, g, c in res.diffs[:opts.max]]}))
        return
    print(f"{label}: {res.matched}/{res.total} cells ({100 * share:.2f} %)")
    if res.diffs:
        for n in res.notes[:10]:
            print("   note:", n)
        for w, g, c in res.diffs[:opts.max]:
            print(f"   {w}: golden {_short(g)}  candidate {_short(c)}")
        if len(res.diffs) > opts.max:
            print(f"   ... {len(res.diffs) - opts.max} more")


def _short(v):
    s = _text(v) if isinstance(v, Num) else repr(v)
    return s if len(s) <= 120 else s[:117] + "..."


def golden_files(root, only):
    for p in sorted(glob.glob(os.path.join(root, "*", "*.neutral.json.gz"))):
        cap, tool = os.path.basename(os.path.dirname(p)), os.path.basename(p)[:-len(".neutral.json.gz")]
        if not only or only in f"{cap}/{tool}":
            yield cap, tool, p


def main():
    ap = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"), add_help=True)
    ap.add_argument("files", nargs="*")
    ap.add_argument("--tree", action="store_true")
    ap.add_argument("--to-neutral", action="store_true")
    ap.add_argument("--schema", action="store_true")
    ap.add_argument("--only", default="")
    ap.add_argument("--rel", type=float, default=1e-6)
    ap.add_argument("--max", type=int, default=20)
    ap.add_argument("--strict-order", action="store_true")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--min-share", type=float, default=1.0)
    o = ap.parse_args()
    try:
        if o.to_neutral:
            kind, tool, cap, raw = o.files[:4]
            n = to_neutral(kind, tool, cap, load(raw))
            if len(o.files) > 4:
                dump(n, o.files[4])
            else:
                json.dump(n, sys.stdout, indent=1)
            return 0
        if o.schema:
            g = load(o.files[0])
            for k, t in g["tables"].items():
                print(f"table {k}: {len(t['rows'])} rows: {', '.join(t['columns'])}")
            for k, v in g["scalars"].items():
                print(f"scalar {k} = {_short(v)}")
            print("soft:", ", ".join(g.get("soft") or []) or "-")
            return 0
        if o.tree:
            groot, croot = o.files
            m = t = 0
            for cap, tool, path in golden_files(groot, o.only):
                cand = next((p for p in (os.path.join(croot, cap, tool + e) for e in (".neutral.json.gz", ".json", ".json.gz"))
                             if os.path.exists(p)), None)
                r = compare(load(path), load(cand) if cand else {}, o.rel, o.strict_order, o.all)
                show(r, f"{cap}/{tool}" + ("" if cand else "  [no candidate file]"), o)
                m, t = m + r.matched, t + r.total
            print(f"TOTAL {m}/{t} cells ({100 * m / t if t else 100:.2f} %)", file=sys.stderr if o.json else sys.stdout)
            return 0 if t == 0 or m / t >= o.min_share else 1
        g, c = o.files
        gold, cand = load(g), load(c)
        r = compare(gold, cand, o.rel, o.strict_order, o.all)
        show(r, f"{gold.get('capture')}/{gold.get('tool')}", o)
        return 0 if r.total == 0 or r.matched / r.total >= o.min_share else 1
    except (OSError, ValueError, KeyError) as e:
        print("compare_profile:", e, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
