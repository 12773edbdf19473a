"""The demo's loans: the group that its model never saw is the one the search for worst slices names."""

import os
import subprocess

from served import BINARY, Served


def test_the_worst_slice_of_the_demo_is_the_one_that_was_left_out(tmp_path):
    subprocess.run([BINARY, "demo", str(tmp_path / "logs")], check=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "s")}, stdout=subprocess.DEVNULL)
    with Served("--logdir", str(tmp_path / "logs"), state=tmp_path / "s") as server:
        at = f"whatif/{server.only_set()}"
        described = server.ask(at)[1]
        assert described["rows"] == 3000 and described["models"][0]["task"] == "binary" and len(described["models"][0]["steps"]) == 13
        worst = server.post("worst", {})["slices"][0]
        assert sorted(map(tuple, worst["conditions"])) == [("plan", "family"), ("region", "south")]
        assert worst["loss"][0] > 2 * worst["rest"]
        training = server.post("training", {"slices": ["region", "plan"]})
        lost = next(s for s in training["slices"] if s["name"] == "south, family")
        others = [s["loss"][-1] for s in training["slices"] if s is not lost]
        assert lost["loss"][-1] > max(others)
        assert training["never_learnt_count"] > 0
