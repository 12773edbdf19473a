"""sonde.init: what a run leaves on disk, also when its program is killed, forked, resumed or started many times."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sonde
from sonde import _console, _environment, _system
from sonde.table import file_of

KILLS = int(os.environ.get("SONDE_KILLS", "8"))


def start(tmp_path, **options):
    return sonde.init(dir=tmp_path, **{"system": False, "console": False, "code": False} | options)


def info(folder):
    return json.loads((Path(folder) / "sonde_run.json").read_text())


def rows(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_a_run_in_three_lines(tmp_path):
    run = start(tmp_path, project="p", name="first", config={"lr": 0.1, "model": {"depth": 3}})
    for i in range(5):
        run.log({"loss": 1 / (i + 1), "nested": {"acc": i}})
    run.finish()
    assert Path(run.dir) == tmp_path / "p" / "first"
    log = sonde.load(tmp_path / "p")
    assert list(log["first", "loss"].values) == [1 / (i + 1) for i in range(5)]
    assert list(log["first", "nested/acc"].steps) == [0, 1, 2, 3, 4]
    assert info(run.dir)["state"] == "finished"
    assert json.loads((tmp_path / "p/first/config.json").read_text()) == {"lr": 0.1, "model": {"depth": 3}}


def test_tensorboard_opens_it(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = start(tmp_path, name="a", config={"lr": 0.5})
    run.log({"loss": 2.0, "text": "hello", "image": np.zeros((4, 6, 3), "uint8"), "weights": np.arange(10.0)})
    run.finish()
    read = accumulator.EventAccumulator(run.dir)
    read.Reload()
    tags = read.Tags()["tensors"]
    assert {"text", "image", "weights"} <= set(tags)
    assert read.Tensors("image")[0].tensor_proto.string_val[:2] == [b"6", b"4"]
    assert "_hparams_/session_start_info" in read.summary_metadata


def test_kinds_of_values(tmp_path):
    with start(tmp_path, name="kinds") as run:
        run.log({"np": np.float32(1.5), "zero_d": np.array(2.0), "one": np.array([3.0]), "bool": True, "none": None}, step=7)
        run.log({"picture": sonde.Image(np.ones((2, 2)), caption="c"), "sound": sonde.Audio(np.zeros(100), 8000)}, step=8)
        run.log({"h": sonde.Histogram([1, 2, 3])}, step=9)
    log = sonde.load(tmp_path)
    assert [float(log["kinds", t].values[0]) for t in ("np", "zero_d", "one", "bool")] == [1.5, 2, 3, 1]
    assert {tag for _, tag in log} >= {"picture", "sound", "h"}


def test_what_cannot_be_logged_warns_once_and_loses_nothing_else(tmp_path):
    with start(tmp_path, name="odd") as run:
        with pytest.warns(RuntimeWarning, match="'bad' of type object"):
            run.log({"bad": object(), "good": 1.0})
        run.log({"bad": object(), "good": 2.0})
    assert list(sonde.load(tmp_path)["odd", "good"].values) == [1, 2]


def test_tables(tmp_path):
    with start(tmp_path, name="t") as run:
        table = sonde.Table(["prompt", "reward"], [["<b>hi</b>", 1.0], ["\u202eevil\x00", float("nan")]])
        table.add(prompt=[{"role": "user", "content": "hi"}], extra=sonde.Tokens(["a", "b"], logprob=[-1.0, -2.0]))
        table.add({"prompt": np.float64(3), "picture": sonde.Image(np.zeros((2, 2), "uint8"))})
        run.log({"val/samples": table}, step=5)
        run.log({"val/samples": sonde.Table(["prompt"], [["later"]])}, step=6)
    found = rows(tmp_path / "t/tables/val/samples.jsonl")
    assert [r["_step"] for r in found] == [5, 5, 5, 5, 6]
    assert found[1]["prompt"] == "\u202eevil\x00" and found[1]["reward"] == "NaN"
    assert found[2]["extra"] == {"_tokens": ["a", "b"], "values": {"logprob": [-1.0, -2.0]}}
    assert (tmp_path / "t" / found[3]["picture"]["_media"]).read_bytes().startswith(b"\x89PNG")


def test_tokens_need_a_value_each():
    with pytest.raises(ValueError, match="2 tokens, but 1 values of 'logprob'"):
        sonde.Tokens(["a", "b"], logprob=[1.0])


def test_table_names_stay_inside_the_run(tmp_path):
    for name in ("../../etc/passwd", "/abs", "a/../../b", "..", "", "a\x00b", "a\nb"):
        path = os.path.normpath(file_of(str(tmp_path), name))
        assert path.startswith(str(tmp_path / "tables")), name
        assert "\0" not in path


def test_half_a_line_of_a_killed_program_is_closed(tmp_path):
    with start(tmp_path, name="torn") as run:
        path = Path(run.table_file("t"))
        path.parent.mkdir(parents=True)
        path.write_text('{"_step":1,"a":1}\n{"_step":2,"a')
        run.log({"t": sonde.Table(["a"], [[3]])}, step=3)
    lines = path.read_text().splitlines()
    assert json.loads(lines[0])["a"] == 1 and json.loads(lines[2])["a"] == 3


def test_resume_by_id(tmp_path):
    run = start(tmp_path, id="abc", config={"lr": 1})
    for i in range(10):
        run.log({"loss": float(i)})
    run.finish()
    again = start(tmp_path, id="abc", resume="must", config={"extra": 2})
    assert again.step == 10
    assert dict(again.config) == {"lr": 1, "extra": 2}
    again.log({"loss": 10.0})
    again.finish()
    assert list(sonde.load(tmp_path)["abc", "loss"].steps) == list(range(11))
    assert len(info(tmp_path / "abc")["starts"]) == 2
    with pytest.raises(ValueError, match="no run 'nope'"):
        start(tmp_path, id="nope", resume="must")
    with pytest.raises(ValueError, match="exists"):
        start(tmp_path, id="abc", resume="never")


def test_equal_names_get_folders_of_their_own(tmp_path):
    names = []
    for _ in range(3):
        with start(tmp_path, name="same") as run:
            names.append(os.path.basename(run.dir))
    assert names == ["same", "same-2", "same-3"]


RANK = """
import sys, sonde
run = sonde.init(project="ddp", name="job", dir=sys.argv[1], system=False, code=False)
print("from rank", run.rank)
run.log({"loss": float(run.rank)})
run.finish()
"""


def test_ranks_share_a_run(tmp_path):
    for _ in range(2):
        port = str(random.randrange(20000, 60000))
        children = [
            subprocess.Popen(
                [sys.executable, "-c", RANK, str(tmp_path)],
                env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
                stdout=subprocess.DEVNULL,
            )
            for rank in (2, 1, 0)
        ]
        assert [c.wait(60) for c in children] == [0, 0, 0]
    for job in ("job", "job-2"):
        folder = tmp_path / "ddp" / job
        log = sonde.load(folder)
        assert {float(log[r, "loss"].values[0]) for r in (".", "rank_1", "rank_2")} == {0, 1, 2}
        assert "\te0" not in (folder / "console.log").read_text()
        assert "\to2\tfrom rank 2" in (folder / "rank_2/console.log").read_text()


VICTIM = """
import sys, sonde
run = sonde.init(name="v", dir=sys.argv[1], system=False, code=False, config={"a": 1})
step = 0
while True:
    run.log({"loss": float(step), "t": sonde.Table(["n"], [[step]])}, step=step)
    step += 1
    if step % 50 == 0:
        run.flush()
        print("said", step, flush=True)
"""


def test_kill_9_loses_nothing_that_was_flushed(tmp_path):
    rng = random.Random(2)
    for kill in range(KILLS):
        child = subprocess.Popen([sys.executable, "-c", VICTIM, str(tmp_path / str(kill))], stdout=subprocess.PIPE, text=True)
        child.stdout.readline()
        time.sleep(rng.random() * 0.05)
        child.send_signal(signal.SIGKILL)
        whole = [line for line in child.communicate()[0].splitlines(keepends=True) if line.endswith("\n")]
        said = [int(line.split()[1]) for line in whole if line.startswith("said ")]
        promised = said[-1] if said else 50
        folder = tmp_path / str(kill) / "v"
        steps = list(sonde.load(folder)[".", "loss"].steps)
        assert steps == list(range(len(steps))) and len(steps) >= promised
        lines = (folder / "tables/t.jsonl").read_bytes().split(b"\n")
        assert [json.loads(line)["n"] for line in lines[:-1]] == list(range(len(lines) - 1)) and len(lines) > promised
        assert f"\to0\tsaid {promised}" in (folder / "console.log").read_text()
    with start(tmp_path / "0", id="v", resume="must") as again:
        assert again.step == len(sonde.load(tmp_path / "0")["v", "loss"].steps) >= 50


def test_an_exception_marks_the_run_as_failed(tmp_path):
    code = f"import sonde\nrun = sonde.init(name='x', dir={str(tmp_path)!r}, system=False, code=False)\nrun.log({{'a': 1.0}})\nraise ValueError('boom')\n"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "ValueError: boom" in ended.stderr
    assert info(tmp_path / "x")["state"] == "failed" and info(tmp_path / "x")["error"] == "ValueError: boom"
    assert "ValueError: boom" in (tmp_path / "x/console.log").read_text()


def test_a_program_that_forgets_finish(tmp_path):
    code = f"import sonde\nsonde.init(name='x', dir={str(tmp_path)!r}, system=False, code=False)\nsonde.log({{'a': 1.0}})\n"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert info(tmp_path / "x")["state"] == "finished"
    assert list(sonde.load(tmp_path)["x", "a"].values) == [1]


def test_over_an_existing_writer(tmp_path):
    writer = sonde.SummaryWriter(str(tmp_path / "w"))
    run = sonde.Run(writer=writer, config={"lr": 2}, system=False, console=False, code=False)
    writer.add_scalar("a", 1.0, 0)
    run.log({"b": 2.0}, step=0)
    run.finish()
    writer.close()
    log = sonde.load(tmp_path)
    assert list(log["w", "a"].values) == [1] and list(log["w", "b"].values) == [2]


def test_disabled(tmp_path, monkeypatch):
    monkeypatch.setenv("SONDE_MODE", "disabled")
    run = sonde.init(dir=tmp_path, config={"a": 1})
    run.log({"x": 1})
    run.finish()
    assert run.config.a == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("--api-key=abcd1234", "abcd1234"),
        ("https://user:hunter2@host/repo.git", "hunter2"),
        ("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwx", "hf_abcdefghijklmnopqrstuvwx"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "MIIB"),
        ('"password": "pa55word"', "pa55word"),
    ],
)
def test_secrets_are_masked_in_text(text, hidden):
    assert hidden not in _environment.masked_text(text) and "***" in _environment.masked_text(text)


def test_secrets_are_masked_in_config_command_and_environment(monkeypatch):
    config = {"api_key": "x1", "num_tokens": 5, "max_token_length": "7", "nested": [{"password": "x2"}], "key": "x3", "monkey": "ok"}
    masked = _environment.masked(config)
    assert masked["num_tokens"] == 5 and masked["max_token_length"] == "7" and masked["monkey"] == "ok"
    assert not any(x in json.dumps(masked) for x in ("x1", "x2", "x3"))
    assert _environment.masked_command(["p", "--token", "abc", "--lr", "1", "--secret=x"]) == ["p", "--token", "***", "--lr", "1", "--secret=***"]
    monkeypatch.setenv("SONDE_TOKEN", "shh")
    monkeypatch.setenv("MY_PRIVATE_THING", "shh2")
    assert "shh" not in json.dumps(_environment.describe()["variables"])


def test_git_commit_and_diff(tmp_path, monkeypatch):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "a.py").write_text("x = 1\n")
    git("add", "a.py")
    git("commit", "-qm", "first")
    (tmp_path / "a.py").write_text("x = 2\napi_key = 'abcdefgh'\n")
    monkeypatch.chdir(tmp_path)
    with start(tmp_path / "runs", name="g", code=True) as run:
        pass
    assert len(info(run.dir)["git"]["commit"]) == 40 and info(run.dir)["git"]["dirty"]
    diff = (Path(run.dir) / "git.diff").read_text()
    assert "+x = 2" in diff and "abcdefgh" not in diff


def test_console_records(tmp_path):
    file = _console.ConsoleFile(str(tmp_path / "console.log"), 3)
    file.write("o", "one\ntw")
    file.write("e", "oops\n")
    file.write("o", "o\n\x1b[31mred\x1b[0m\x00\u202e\n")
    file.write("o", "\r 10%\r 20%\r 30%\n")
    file.write("o", "x" * (_console.MAX_RECORD + 5) + "\n")
    file.close()
    found = [line.split("\t", 2)[1:] for line in (tmp_path / "console.log").read_text().split("\n")[:-1]]
    assert found[:4] == [["o3", "one"], ["e3", "oops"], ["o3", "two"], ["o3", "\x1b[31mred\x1b[0m\x00\u202e"]]
    assert found[4:6] == [["o3r", " 10%"], ["o3", " 30%"]]
    assert [f[0] for f in found[6:]] == ["o3+", "o3"] and len(found[6][1]) == _console.MAX_RECORD


def test_console_goes_on_after_the_run(tmp_path, capsys):
    with start(tmp_path, name="c", console=True):
        kept = sys.stdout
        print("inside")
    print("outside", file=kept)
    text = (tmp_path / "c/console.log").read_text()
    assert "inside" in text and "outside" not in text
    assert capsys.readouterr().out == "inside\noutside\n"


def test_system_metrics(tmp_path):
    sampler = _system.Sampler(str(tmp_path))
    sampler.sample()
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        pass
    sample = sampler.sample()
    assert {"system/cpu_percent", "system/memory_percent", "system/process/memory_bytes", "system/disk/free_bytes"} <= set(sample)
    assert 0 <= sample["system/cpu_percent"] <= 100 and 0 < sample["system/memory_percent"] < 100
    assert sample["system/process/cpu_percent"] > 0
    sampler.close()


def test_system_metrics_are_curves_of_the_run(tmp_path):
    with start(tmp_path, name="s", system=0.05) as run:
        time.sleep(0.4)
        run.log({"loss": 1.0})
    assert len(sonde.load(tmp_path)["s", "system/memory_percent"].values) >= 2


def test_a_full_disk_does_not_end_the_training(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with start(tmp_path, name="f") as run:
        path = Path(run.table_file("t"))
        path.parent.mkdir(parents=True)
        path.symlink_to("/dev/full")
        with pytest.warns(RuntimeWarning, match="not logged"):
            run.log({"t": sonde.Table(["a"], [[1]]), "x": 1.0})
    assert list(sonde.load(tmp_path)["f", "x"].values) == [1]


FORKS = """
import os, sys, sonde
run = sonde.init(name="f", dir=sys.argv[1], system=0.05, code=False)
run.log({"loss": 1.0}, step=0)
children = []
for k in range(3):
    child = os.fork()
    if child == 0:
        print("child", k)
        run.log({f"worker/{k}": float(k)}, step=0)
        run.flush()
        run.finish()          # the parent's business: does nothing here
        os._exit(0)
    children.append(child)
assert all(os.waitpid(c, 0)[1] == 0 for c in children)
run.log({"loss": 0.5}, step=1)
run.finish()
"""


def test_forked_workers_log_too(tmp_path):
    subprocess.run([sys.executable, "-c", FORKS, str(tmp_path)], check=True, timeout=60, stdout=subprocess.DEVNULL)
    log = sonde.load(tmp_path)
    assert list(log["f", "loss"].values) == [1, 0.5]
    assert [float(log["f", f"worker/{k}"].values[0]) for k in range(3)] == [0, 1, 2]
    assert info(tmp_path / "f")["state"] == "finished"
    assert (tmp_path / "f/console.log").read_text().count("child") == 3
