"""Everything in a log directory as NumPy columns.

    log = sonde.load("logs")
    log.runs                                  # ["train", "validation"]
    log["train", "loss"].values               # every point, in the precision written
    log.scalars("loss").to_pandas()           # run, tag, step, wall_time, value

Nothing is sampled. By default a restarted run shows what a person expects (later data wins over the part it
repeats); load(..., all_points=True) gives every point in the order of arrival.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _sonde

if TYPE_CHECKING:
    import numpy as np


class Series:
    """One tag of one run. `values` is an array for scalars and a lazy sequence for everything else."""

    def __init__(self, log: Log, row: tuple[Any, ...]) -> None:
        self._log = log
        self.run, self.tag, self.plugin, self.content, self.display_name, self.description, self.is_scalar = row[:7]
        self._size = row[8] if log.all_points else row[7]

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<Series {self.run!r} {self.tag!r}: {len(self)} {self.plugin or 'plain'} points>"

    @cached_property
    def _columns(self) -> tuple[Any, ...]:
        read = self._log._native.scalars if self.is_scalar else self._log._native.points
        return read(self.run, self.tag, self._log.all_points)

    @property
    def steps(self) -> np.ndarray:
        return self._columns[0]

    @property
    def wall_times(self) -> np.ndarray:
        return self._columns[1]

    @property
    def values(self) -> Any:
        """Scalars: an array. Else a sequence: [k, 3] arrays for histograms, lists of bytes for images (width, height,
        then encoded images), audio, graphs and texts, arrays for other tensors; each is read when asked for."""
        return self._columns[2] if self.is_scalar else Values(self)

    def texts(self) -> list[list[str]]:
        """The strings of a text series, one list a step."""
        return [[cell.decode("utf-8", "replace") for cell in value] for value in self.values]


class Values:
    """The values of a series that is not a scalar one, read from the file one by one."""

    def __init__(self, series: Series) -> None:
        self._series = series

    def __len__(self) -> int:
        return len(self._series)

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            index += len(self)
        one = self._series
        return one._log._native.value(one.run, one.tag, index, one._log.all_points)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


class Table(Mapping[str, Any]):
    """Columns of equal length by name: a dict for NumPy users, pandas and Arrow on request."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<Table of {len(self._columns['step'])} rows: {', '.join(self._columns)}>"

    def to_pandas(self) -> Any:
        import pandas  # type: ignore[import-not-found,import-untyped]

        return pandas.DataFrame(self._columns)

    def to_arrow(self) -> Any:
        import pyarrow  # type: ignore[import-not-found]

        return pyarrow.table(self._columns)


class Log(Mapping[tuple[str, str], Series]):
    """A loaded log directory: a mapping from (run, tag) to Series."""

    def __init__(self, logdir: Any, all_points: bool = False) -> None:
        folder = os.fspath(logdir)
        if "://" not in folder and not os.path.isdir(folder):
            raise FileNotFoundError(f"no log directory {folder}")
        self.all_points = all_points
        self._native = _sonde.Log(folder)
        rows = (Series(self, row) for row in self._native.series())
        self._series = {(one.run, one.tag): one for one in rows}

    @property
    def runs(self) -> list[str]:
        return self._native.runs()

    @property
    def damage(self) -> list[dict[str, Any]]:
        """Places in files that could not be read, each with what is wrong."""
        names = ("run", "path", "offset", "length", "kind", "text")
        return [dict(zip(names, row, strict=True)) for row in self._native.damage()]

    def tags(self, run: str | None = None) -> list[str]:
        return sorted({tag for name, tag in self._series if run is None or run == name})

    def __getitem__(self, key: tuple[str, str]) -> Series:
        return self._series[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def scalars(self, tag: str | None = None, run: str | None = None) -> Table:
        """All points of the scalar series whose tag and run match (regular expressions, whole names), one row a point."""
        import numpy as np

        def fits(pattern: str | None, name: str) -> bool:
            return pattern is None or pattern == name or re.fullmatch(pattern, name) is not None

        chosen = [s for s in self._series.values() if s.is_scalar and fits(tag, s.tag) and fits(run, s.run)]
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


def load(logdir: Any, *, all_points: bool = False, format: str | None = None) -> Any:
    """Read a log directory (a path, or s3://bucket/prefix) completely. Takes the time of reading its files; blobs are read
    when asked for. With format "arrow", "polars" or "pandas": a table of every scalar point instead of a Log."""
    if format not in (None, "arrow", "polars", "pandas"):
        raise ValueError(f"format is arrow, polars or pandas, not {format!r}")
    log = Log(logdir, all_points)
    if format is None:
        return log
    if format == "pandas":
        return log.scalars().to_pandas()
    table = log._arrow()
    if format == "arrow":
        return table
    import polars  # type: ignore[import-not-found]

    return polars.from_arrow(table)
