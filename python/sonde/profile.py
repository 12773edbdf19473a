"""Captures of a PyTorch program on request, while it trains.

    profiler = sonde.profile.watch("runs/first")        # the run's folder
    for batch in data:
        train(batch)
        profiler.step()                                 # next to nothing while nobody asks

Sonde's Capture dialog then lists the run and asks it for some steps, by a small file in the run's folder; so does
`sonde.profile.request("runs/first", steps=5)` from anywhere, or a signal:

    sonde.profile.watch("runs/first", on_signal=signal.SIGUSR2)

    sonde.profile.watch("runs/first", every="10m", steps=2, keep=10)    # two steps every ten minutes, the last ten kept

The capture is torch.profiler's own, written into the run's folder. torch is imported at the first capture. Of a
distributed program each rank needs a folder of its own, or only one rank watches.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import socket
import sys
import threading
import time
import warnings

TYPE_CHECKING = False  # importing typing would be most of this module's import time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Watcher", "request", "watch"]

WATCH_FILE = "sonde_profile.json"
REQUEST_FILE = "sonde_profile.request"
MOST_STEPS = 1000
LOOK_S = 1.0  # between two looks at the folder
SIGN_S = 15.0  # between two signs of life: a watcher without one for a minute is taken for dead


def _seconds(text: str | float | None) -> float | None:
    """600, "600", "10m", "1.5h" -> seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", str(text))
    if not found or float(found[1]) <= 0:
        raise ValueError(f"every={text!r} is no time; write seconds, or '30s', '10m', '1h'")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _count(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 1 to {most}, not {value!r}")
    return value


def _replace(path: str, content: str) -> None:
    """A reader sees the old file or the new one, never a part."""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(temporary, path)


def request(folder: Any, steps: int = 5) -> None:
    """Asks the program that watches `folder` to record so many steps."""
    _replace(os.path.join(os.fspath(folder), REQUEST_FILE), json.dumps({"steps": _count("steps", steps, MOST_STEPS)}) + "\n")


class Watcher:
    """What watch() gives. step() and close() belong to the thread that trains."""

    def __init__(self, folder: Any, steps: int, warmup: int, every: float | None, keep: int, options: dict[str, Any],
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = os.fspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        self._steps, self._warmup, self._every, self._keep, self._options, self._clock = steps, warmup, every, keep, options, clock
        # Steps that somebody waits for. Without a lock, which a signal handler could not take: who asks twice at
        # the same moment gets one capture.
        self._wanted = 0
        self._is_periodic = False
        self._next = clock() + every if every else None
        self._profile: Any = None
        self._left = 0
        self._recording_periodic = False
        self._written: list[str] = []  # of the periodic captures, oldest first
        self._captures, self._last, self._error = 0, "", ""
        self._signed = -SIGN_S
        self._stop = threading.Event()
        self._sign("waiting")
        self._thread = threading.Thread(target=self._watch, name="sonde-profile", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    # The thread that watches: it only notes what is wanted.

    def _watch(self) -> None:
        while not self._stop.wait(LOOK_S):
            self._look()

    def _look(self) -> None:
        steps = self._take_request()
        if steps:
            self.capture(steps)
        now = self._clock()
        if self._next is not None and now >= self._next:
            self._next = now + (self._every or 0)
            if not self._wanted:
                self._is_periodic, self._wanted = True, self._steps
        if now - self._signed >= SIGN_S:
            self._sign("recording" if self._profile is not None else "waiting")

    def _take_request(self) -> int:
        path = os.path.join(self.folder, REQUEST_FILE)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(4096)
            os.unlink(path)
        except OSError:
            return 0
        try:
            asked = json.loads(text or "{}")
            return _count("steps", asked.get("steps", self._steps), MOST_STEPS)
        except (ValueError, AttributeError):
            return self._steps  # touched by hand, or nonsense: somebody wants a capture

    def _sign(self, state: str) -> None:
        self._signed = self._clock()
        content = {"state": state, "host": socket.gethostname(), "pid": os.getpid(), "captures": self._captures, "last": self._last}
        if self._error:
            content["error"] = self._error
        try:
            _replace(os.path.join(self.folder, WATCH_FILE), json.dumps(content) + "\n")
        except OSError:
            pass  # a full disk is no reason to end a training

    # The thread that trains: it records.

    def capture(self, steps: int | None = None) -> None:
        """Records from the next step() on. Safe to call from anywhere, a signal handler too."""
        self._is_periodic, self._wanted = False, _count("steps", steps or self._steps, MOST_STEPS)

    def step(self) -> None:
        """Says that a training step is over."""
        if self._profile is not None:
            self._advance()
        elif self._wanted:
            steps, self._wanted, self._recording_periodic = self._wanted, 0, self._is_periodic
            self._guarded(lambda: self._begin(steps))

    def _begin(self, steps: int) -> None:
        from torch import profiler

        schedule = profiler.schedule(wait=0, warmup=self._warmup, active=steps, repeat=1)
        made = profiler.profile(schedule=schedule, on_trace_ready=self._write, **self._options)
        self._error = ""
        made.start()
        self._profile, self._left = made, self._warmup + steps
        self._sign("recording")

    def _advance(self) -> None:
        self._left -= 1
        if self._left > 0:
            self._guarded(self._profile.step)
        else:
            self._end()

    def _end(self) -> None:
        made, self._profile = self._profile, None
        self._guarded(made.step)  # the last step is complete, and torch hands the trace over
        self._guarded(made.stop)
        self._sign("waiting")

    def _write(self, made: Any) -> None:
        name = f"{socket.gethostname()}_{os.getpid()}.{time.time_ns()}.pt.trace.json.gz"
        part, path = os.path.join(self.folder, f".{name}.part.gz"), os.path.join(self.folder, name)
        made.export_chrome_trace(part)
        os.replace(part, path)
        self._captures, self._last = self._captures + 1, name
        if self._recording_periodic:
            self._written.append(path)
            while len(self._written) > self._keep:
                try:
                    os.unlink(self._written.pop(0))
                except OSError:
                    pass  # removed by somebody else

    def _guarded(self, call: Callable[[], Any]) -> None:
        """A capture that fails must not end a training: it warns, and the page says why."""
        try:
            call()
        except Exception as problem:
            self._error = f"{type(problem).__name__}: {problem}"
            self._profile = None
            warnings.warn(f"sonde.profile: no capture: {self._error}", stacklevel=3)
            self._sign("waiting")

    def close(self) -> None:
        """Writes a capture under way as far as it is, and watches no more."""
        if self._stop.is_set():
            return
        self._stop.set()
        atexit.unregister(self.close)
        self._thread.join()
        if self._profile is not None:
            made, self._profile = self._profile, None
            self._guarded(made.stop)
        try:
            os.unlink(os.path.join(self.folder, WATCH_FILE))
        except OSError:
            pass

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def watch(folder: Any, *, steps: int = 5, warmup: int = 1, every: str | float | None = None, keep: int = 10,
          on_signal: int | None = None, **options: Any) -> Watcher:
    """Watches a run's folder for requests; call step() of what this gives once a training step.

    steps      how many steps a capture has when nobody says
    warmup     steps before them in which the profiler starts up; they are not recorded
    every      also record without being asked: seconds, or "10m"
    keep       so many of those captures stay, of this process; asked ones always stay
    on_signal  also record on this signal, for example signal.SIGUSR2 (main thread only)
    options    of torch.profiler.profile: record_shapes, profile_memory, with_stack, activities …
    """
    watcher = Watcher(folder, _count("steps", steps, MOST_STEPS), _count("warmup", warmup, MOST_STEPS) if warmup else 0,
                      _seconds(every), _count("keep", keep, sys.maxsize), options)
    if on_signal is not None:
        signal.signal(on_signal, lambda *_: watcher.capture())
    return watcher
