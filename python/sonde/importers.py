"""Files of other trackers as event files: wandb (offline), MLflow (SQLite and mlruns), Trackio, Optuna, CSV, JSON lines,
Hugging Face's trainer_state.json.

    python -m sonde import wandb/ logs             # everything below a folder, or one file
    sonde.importers.import_runs("mlflow.db", "logs")

Each run becomes a folder of the log directory with an event file, config.json and, where there is any, console.log. Nothing
of the other tracker is needed; what cannot be read is skipped and said.
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import re
import sqlite3
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from . import _environment, _sonde

__all__ = ["ImportedRun", "import_runs", "read"]

_MAX_BYTES = 4 << 30
_MAX_DEPTH = 12


@dataclass
class ImportedRun:
    """One run of another tracker."""

    name: str
    source: str
    config: dict[str, Any] = field(default_factory=dict)
    points: list[tuple[float, int, dict[str, float]]] = field(default_factory=list)  # wall time, step, values
    texts: list[tuple[float, int, str, str]] = field(default_factory=list)  # wall time, step, tag, text
    console: list[tuple[float, str, str]] = field(default_factory=list)  # wall time, "o" or "e", text
    state: str = "finished"

    def add(self, wall: float, step: int, values: dict[str, Any]) -> None:
        """Keeps the numbers of a nested dict, tags joined by '/'; texts are kept as text."""
        numbers: dict[str, float] = {}
        for tag, value in _flat(values):
            if isinstance(value, (bool, int, float)):
                numbers[tag] = float(value)
            elif value in ("NaN", "Infinity", "-Infinity"):
                numbers[tag] = float(value.replace("Infinity", "inf"))
            elif isinstance(value, str):
                self.texts.append((wall, step, tag, value))
        if numbers:
            self.points.append((wall, step, numbers))


def _flat(values: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            if "_type" not in value and depth < _MAX_DEPTH:  # wandb's media have a type and stay out
                yield from _flat(value, f"{prefix}{name}/", depth + 1)
        else:
            yield f"{prefix}{name}", value


def _loads(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return None


# wandb: a file of framed protobuf records (blocks of 32 KiB, as LevelDB's log)

_BLOCK = 32768


def _frames(data: bytes) -> Iterator[bytes]:
    if data[:4] != b":W&B":
        raise ValueError("not a .wandb file")
    at, part = 7, b""
    while at + 7 <= len(data):
        left = _BLOCK - at % _BLOCK
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        at += 7
        if kind == 0 and length == 0:  # padding
            at += left - 7
            continue
        chunk = data[at : at + length]
        if len(chunk) < length or kind > 4:
            return  # the program was killed while it wrote, or something else wrote here
        at += length
        part = chunk if kind in (1, 2) else part + chunk
        if kind in (1, 4):
            yield part
            part = b""


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Fields of a protobuf message; ends where it stops making sense."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while at < len(data) and shift < 70:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise ValueError

    with contextlib.suppress(ValueError):
        while at < len(data):
            key = varint()
            if key & 7 == 0:
                yield key >> 3, varint()
            elif key & 7 == 2:
                size = varint()
                if size > len(data) - at:
                    return
                yield key >> 3, data[at : at + size]
                at += size
            elif key & 7 in (1, 5):
                size = 8 if key & 7 == 1 else 4
                yield key >> 3, data[at : at + size]
                at += size
            else:
                return


def _bytes(message: bytes, number: int) -> Iterator[bytes]:
    for found, value in _fields(message):
        if found == number and isinstance(value, bytes):
            yield value


def _text(message: bytes, number: int) -> str:
    return next((v.decode("utf-8", "replace") for v in _bytes(message, number)), "")


def _items(record: bytes, number: int) -> dict[str, Any]:
    """key or nested_key → value_json of the items in a record."""
    out: dict[str, Any] = {}
    for item in _bytes(record, number):
        path = [k.decode("utf-8", "replace") for k in _bytes(item, 2)] or [_text(item, 1)]
        place = out
        for name in path[:-1]:
            deeper = place.setdefault(name, {})
            if not isinstance(deeper, dict):
                break
            place = deeper
        place[path[-1]] = _loads(_text(item, 16))
    return out


def _read_wandb(path: str) -> Iterator[ImportedRun]:
    run = ImportedRun(os.path.splitext(os.path.basename(path))[0].removeprefix("run-"), path, state="running")
    project = ""
    with open(path, "rb") as file:
        data = file.read(_MAX_BYTES)
    for frame in _frames(data):
        for number, record in _fields(frame):
            if not isinstance(record, bytes):
                continue
            if number == 17:  # the run
                run.name = _text(record, 8) or _text(record, 1) or run.name
                project = _text(record, 3)
                for config in _bytes(record, 4):
                    run.config.update(_items(config, 1))
            elif number == 5:
                run.config.update(_items(record, 1))
            elif number == 2:
                values = _items(record, 1)
                step = values.pop("_step", None)
                if step is None:
                    step = next((n for s in _bytes(record, 2) for f, n in _fields(s) if f == 1 and isinstance(n, int)), 0)
                wall = float(values.pop("_timestamp", 0) or 0)
                run.add(wall, int(step), {k: v for k, v in values.items() if not k.startswith("_")})
            elif number == 7:
                seconds = next((n for t in _bytes(record, 2) for f, n in _fields(t) if f == 1 and isinstance(n, int)), 0)
                stats = _items(record, 3)
                run.add(float(seconds), int(seconds), {f"system/{k.removeprefix('system.')}": v for k, v in stats.items()})
            elif number == 13:
                seconds = next((n for t in _bytes(record, 2) for f, n in _fields(t) if f == 1 and isinstance(n, int)), 0)
                kind = next((n for f, n in _fields(record) if f == 1 and isinstance(n, int)), 0)
                run.console.append((float(seconds), "o" if kind == 1 else "e", _text(record, 3)))
            elif number == 18:
                code = next((n for f, n in _fields(record) if f == 1 and isinstance(n, int)), 0)
                run.state = "failed" if code else "finished"
    run.config.pop("_wandb", None)
    run.name = f"{project}/{run.name}" if project else run.name
    yield run


# SQLite: MLflow, Trackio, Optuna


def _read_sqlite(path: str) -> Iterator[ImportedRun]:
    base = sqlite3.connect(f"file:{os.path.abspath(path).replace('?', '%3f').replace('#', '%23')}?mode=ro", uri=True)
    base.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        tables = {row[0] for row in base.execute("select name from sqlite_master where type = 'table'")}
        if {"experiments", "runs", "metrics"} <= tables:
            yield from _mlflow_runs(base, path)
        elif {"metrics", "configs"} <= tables:
            yield from _trackio_runs(base, path)
        elif {"studies", "trials"} <= tables:
            yield from _optuna_trials(base, path)
        else:
            raise ValueError("a SQLite file of no tracker that Sonde knows (MLflow, Trackio, Optuna)")
    finally:
        base.close()


def _number(text: str) -> Any:
    value = _loads(text)
    return value if isinstance(value, (int, float, bool)) else text


def _mlflow_runs(base: sqlite3.Connection, path: str) -> Iterator[ImportedRun]:
    found = base.execute("select run_uuid, r.name, e.name, status from runs r join experiments e using (experiment_id) order by start_time").fetchall()
    for uuid, name, experiment, status in found:
        run = ImportedRun(f"{experiment}/{name or uuid}", path, state={"FAILED": "failed", "KILLED": "failed", "RUNNING": "running"}.get(status, "finished"))
        run.config = {key: _number(value) for key, value in base.execute("select key, value from params where run_uuid = ?", (uuid,))}
        rows = base.execute("select key, value, timestamp, step, is_nan from metrics where run_uuid = ? order by step, timestamp", (uuid,))
        for key, value, timestamp, step, is_nan in rows:
            run.add(timestamp / 1000, step, {key: math.nan if is_nan else value})
        yield run


def _seconds(text: Any) -> float:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _trackio_runs(base: sqlite3.Connection, path: str) -> Iterator[ImportedRun]:
    project = os.path.splitext(os.path.basename(path))[0]
    runs: dict[str, ImportedRun] = {}
    columns = {row[1] for row in base.execute("pragma table_info(metrics)")}
    key = "run_id" if "run_id" in columns else "run_name"
    for run_id, name, timestamp, step, metrics in base.execute(f"select {key}, run_name, timestamp, step, metrics from metrics order by id"):
        run = runs.setdefault(run_id, ImportedRun(f"{project}/{name}", path))
        values = _loads(metrics)
        if isinstance(values, dict):
            run.add(_seconds(timestamp), int(step), values)
    for run_id, config in base.execute(f"select {key}, config from configs"):
        values = _loads(config)
        if run_id in runs and isinstance(values, dict):
            runs[run_id].config = {k: v for k, v in values.items() if not k.startswith("_")}
    yield from runs.values()


def _optuna_trials(base: sqlite3.Connection, path: str) -> Iterator[ImportedRun]:
    rows = base.execute("select trial_id, number, study_name, state, datetime_start, datetime_complete from trials join studies using (study_id) order by trial_id").fetchall()
    for trial, number, study, state, start, end in rows:
        run = ImportedRun(f"{study}/trial-{number}", path, state={"FAIL": "failed", "RUNNING": "running"}.get(state, "finished"))
        for name, value, distribution in base.execute("select param_name, param_value, distribution_json from trial_params where trial_id = ?", (trial,)):
            made = _loads(distribution) or {}
            choices = made.get("attributes", {}).get("choices")
            if choices and value is not None and 0 <= int(value) < len(choices):
                run.config[name] = choices[int(value)]
            else:
                run.config[name] = int(value) if "Int" in made.get("name", "") and value is not None else value
        for step, value in base.execute("select step, intermediate_value from trial_intermediate_values where trial_id = ? order by step", (trial,)):
            if value is not None:
                run.add(_seconds(start), int(step), {"intermediate_value": value})
        for objective, value in base.execute("select objective, value from trial_values where trial_id = ? order by objective", (trial,)):
            if value is not None:
                run.add(_seconds(end or start), 0, {"value" if objective == 0 else f"value_{objective}": value})
        yield run


# Plain files


def _read_mlruns(folder: str) -> Iterator[ImportedRun]:
    """One run of MLflow's file store: a folder with metrics/, params/ and meta.yaml."""

    def files(below: str) -> Iterator[tuple[str, str]]:
        root = os.path.join(folder, below)
        for at, _, names in os.walk(root):
            for name in sorted(names):
                path = os.path.join(at, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield os.path.relpath(path, root), file.read(64 << 20)

    def meta(path: str, name: str) -> str:
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(f"{name}:"):
                    return line.split(":", 1)[1].strip().strip("'\"")
        return ""

    name = meta(os.path.join(folder, "meta.yaml"), "run_name") or os.path.basename(folder)
    experiment = meta(os.path.join(os.path.dirname(folder), "meta.yaml"), "name")
    run = ImportedRun(f"{experiment}/{name}" if experiment else name, folder)
    run.config = {key: _number(text.strip()) for key, text in files("params")}
    for tag, text in files("metrics"):
        for line in text.splitlines():
            parts = line.split()
            with contextlib.suppress(ValueError, IndexError):
                run.add(float(parts[0]) / 1000, int(parts[2]) if len(parts) > 2 else 0, {tag: float(parts[1])})
    yield run


_STEPS = ("step", "_step", "global_step", "Step", "iteration", "epoch")


def _rows_run(path: str, rows: Iterator[dict[str, Any]]) -> ImportedRun:
    run = ImportedRun(os.path.splitext(os.path.relpath(path))[0].replace("..", "").strip("/"), path)
    for index, row in enumerate(rows):
        step = next((row[n] for n in _STEPS if isinstance(row.get(n), (int, float)) and math.isfinite(row[n])), index)
        wall = next((row[n] for n in ("_timestamp", "timestamp", "wall_time", "time", "_time") if isinstance(row.get(n), (int, float))), 0)
        run.add(float(wall), int(step), {k: v for k, v in row.items() if k not in (*_STEPS[:5], "_timestamp", "timestamp", "wall_time")})
    return run


def _read_csv(path: str) -> Iterator[ImportedRun]:
    def rows() -> Iterator[dict[str, Any]]:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            for row in csv.DictReader(file):
                yield {k: _real(v) for k, v in row.items() if k is not None and v not in (None, "")}

    yield _rows_run(path, rows())


def _real(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _read_jsonl(path: str) -> Iterator[ImportedRun]:
    def rows() -> Iterator[dict[str, Any]]:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                row = _loads(line)
                if isinstance(row, dict):
                    yield row

    yield _rows_run(path, rows())


def _read_trainer_state(path: str) -> Iterator[ImportedRun]:
    with open(path, encoding="utf-8", errors="replace") as file:
        state = _loads(file.read(1 << 30))
    if not isinstance(state, dict) or not isinstance(state.get("log_history"), list):
        raise ValueError("no log_history in it")
    run = ImportedRun(os.path.basename(os.path.dirname(os.path.abspath(path))), path)
    for row in state["log_history"]:
        if isinstance(row, dict):
            named = {(f"eval/{k[5:]}" if k.startswith("eval_") else f"train/{k}"): v for k, v in row.items() if k != "step"}
            run.add(0.0, int(row.get("step") or 0), named)
    yield run


def _reader(path: str) -> Any:
    name = os.path.basename(path)
    if name.endswith(".wandb"):
        return _read_wandb
    if name == "trainer_state.json":
        return _read_trainer_state
    if name.endswith((".db", ".sqlite", ".sqlite3")):
        return _read_sqlite
    if name.endswith(".csv"):
        return _read_csv
    return _read_jsonl if name.endswith(".jsonl") else None


def read(source: str | os.PathLike[str], problems: list[str] | None = None) -> Iterator[ImportedRun]:
    """Runs of a file, or of every file below a folder that a tracker wrote. What cannot be read is added to `problems`."""
    source = os.fspath(source)
    problems = [] if problems is None else problems
    jobs: list[tuple[Any, str]] = []
    if os.path.isfile(source):
        reader = _reader(source)
        if reader is None:
            raise ValueError(f"{source}: not a file of a tracker that Sonde knows")
        jobs.append((reader, source))
    elif os.path.isdir(source):
        for folder, folders, names in os.walk(source):
            folders.sort()
            if "meta.yaml" in names and "metrics" in folders:
                jobs.append((_read_mlruns, folder))
                folders.clear()
                continue
            jobs += [(r, os.path.join(folder, n)) for n in sorted(names) if (r := _reader(n)) is not None]
    else:
        raise FileNotFoundError(f"there is no {source}")
    for reader, path in jobs:
        try:
            yield from reader(path)
        except (OSError, ValueError, sqlite3.Error, csv.Error, TypeError, KeyError) as error:
            problems.append(f"{path}: {error}")


def _folder_of(name: str) -> str:
    parts = [re.sub(r"[^\w.+=@, -]+", "_", part).strip(" .") for part in name.split("/")]
    return os.path.join(*[p for p in parts if p] or ["run"])


def import_runs(source: str | os.PathLike[str], logdir: str | os.PathLike[str], problems: list[str] | None = None) -> list[str]:
    """Writes event files of everything in `source` below `logdir`; the folders it made."""
    made: list[str] = []
    for run in read(source, problems):
        if not run.points and not run.texts and not run.config:
            continue
        base = folder = os.path.join(os.fspath(logdir), _folder_of(run.name))
        number = 1
        while os.path.exists(os.path.join(folder, "sonde_run.json")):  # the folder alone may hold other runs
            number += 1
            folder = f"{base}-{number}"
        os.makedirs(folder, exist_ok=True)
        _write(run, folder)
        made.append(folder)
    return made


def _write(run: ImportedRun, folder: str) -> None:
    from .hparams import hparams_pb, session_end_pb
    from .run import _flat as flat_config
    from .run import _json, _text
    from .table import plain

    config = plain(_environment.masked(run.config), folder)
    with _sonde.Writer(folder) as writer:
        if config:
            writer.add(hparams_pb(flat_config(config), trial_id=run.name), 0, run.points[0][0] if run.points else None)
        for wall, step, values in run.points:
            writer.scalars(values, step, wall)
        for wall, step, tag, text in run.texts:
            writer.add(_text(tag, text), step, wall)
        if config and run.state != "running":
            writer.add(session_end_pb(1 if run.state == "finished" else 2), 0)
    with open(os.path.join(folder, "sonde_run.json"), "w", encoding="utf-8") as file:
        file.write(_json({"format": 1, "name": run.name, "state": run.state, "imported_from": os.path.basename(run.source), "config": config}))
    if config:
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            file.write(_json(config))
    if run.console:
        from ._console import FILE

        with open(os.path.join(folder, FILE), "w", encoding="utf-8", errors="replace") as file:
            for wall, stream, text in run.console:
                for line in text.splitlines():
                    file.write(f"{wall:.3f}\t{stream}0\t{line}\n")


def main(arguments: list[str]) -> int:
    """python -m sonde import SOURCE LOGDIR"""
    if len(arguments) != 2 or arguments[0] in ("-h", "--help"):
        print("python -m sonde import SOURCE LOGDIR: event files of another tracker's runs\n\n" + (__doc__ or ""))
        return 0 if "-h" in arguments or "--help" in arguments else 2
    problems: list[str] = []
    try:
        made = import_runs(arguments[0], arguments[1], problems)
    except (OSError, ValueError) as error:
        print(f"sonde: {error}", file=sys.stderr)
        return 1
    for problem in problems:
        print(f"sonde: skipped {problem}", file=sys.stderr)
    print(f"{len(made)} runs in {arguments[1]}")
    return 0 if made else 1
