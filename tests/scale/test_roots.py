"""Several log directories: --logdir given again, and patterns."""

from event_files import event_file
from sonde_server import Server


def make(folder, *runs):
    for run in runs:
        (folder / run).mkdir(parents=True)
        (folder / run / "events.out.tfevents.1").write_bytes(event_file(3))


def runs_of(*flags):
    with Server(list(flags)) as server:
        runs = sorted(server.json("/data/runs"))
        assert all(len(server.json(f"/data/plugin/scalars/scalars?run={run}&tag=loss")) == 3 for run in runs)
        return runs


def test_logdir_may_be_given_again(tmp_path):
    make(tmp_path / "one", "a", "b")
    make(tmp_path / "two", "a")
    assert runs_of("--logdir", str(tmp_path / "one"), "--logdir", str(tmp_path / "two")) == ["one/a", "one/b", "two/a"]
    assert runs_of("--logdir", str(tmp_path / "one"), "--logdir", str(tmp_path / "one")) == ["a", "b"]


def test_names_have_as_much_of_the_path_as_they_need(tmp_path):
    make(tmp_path / "x/logs", "a")
    make(tmp_path / "y/logs", "a")
    assert runs_of("--logdir", str(tmp_path / "x/logs"), "--logdir", str(tmp_path / "y/logs")) == ["x/logs/a", "y/logs/a"]


def test_a_pattern_names_the_folders_it_fits(tmp_path):
    make(tmp_path, "try-1/a", "try-2/a", "other/a")
    (tmp_path / "try-file").write_text("no folder")
    assert runs_of("--logdir", str(tmp_path / "try-*")) == ["try-1/a", "try-2/a"]
    assert runs_of("--logdir", str(tmp_path / "try-[2]")) == ["a"]
    make(tmp_path, "odd[1]/a")
    assert runs_of("--logdir", str(tmp_path / "odd[1]")) == ["a"]  # a folder of that name comes first
