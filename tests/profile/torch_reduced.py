"""A PyTorch capture reduced to what torch-tb-profiler 0.4.3 reads of it, so that Sonde can be asked the same question.

The plug-in's figures on captures since PyTorch 1.13 differ from Sonde's because it knows less, not because it
calculates otherwise. That is checked by taking away from the capture what it does not know (or adding what it
takes for something else) and letting Sonde compute the view: the result has to be the recorded one.

  * cuda_runtime, cuda_driver and every other category it has no name for are gone;
  * of the annotations only ProfilerStep# and five nccl: and gloo: calls are left, those of the device
    (gpu_user_annotation) beside those of the host: that is how its steps double;
  * Python frames and modules do no work; without ProfilerStep# the one step is the extent of the operators;
  * a kernel is communication when its External id is that of such a call, whatever its name is;
  * a kernel runs on Tensor Cores when its name holds one of the words of 2021;
  * kernels belong to CallTreeRoot, once for each thread with a ProfilerStep#;
  * the n-th entry of deviceProperties is taken for device n;
  * times are doubles of microseconds, begin and end each rounded.
"""

import gzip
import json
from decimal import Decimal

CATEGORIES = {"trace": "Trace", "cpu_op": "cpu_op", "operator": "cpu_op", "runtime": "Runtime", "kernel": "kernel", "memcpy": "gpu_memcpy",
              "gpu_memcpy": "gpu_memcpy", "memset": "gpu_memset", "gpu_memset": "gpu_memset", "user_annotation": "user_annotation",
              "gpu_user_annotation": "user_annotation"}
CALLS = {f"{library}:{call}" for library in ("nccl", "gloo") for call in ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")}
TENSOR_CORES = ("h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1",
                "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm",
                "xmma_sparse_gemm", "c1688")
STEP = "ProfilerStep#"
ROOT = "Optimizer.root"  # no operator for Sonde either
ROOT_ID = 10 ** 9 + 7


def external_id(event):
    args = event.get("args") or {}
    return args.get("external id", args.get("External id"))


def readable(event, view):
    """The event under the name and category the plug-in has for it, None where it has none."""
    category = CATEGORIES.get(str(event.get("cat", "")).lower())
    is_frame = event.get("cat") == "python_function"
    if is_frame and (view == "module" or (view.startswith("operator") and "Python module id" in event["args"])):
        category = "python_function"
    if category is None:
        return None
    name = event.get("name") or ""
    if category == "user_annotation" and not name.startswith(STEP) and name not in CALLS:
        return None
    event = dict(event, cat="user_annotation" if name.startswith(STEP) else category, args=dict(event.get("args") or {}))
    if category == "cpu_op" and name.startswith(("nccl:", "gloo:")) and name not in CALLS:
        event["name"] = "operator"
    event["dur"] = Decimal(event["ts"] + event["dur"]) - Decimal(event["ts"])
    event["ts"] = Decimal(event["ts"])
    return event


def calls_of(events):
    """Of the calls with one External id, say the host's and the device's, the plug-in keeps the last to begin."""
    return {external_id(e): e for e in sorted(events, key=lambda e: e["ts"]) if e["name"] in CALLS}


def rename_kernels(events, calls):
    """Names by which Sonde decides as the plug-in does; returns what they were."""
    names = {}
    for e in events:
        if e["cat"] not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        if external_id(e) in calls:
            raise ValueError("a kernel with the External id of a collective call: the plug-in would tie the two")
        for key in ("External id", "external id", "Collective name"):
            e["args"].pop(key, None)
        if e["cat"] != "kernel":
            continue
        kind = "hmma" if any(word in e["name"] for word in TENSOR_CORES) else "plain"
        e["name"] = names.setdefault(e["name"], f"{kind} kernel {len(names):04}")
    return {new: old for old, new in names.items()} | {ROOT: "CallTreeRoot"}


def under_the_root(events):
    """Kernels launched by one call that is no operator, as often as a thread has steps."""
    threads = {(e["pid"], e["tid"]) for e in events if e["name"].startswith(STEP)}
    kernels = [e for e in events if e["cat"] == "kernel"]
    for e in kernels:
        e["args"]["correlation"] = ROOT_ID
    first = min(e["ts"] for e in events) - 10
    host = {"ph": "X", "pid": 1, "tid": 1}
    root = {**host, "cat": "cpu_op", "name": ROOT, "ts": first, "dur": 9}
    launch = {**host, "cat": "cuda_runtime", "name": "launch", "ts": first + 1, "dur": 1, "args": {"correlation": ROOT_ID}}
    return [root, launch, *(e for _ in threads for e in kernels)]


def outside_as_a_step(events, calls):
    """Calls that lie in no step count under a step null: they are moved behind the last event and get one there."""
    steps = [e for e in events if e["name"].startswith(STEP)]
    outside = [c for c in calls.values() if not any(s["ts"] <= c["ts"] and c["ts"] + c["dur"] <= s["ts"] + s["dur"] for s in steps)]
    if not outside:
        return []
    behind = max(e["ts"] + e["dur"] for e in events) - min(e["ts"] for e in events) + 1000
    for call in outside:
        call["ts"] += behind
    begin, end = min(c["ts"] for c in outside), max(c["ts"] + c["dur"] for c in outside)
    return [dict(outside[0], cat="user_annotation", name=STEP + "null", pid=1, tid=1, ts=begin, dur=end - begin, args={})]


def step_over_operators(events):
    operators = [e for e in events if e["cat"] == "cpu_op"]
    if any(e["name"].startswith(STEP) for e in events) or not operators:
        return []
    begin = min(e["ts"] for e in operators)
    return [dict(operators[0], cat="user_annotation", name=STEP + "0", ts=begin, dur=max(e["ts"] + e["dur"] for e in operators) - begin, args={})]


def reduced(trace, view):
    """The reduced trace for one of the plug-in's views, and the real names of its kernels."""
    events = [r for r in (readable(e, view) for e in trace["traceEvents"] if e.get("ph") == "X") if r]
    calls = calls_of(events)
    names = rename_kernels(events, calls)
    if view == "kernel_op":
        events = under_the_root(events)
    else:
        events += step_over_operators(events)
    if view in ("distributed_wait", "distributed_comm_ops"):
        events = [e for e in events if e["name"] not in CALLS or e is calls[external_id(e)]]
        events += outside_as_a_step(events, calls)
    devices = [dict(d, id=n) for n, d in enumerate(trace.get("deviceProperties") or [])]
    header = {k: v for k, v in trace.items() if k not in ("traceEvents", "deviceProperties") and "hip" not in k and "roc" not in k}
    metadata = [e for e in trace["traceEvents"] if e.get("ph") == "M"]
    return {**header, "deviceProperties": devices, "traceEvents": metadata + events}, names


def write(capture, folder, view):
    """Writes the reduced form of every worker's file into a folder; returns the real names of kernels."""
    names = {}
    for path in sorted(capture.iterdir()):
        text = gzip.open(path, "rb").read().decode("utf-8", "replace")
        trace, more = reduced(json.loads(text, strict=False), view)
        names.update(more)
        # Numbers as text keep every digit.
        (folder / path.name.removesuffix(".gz")).write_text(json.dumps(trace, default=lambda d: format(d, "f")))
    return names


def as_listed(candidate, names, view):
    """The answer with the real names; of two steps of one name the plug-in's lists keep the last."""
    for table in (candidate.get("tables") or {}).values():
        table["rows"] = [[names.get(cell, cell) if isinstance(cell, str) else cell for cell in row] for row in table["rows"]]
        if view == "distributed_overlap":
            table["rows"] = table["rows"][-4:]
    return candidate
