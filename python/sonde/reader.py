"""Everything in a log directory as NumPy columns.

    log = sonde.load("logs")
    log.runs                                  # ["train", "validation"]
    log["train", "loss"].values               # every point, in the precision written
    log.scalars("loss").to_pandas()           # run, tag, step, wall_time, value
    log.wide("loss").to_pandas()              # one row a step, one column a run
    log.hparams().to_pandas()                 # one row a run

Nothing is sampled. By default a restarted run shows what a person expects (later data wins over the part it
repeats); load(..., all_points=True) gives every point in the order of arrival.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _sonde
from ._hparam_values import session_start
from ._series import Series, Table, html_table

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Log", "Series", "Table", "load"]

Pattern = Any  # a name, a regular expression, or a list of them
_SHOWN_ROWS = 20


_NAMED_BY_TIME = re.compile(r"(^|/)\d{10}\.\d+$")


def _parent(run: str) -> str:
    return run.rpartition("/")[0] or "."


def _fits(pattern: Pattern, name: str) -> bool:
    if pattern is None:
        return True
    if not isinstance(pattern, (str, re.Pattern)):
        return any(_fits(one, name) for one in pattern)
    if pattern == name:
        return True
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a valid regular expression: {error}") from None


def _sources(logdir: Any) -> list[tuple[str, str]]:
    """(prefix of run names, path) for what load() is given: a path, a list of paths, or names with paths."""
    if isinstance(logdir, (str, os.PathLike)):
        return [("", os.fspath(logdir))]
    if isinstance(logdir, Mapping):
        return [(str(name), os.fspath(path)) for name, path in logdir.items()]
    try:
        paths = [os.fspath(path) for path in logdir]
    except TypeError:
        raise TypeError(f"logdir is a path, a list of paths or a dict of names and paths, not {type(logdir).__name__}") from None
    if len(paths) == 1:
        return [("", paths[0])]
    names = [os.path.basename(os.path.normpath(path)) or path for path in paths]
    return [(name if names.count(name) == 1 else path, path) for name, path in zip(names, paths, strict=True)]


class Log(Mapping[tuple[str, str], Series]):
    """A loaded log directory: a mapping from (run, tag) to Series."""

    def __init__(
        self,
        logdir: Any,
        all_points: bool = False,
        *,
        runs: Pattern = None,
        tags: Pattern = None,
        kinds: Pattern = None,
        steps: tuple[int | None, int | None] = (None, None),
    ) -> None:
        self.all_points = all_points
        self._given = _sources(logdir)
        if len(steps) != 2:
            raise ValueError(f"steps is a pair (first, last), not {steps!r}")
        self._filter = (runs, tags, kinds, (steps[0], steps[1]))
        self._links: list[tempfile.TemporaryDirectory[str]] = []
        self._natives = [(prefix, _sonde.Log(self._folder(path))) for prefix, path in self._given]
        self._take()

    def _folder(self, path: str) -> str:
        """The folder to read; a single file is shown to the reader in a folder of its own."""
        if "://" in path or os.path.isdir(path):
            return path
        if not os.path.isfile(path):
            raise FileNotFoundError(f"no log directory {path}")
        made = tempfile.TemporaryDirectory(prefix="sonde-load-")
        self._links.append(made)
        name = os.path.basename(path)
        os.symlink(os.path.abspath(path), os.path.join(made.name, name if "tfevents" in name else f"events.out.tfevents.{name}"))
        return made.name

    def _take(self) -> None:
        wanted_runs, wanted_tags, kinds, steps = self._filter
        self._series: dict[tuple[str, str], Series] = {}
        self._sessions: dict[str, tuple[dict[str, Any], str]] = {}
        self._runs: list[str] = []
        for prefix, native in self._natives:
            named = {run: self._name(prefix, run) for run in native.runs()}
            self._runs += [name for name in named.values() if _fits(wanted_runs, name)]
            for row in native.series():
                run = named.get(row[0], self._name(prefix, row[0]))
                if not _fits(wanted_runs, run):
                    continue
                if row[2] == "hparams" and (found := session_start(row[3])) is not None:
                    self._sessions[run] = found
                if _fits(wanted_tags, row[1]) and _fits(kinds, row[2] or ("scalars" if row[6] else "")):
                    self._series[run, row[1]] = Series(native, row, run, self.all_points, steps)

        self._fold_sessions()

    def _fold_sessions(self) -> None:
        """add_hparams writes into a run named by the time below the writer's, whose curves belong to it: the session is
        moved there, unless that run is a session itself, has several of them, or does not exist."""
        above = {run: _parent(run) for run in self._sessions if _NAMED_BY_TIME.search(run)}
        counts = Counter(above.values())
        known = {*self._runs, *(run for run, _ in self._series)}
        self._sessions = {
            above[run] if run in above and counts[above[run]] == 1 and above[run] in known and above[run] not in self._sessions else run: found
            for run, found in self._sessions.items()
        }

    @staticmethod
    def _name(prefix: str, run: str) -> str:
        return run if prefix == "" else prefix if run == "." else f"{prefix}/{run}"

    def refresh(self) -> Log:
        """Reads what was written since; series taken before keep what they have."""
        self._natives = [(prefix, _sonde.Log(self._folder(path))) for prefix, path in self._given]
        self._take()
        return self

    def __repr__(self) -> str:
        return f"<Log of {len(self._runs)} runs, {len(self._series)} series>"

    def _repr_html_(self) -> str:
        rows = [[one.run, one.tag, one.plugin or "plain", len(one)] for one in list(self._series.values())[:_SHOWN_ROWS]]
        return html_table(["run", "tag", "kind", "points"], rows, repr(self).strip("<>"))

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(self._runs)

    @property
    def damage(self) -> list[dict[str, Any]]:
        """Places in files that could not be read, each with what is wrong."""
        names = ("run", "path", "offset", "length", "kind", "text")
        return [dict(zip(names, (self._name(prefix, row[0]), *row[1:]), strict=True)) for prefix, native in self._natives for row in native.damage()]

    def tags(self, run: str | None = None) -> list[str]:
        """The tags of all runs, or of one."""
        return sorted({tag for name, tag in self._series if run is None or run == name})

    def __getitem__(self, key: tuple[str, str]) -> Series:
        try:
            return self._series[key]
        except (KeyError, TypeError):
            raise KeyError(f"there is no series {key!r}; log.runs and log.tags() list what there is") from None

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def _scalars(self, tag: Pattern, run: Pattern) -> list[Series]:
        return [s for s in self._series.values() if s.is_scalar and _fits(tag, s.tag) and _fits(run, s.run)]

    def scalars(self, tag: Pattern = None, run: Pattern = None) -> Table:
        """All points of the scalar series whose tag and run match (regular expressions, whole names), one row a point."""
        import numpy as np

        chosen = self._scalars(tag, run)
        counts = [len(s.steps) for s in chosen]

        def joined(columns: list[Any], kind: Any) -> Any:
            return np.concatenate(columns) if columns else np.empty(0, kind)

        return Table(
            {
                "run": np.repeat(np.array([s.run for s in chosen], object), counts),
                "tag": np.repeat(np.array([s.tag for s in chosen], object), counts),
                "step": joined([s.steps for s in chosen], np.int64),
                "wall_time": joined([s.wall_times for s in chosen], np.float64),
                "value": joined([s.values for s in chosen], np.float64),
            }
        )

    def wide(self, tag: Pattern = None, run: Pattern = None) -> Table:
        """One row a step and one column a series (named by its run, its tag, or both where that is needed); NaN where a
        series has no point. Of several points at one step the last counts."""
        import numpy as np

        chosen = self._scalars(tag, run)
        tags, runs = {s.tag for s in chosen}, {s.run for s in chosen}
        steps = np.unique(np.concatenate([s.steps for s in chosen])) if chosen else np.empty(0, np.int64)
        columns: dict[str, np.ndarray] = {"step": steps}
        for one in chosen:
            column = np.full(len(steps), np.nan)
            column[np.searchsorted(steps, one.steps)] = one.values
            columns[one.run if len(tags) == 1 else one.tag if len(runs) == 1 else f"{one.run} {one.tag}"] = column
        return Table(columns)

    def hparams(self, metrics: Pattern = ()) -> Table:
        """The hyperparameters of each run that has some, one row a run, and the last value of each metric that matches:
        its own, or that of a run below it."""
        import numpy as np

        names = list(dict.fromkeys(name for params, _ in self._sessions.values() for name in params))
        runs = list(self._sessions)
        columns: dict[str, Any] = {"run": np.array(runs, object), "group": np.array([self._sessions[run][1] for run in runs], object)}
        for name in names:
            columns[name] = np.array([self._sessions[run][0].get(name) for run in runs], object)
        for tag in sorted({s.tag for s in self._scalars(metrics, None)}) if metrics != () else []:
            columns[tag] = np.array([self._last(run, tag) for run in runs], np.float64)
        return Table(columns)

    def _last(self, run: str, tag: str) -> float:
        below = (name for name, of in self._series if of == tag and (name == run or name.startswith(f"{run}/") or run == "."))
        for name in sorted(below, key=len):
            values = self._series[name, tag].values
            if len(values) > 0:
                return float(values[-1])
        return float("nan")

    def _arrow(self) -> Any:
        """Every scalar point: run and tag as dictionaries, the columns of each series as they are in memory."""
        import pyarrow as pa  # type: ignore[import-not-found]

        chosen = [s for s in self._series.values() if s.is_scalar]
        names = {"run": sorted({s.run for s in chosen}), "tag": sorted({s.tag for s in chosen})}
        words = pa.dictionary(pa.int32(), pa.string())
        schema = pa.schema([("run", words), ("tag", words), ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64())])
        lists = {column: pa.array(values, pa.string()) for column, values in names.items()}
        places = {column: {name: i for i, name in enumerate(values)} for column, values in names.items()}

        def repeated(column: str, name: str, count: int) -> Any:
            index = pa.repeat(pa.scalar(places[column][name], pa.int32()), count)
            return pa.DictionaryArray.from_arrays(index, lists[column])

        batches = []
        for one in chosen:
            steps, walls, values = one.steps, one.wall_times, one.values
            columns = [repeated("run", one.run, len(steps)), repeated("tag", one.tag, len(steps)), pa.array(steps), pa.array(walls),
                       pa.array(values.astype("float64", copy=False))]
            batches.append(pa.record_batch(columns, schema=schema))
        return pa.Table.from_batches(batches, schema)



def load(
    logdir: Any,
    *,
    all_points: bool = False,
    runs: Pattern = None,
    tags: Pattern = None,
    kinds: Pattern = None,
    steps: tuple[int | None, int | None] = (None, None),
    format: str | None = None,
) -> Any:
    """Read a log directory (a path, s3://bucket/prefix, one event file, a list of them, or a dict of names and paths)
    completely. Takes the time of reading its files; blobs are read when asked for.

    runs, tags and kinds (plug-in names: "scalars", "images", …) keep what matches: a name, a regular expression over whole
    names, or a list of them. steps=(first, last) keeps a range of steps, both ends included, None for an open end.
    With format "arrow", "polars" or "pandas": a table of every scalar point instead of a Log."""
    if format not in (None, "arrow", "polars", "pandas"):
        raise ValueError(f"format is arrow, polars or pandas, not {format!r}")
    log = Log(logdir, all_points, runs=runs, tags=tags, kinds=kinds, steps=steps)
    if format is None:
        return log
    if format == "pandas":
        return log.scalars().to_pandas()
    table = log._arrow()
    if format == "arrow":
        return table
    import polars  # type: ignore[import-not-found]

    return polars.from_arrow(table)
