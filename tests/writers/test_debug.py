"""sonde.debug without any framework: what it writes is read by `sonde numerics`."""

import array
import json
import os
import subprocess

import sonde.debug
from sonde._tfdbg import DumpWriter, stats_of, user_stack


def test_a_dump_written_by_hand_names_the_op(tmp_path):
    writer = DumpWriter(str(tmp_path), "test")
    graph = writer.graph("program")
    writer.op(graph, "softmax", "p", [], user_stack())
    writer.op(graph, "log", "log", ["p:0"], user_stack())
    writer.trace(graph, "p", stats_of(array.array("f", [0, 0.25, 0.25, 0.5])), 7)
    writer.trace(graph, "log", stats_of(array.array("f", [float("-inf"), -1, -1, -0.5])), 7)
    writer.close()
    asked = subprocess.run([os.environ["SONDE_BINARY"], "numerics", "--json", str(tmp_path)], capture_output=True, text=True)
    answer = json.loads(asked.stdout)
    assert asked.returncode == 3
    assert (answer["op"], answer["step"], os.path.basename(answer["path"])) == ("log", 7, "test_debug.py")
    assert "from `p`, which reached 0.0" in answer["sentence"]


def test_tap_gives_back_what_it_got():
    assert sonde.debug.tap(3.0, "x") == 3.0
