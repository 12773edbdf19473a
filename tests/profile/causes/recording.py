"""What the generators share: a clock beside the profiler, and packing a capture with what the clock says.

A program calls `clock.step()` where a recorded step begins and wraps what is slow on purpose in `with clock.cause():`.
Where the cause is a way of working, the same work done right is timed and passed to `clock.instead_of(ms)`.
"""
import argparse
import contextlib
import functools
import gzip
import json
import os
import shutil
import statistics
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, '..', '..', 'data', 'profile', 'causes')


class Clock:
    def __init__(self):
        self.steps, self.caused, self.facts, self.began = [], [], {}, None

    def step(self):
        self.stop()
        self.began = time.perf_counter()
        self.caused.append(0.0)

    def stop(self):
        if self.began is not None:
            self.steps.append(1e3 * (time.perf_counter() - self.began))
        self.began = None

    def add(self, ms):
        if self.began is not None:
            self.caused[-1] += ms

    @contextlib.contextmanager
    def cause(self):
        start = time.perf_counter()
        yield
        self.add(1e3 * (time.perf_counter() - start))

    def instead_of(self, ms):
        self.facts['done_right_ms'] = round(ms, 3)
        self.caused = [max(0.0, s - ms) for s in self.steps]

    def numbers(self):
        period, cause = statistics.mean(self.steps), statistics.mean(self.caused)
        return {'period_ms': round(period, 3), 'cause_ms': round(cause, 3), 'share': round(cause / period, 4),
                'steps_ms': [round(x, 2) for x in self.steps], 'cause_steps_ms': [round(x, 2) for x in self.caused], **self.facts}


def busy(ms):
    until = time.perf_counter() + ms / 1e3
    while time.perf_counter() < until:
        pass


@functools.cache
def numbers_in_a_ms():
    start = time.perf_counter()
    sum(range(300000))
    return 300 / (time.perf_counter() - start)


def crunch(ms):
    """As busy(), in one call: a tracer of Python records one function and not thousands."""
    return sum(range(int(ms * numbers_in_a_ms())))


def each_call_ms(function, times=20):
    function()
    start = time.perf_counter()
    for _ in range(times):
        function()
    return 1e3 * (time.perf_counter() - start) / times


def captures(folder):
    found = []
    for where, _, names in os.walk(folder):
        found += [os.path.join(where, n) for n in names if n.endswith(('.xplane.pb', '.pt.trace.json'))]
    return sorted(found)


def hide_paths(data):
    """Paths of the machine, overwritten by others of the same length."""
    import site
    for path in sorted({HERE, *site.getsitepackages(), os.path.dirname(os.__file__)}, key=len, reverse=True):
        data = data.replace(path.encode(), (b'/program' + b'_' * len(path))[:len(path)])
    return data


def pack(name, folder, numbers):
    """Of each recorded file a gzip file: one, or a folder with one a rank."""
    os.makedirs(DATA, exist_ok=True)
    files = captures(folder)
    assert files, name
    shutil.rmtree(os.path.join(DATA, name), ignore_errors=True)
    for i, path in enumerate(files):
        kind = '.xplane.pb.gz' if path.endswith('.pb') else '.pt.trace.json.gz'
        to = os.path.join(DATA, name + kind)
        if len(files) > 1:
            os.makedirs(os.path.join(DATA, name), exist_ok=True)
            to = os.path.join(DATA, name, os.path.basename(path).split('.')[0] + f'.{i + 1}' + kind)
        with open(path, 'rb') as f:
            data = hide_paths(f.read())
        with open(to, 'wb') as f, gzip.GzipFile('', 'wb', 9, f, mtime=0) as z:
            z.write(data)
    listed = os.path.join(DATA, 'clocks.json')
    clocks = {}
    if os.path.exists(listed):
        with open(listed) as f:
            clocks = json.load(f)
    clocks[name] = numbers
    with open(listed, 'w') as f:
        f.write('{\n' + ',\n'.join(f'{json.dumps(k)}: {json.dumps(v)}' for k, v in sorted(clocks.items())) + '\n}\n')


class Programs:
    """The programs of a generator, by name. Of several tries the one whose steps vary least is kept."""

    def __init__(self):
        self.made = {}

    def __call__(self, tries=1):
        def take(function):
            self.made[function.__name__] = (function, tries)
            return function
        return take

    def main(self):
        parser = argparse.ArgumentParser()
        parser.add_argument('names', nargs='*')
        given = parser.parse_args()
        for name, (function, tries) in self.made.items():
            if given.names and name not in given.names:
                continue
            best = None
            for _ in range(tries):
                folder = tempfile.mkdtemp()
                numbers = function(folder).numbers()
                spread = statistics.pstdev(numbers['steps_ms']) / numbers['period_ms']
                if best is None or spread < best[0]:
                    best = (spread, folder, numbers)
            pack(name, best[1], best[2])
            print(name, {k: v for k, v in best[2].items() if not k.endswith('steps_ms')}, flush=True)
