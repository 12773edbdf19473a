"""sonde.profile: who asks gets a capture. torch is a stand-in here that notes what it is told; test_profile_live.py has the real one."""

import json
import signal
import subprocess
import sys
import types
from typing import ClassVar

import pytest
import sonde.profile
from sonde.profile import REQUEST_FILE, WATCH_FILE


class Profile:
    made: ClassVar[list] = []

    def __init__(self, schedule, on_trace_ready, **options):
        self.schedule, self.ready, self.options, self.steps, self.state = schedule, on_trace_ready, options, 0, "made"
        Profile.made.append(self)

    def start(self):
        self.state = "started"

    def step(self):
        self.steps += 1
        if self.steps == self.schedule["warmup"] + self.schedule["active"]:
            self.ready(self)

    def stop(self):
        self.state = "stopped"

    def export_chrome_trace(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("{}")


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    Profile.made = []
    profiler = types.SimpleNamespace(profile=Profile, schedule=lambda **given: given)
    module = types.ModuleType("torch")
    module.profiler = profiler
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(sonde.profile, "LOOK_S", 3600)  # the tests look themselves
    return profiler


def traces(folder):
    return sorted(p.name for p in folder.glob("*.pt.trace.json.gz"))


def sign(folder):
    return json.loads((folder / WATCH_FILE).read_text())


def run_steps(watcher, count):
    for _ in range(count):
        watcher.step()


def test_nothing_is_recorded_unasked(tmp_path):
    with sonde.profile.watch(tmp_path) as watcher:
        run_steps(watcher, 100)
        assert Profile.made == [] and sign(tmp_path)["state"] == "waiting"
    assert not (tmp_path / WATCH_FILE).exists()


def test_a_request_is_taken_once(tmp_path):
    with sonde.profile.watch(tmp_path, record_shapes=True) as watcher:
        sonde.profile.request(tmp_path, steps=3)
        watcher._look()
        assert not (tmp_path / REQUEST_FILE).exists()
        watcher.step()
        assert sign(tmp_path)["state"] == "recording"
        run_steps(watcher, 3)
        assert traces(tmp_path) == []
        watcher.step()
        made, = Profile.made
        assert made.schedule == {"wait": 0, "warmup": 1, "active": 3, "repeat": 1} and made.options == {"record_shapes": True}
        assert made.state == "stopped" and traces(tmp_path) == [sign(tmp_path)["last"]]
        assert sign(tmp_path)["captures"] == 1 and sign(tmp_path)["state"] == "waiting"
        watcher._look()
        run_steps(watcher, 10)
        assert len(Profile.made) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"steps": 0}', '{"steps": "x"}', '{"steps": 100000}', "\x00\x01"])
def test_nonsense_asks_for_the_usual_steps(text, tmp_path):
    with sonde.profile.watch(tmp_path, steps=2, warmup=0) as watcher:
        (tmp_path / REQUEST_FILE).write_text(text)
        watcher._look()
        run_steps(watcher, 3)
        assert Profile.made[0].schedule["active"] == 2 and len(traces(tmp_path)) == 1


def test_periodic_captures_are_kept_by_number(tmp_path):
    now = [0.0]
    watcher = sonde.profile.Watcher(tmp_path, 2, 0, 600.0, 3, {}, clock=lambda: now[0])
    with watcher:
        for _ in range(5):
            now[0] += 599
            watcher._look()
            run_steps(watcher, 5)
            before = traces(tmp_path)
            now[0] += 1
            watcher._look()
            run_steps(watcher, 5)
            assert len(set(traces(tmp_path)) - set(before)) == 1
        kept = traces(tmp_path)
        assert len(kept) == 3 and len(Profile.made) == 5
        watcher.capture(1)  # asked for: stays, and pushes nobody out
        run_steps(watcher, 3)
        assert set(kept) < set(traces(tmp_path))


def test_a_signal_asks(tmp_path):
    before = signal.getsignal(signal.SIGUSR2)
    try:
        with sonde.profile.watch(tmp_path, steps=1, on_signal=signal.SIGUSR2) as watcher:
            signal.raise_signal(signal.SIGUSR2)
            run_steps(watcher, 5)
            assert len(traces(tmp_path)) == 1
    finally:
        signal.signal(signal.SIGUSR2, before)


def test_a_profiler_that_fails_does_not_end_the_training(tmp_path, torch):
    def fails(**_):
        raise RuntimeError("another profiler is running")

    torch.profile = fails
    with sonde.profile.watch(tmp_path) as watcher:
        watcher.capture()
        with pytest.warns(UserWarning, match="another profiler"):
            run_steps(watcher, 3)
        assert "another profiler is running" in sign(tmp_path)["error"]
        torch.profile = Profile
        watcher.capture(1)
        run_steps(watcher, 3)
        assert len(traces(tmp_path)) == 1 and "error" not in sign(tmp_path)


def test_closing_ends_a_capture(tmp_path):
    watcher = sonde.profile.watch(tmp_path)
    watcher.capture(5)
    run_steps(watcher, 2)
    watcher.close()
    watcher.close()
    assert Profile.made[0].state == "stopped"


@pytest.mark.parametrize("given", [{"steps": 0}, {"steps": 1001}, {"every": "soon"}, {"every": 0}, {"keep": 0}, {"steps": True}])
def test_wrong_arguments(given, tmp_path):
    with pytest.raises(ValueError):
        sonde.profile.watch(tmp_path, **given)
    assert list(tmp_path.iterdir()) == []


def test_torch_is_not_imported_unless_used(tmp_path):
    code = "import sys, sonde.profile; w = sonde.profile.watch(sys.argv[1]); w.step(); w.close(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)
