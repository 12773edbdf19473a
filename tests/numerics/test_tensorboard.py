"""Dumps of TensorFlow in every mode, and what sonde.debug writes for PyTorch and JAX: TensorBoard's own plug-in and Sonde
give the same answers on all routes.

With FULL_TENSOR TensorBoard 2.21 dead-locks; there its reader is asked without the monitor of alerts, and the alerts are
counted in the tensors.
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import quote

import pytest
from numerics_server import HERE, Server

MODES = ["NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR", "ring", "hosts", "torch", "jax"]


def frame(payload):
    from sonde._record_writer import masked_crc32c

    head = len(payload).to_bytes(8, "little")
    return head + masked_crc32c(head).to_bytes(4, "little") + payload + masked_crc32c(payload).to_bytes(4, "little")


def second_host(folder):
    """Another host of the same job: its own metadata, a little later, and its own traces."""
    from tensorflow.core.protobuf import debug_event_pb2

    meta = next(folder.glob("*.metadata"))
    event = debug_event_pb2.DebugEvent.FromString(meta.read_bytes()[12:-4])
    event.wall_time += 1
    other = folder / "tfdbg_events.9.other.metadata"
    other.write_bytes(frame(event.SerializeToString()))
    traces = next(folder.glob("*.graph_execution_traces")).read_bytes()
    (folder / "tfdbg_events.9.other.graph_execution_traces").write_bytes(traces)


@pytest.fixture(params=MODES)
def dump(request, tmp_path):
    ready = os.environ.get("SONDE_NUMERICS_DUMPS")  # made before, by hand
    if ready:
        return request.param, HERE / ready / request.param
    if request.param in ("torch", "jax"):  # recorded by sonde.debug
        program = HERE / "programs" / f"{request.param}_log_zero.py"
        subprocess.run([sys.executable, program, tmp_path], check=True, capture_output=True)
        return request.param, tmp_path
    mode, buffer = {"ring": ("FULL_HEALTH", 10), "hosts": ("CONCISE_HEALTH", -1)}.get(request.param, (request.param, -1))
    program = HERE / "dumps" / "tf_program.py"
    subprocess.run([sys.executable, program, tmp_path, mode, str(buffer)], check=True, capture_output=True)
    if request.param == "hosts":
        second_host(tmp_path)
    return request.param, tmp_path


class TensorBoard:
    """The plug-in alone, asked without a network."""

    def __init__(self, folder):
        from tensorboard.plugins import base_plugin
        from tensorboard.plugins.debugger_v2 import debugger_v2_plugin
        from werkzeug import test

        plugin = debugger_v2_plugin.DebuggerV2Plugin(base_plugin.TBContext(logdir=str(folder)))
        self._clients = {path: test.Client(app) for path, app in plugin.get_plugin_apps().items()}
        self.get("/runs", "")
        last = None
        for _ in range(100):  # it reads in a thread of its own
            time.sleep(0.3)
            now = [self.get(f"/{kind}/digests", "run=__default_debugger_run__&begin=0&end=0") for kind in ("execution", "graph_execution")]
            if now == last and now[0][1]["num_digests"]:
                break
            last = now

    def get(self, path, query):
        try:
            answer = self._clients[path].get(path, query_string=query)
        except (ValueError, KeyError, IndexError) as error:
            return 500, str(error)
        return answer.status_code, json.loads(answer.data)


def ask(server, path, query):
    try:
        with urllib.request.urlopen(f"{server.base}{path[1:]}?{query}", timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def questions(tensorboard, mode):
    run = "run=__default_debugger_run__"
    _, traces = tensorboard.get("/graph_execution/digests", run)
    _, executions = tensorboard.get("/execution/data", run)
    traced = traces["graph_execution_digests"]
    if mode != "FULL_TENSOR":
        for query in ("", "&begin=0&end=0", "&begin=2&end=5", "&alert_type=InfNanAlert", "&alert_type=InfNanAlert&begin=1&end=2",
                      "&alert_type=Foo", "&alert_type=a.b", "&begin=-1", "&end=99999", "&begin=3&end=2"):
            yield "/alerts", run + query
    for path, count in (("/execution", len(executions["executions"])), ("/graph_execution", len(traced))):
        for kind in ("/digests", "/data"):
            for query in ("", "&begin=0&end=0", f"&begin={count // 2}&end={count}", f"&begin={count}&end={count}", f"&begin={count}",
                          f"&begin={count + 5}", "&begin=1&end=2", "&begin=-1", f"&end={count + 1}", "&begin=3&end=2", "&end=-7"):
                yield path + kind, run + query
    graphs, ops = {}, set()
    for one in traced:
        graphs[one["graph_id"]] = None
        ops.add((one["graph_id"], one["op_name"]))
    for one in executions["executions"]:
        if one["graph_id"]:
            graphs[one["graph_id"]] = None
    seen = list(graphs)
    for graph in seen:  # and all around and inside them
        _, info = tensorboard.get("/graphs/graph_info", f"{run}&graph_id={graph}")
        for other in [info["outer_graph_id"], *info["inner_graph_ids"]]:
            if other and other not in graphs:
                graphs[other] = None
                seen.append(other)
    for graph in [*graphs, "zz", "a_b"]:
        yield "/graphs/graph_info", f"{run}&graph_id={graph}"
    frames = []
    for graph, op in sorted(ops):
        query = f"{run}&graph_id={graph}&op_name={quote(op)}"
        yield "/graphs/op_info", query
        _, info = tensorboard.get("/graphs/op_info", query)
        frames += info["stack_frame_ids"]
        for other in [*info["inputs"], *(c for slot in info["consumers"] for c in slot)]:
            if (graph, other["op_name"]) not in ops:
                yield "/graphs/op_info", f"{run}&graph_id={graph}&op_name={quote(other['op_name'])}"
    yield "/graphs/op_info", f"{run}&graph_id={next(iter(graphs))}&op_name=zz"
    yield "/graphs/op_info", f"{run}&graph_id=zz&op_name=zz"
    for one in executions["executions"]:
        frames += one["stack_frame_ids"]
    yield "/source_files/list", run
    _, files = tensorboard.get("/source_files/list", run)
    for index in (*range(min(len(files), 400)), 9999, -1):
        yield "/source_files/file", f"{run}&index={index}"
    yield "/source_files/file", run
    frames = list(dict.fromkeys(frames))
    for at in range(0, len(frames), 40):
        yield "/stack_frames/stack_frames", f"{run}&stack_frame_ids={','.join(frames[at : at + 40])}"
    together = f"&stack_frame_ids={frames[0]}_{frames[-1]}"
    for ids in ("", "&stack_frame_ids=", "&stack_frame_ids=zz", f"&stack_frame_ids={frames[0]},zz", together, "&stack_frame_ids=a.b"):
        yield "/stack_frames/stack_frames", run + ids
    for path in ("/alerts", "/execution/digests", "/source_files/list"):
        yield path, ""
    for path in ("/source_files/file", "/stack_frames/stack_frames"):
        yield path, "run=zz"


def test_every_route(dump, monkeypatch):
    mode, folder = dump
    if mode == "FULL_TENSOR":
        from tensorflow.python.debug.lib.debug_events_monitors import InfNanMonitor

        monkeypatch.setattr(InfNanMonitor, "on_graph_execution_trace", lambda *_: None)
        monkeypatch.setattr(InfNanMonitor, "on_execution", lambda *_: None)
    tensorboard = TensorBoard(folder)
    wrong, asked = [], 0
    with Server(folder) as server:
        status, runs = ask(server, "/runs", "")
        assert (status, runs) == tensorboard.get("/runs", "")
        for path, query in questions(tensorboard, mode):
            asked += 1
            theirs, ours = tensorboard.get(path, query), ask(server, path, query)
            if theirs != ours and theirs[0] != 500:
                wrong.append(f"{path}?{query}\n  TensorBoard {json.dumps(theirs)[:600]}\n  Sonde       {json.dumps(ours)[:600]}")
        if mode == "FULL_TENSOR":
            assert ask(server, "/alerts", "run=__default_debugger_run__")[1]["num_alerts"] == whole_alerts(folder)
    print(f"{mode}: {asked} answers, {len(wrong)} differ")
    assert not wrong, f"{len(wrong)} of {asked}\n" + "\n".join(wrong[:12])


def whole_alerts(folder):
    """Outputs with a NaN or an infinity, counted by TensorFlow's reader."""
    import numpy as np
    from tensorflow.python.debug.lib import debug_events_reader

    from tensorflow.python.framework import dtypes, tensor_util

    def is_bad(proto):
        if not dtypes.as_dtype(proto.dtype).is_floating:
            return False
        return not np.isfinite(tensor_util.MakeNdarray(proto).astype(np.float64)).all()

    with debug_events_reader.DebugEventsReader(str(folder)) as reader:
        traces = [e.debug_event.graph_execution_trace for file in reader.graph_execution_traces_iterators() for e in file]
        executions = [e.debug_event.execution for e in reader.execution_iterator()]
        outputs = [t.tensor_proto for t in traces] + [p for e in executions for p in e.tensor_protos]
        return sum(map(is_bad, outputs))
