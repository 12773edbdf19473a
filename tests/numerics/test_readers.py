"""TensorFlow's own reader opens what sonde.debug wrote, and sees the same as Sonde's server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from numerics_server import HERE, Server


@pytest.fixture(params=["torch_log_zero", "jax_log_zero"])
def recording(request, tmp_path):
    subprocess.run([sys.executable, str(HERE / "programs" / f"{request.param}.py"), str(tmp_path)], check=True)
    return tmp_path


def test_same_values(recording):
    from tensorflow.python.debug.lib import debug_events_monitors, debug_events_reader

    with debug_events_reader.DebugDataReader(str(recording)) as reader, Server(recording) as server:
        monitor = debug_events_monitors.InfNanMonitor(reader)
        reader.update()
        traces = [json.loads(json.dumps(t.to_json())) for t in reader.graph_execution_traces()]
        assert len(traces) > 20
        ours = server.get("graph_execution/data")["graph_executions"]
        assert ours == traces
        executions = [json.loads(json.dumps(e.to_json())) for e in reader.executions()]
        assert server.get("execution/data")["executions"] == executions
        alerts = server.get("alerts")
        assert alerts["num_alerts"] == len(monitor.alerts()) > 0
        assert [a["op_type"] for a in alerts["alerts"]] == [a.op_type for a in monitor.alerts()]
        files = [list(pair) for pair in reader.source_file_list()]
        assert server.get("source_files/list") == files
        for index, (host, path) in enumerate(files):
            assert server.get("source_files/file", index=index)["lines"] == reader.source_lines(host, path)
        digest = next(d for d in reader.graph_op_digests() if d.op_type == "log")
        host, frames = reader.read_graph_op_creation_stack_trace(digest)
        assert frames[-1][1] == next(
            n for n, line in enumerate(Path(frames[-1][0]).read_text().splitlines(), 1) if "FAULT" in line
        )
