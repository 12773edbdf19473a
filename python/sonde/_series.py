"""Series and tables of a loaded log directory."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_SHOWN_ROWS = 10  # of a table in a notebook


def _escaped(value: Any) -> str:
    import html

    return html.escape(str(value))


def html_table(names: list[str], rows: list[list[Any]], caption: str) -> str:
    """A small table for notebooks; everything in it is text."""
    head = "".join(f"<th>{_escaped(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{_escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Series:
    """One tag of one run. `values` is an array for scalars and a lazy sequence for everything else."""

    def __init__(self, source: Any, row: tuple[Any, ...], run: str, all_points: bool, steps: tuple[Any, Any]) -> None:
        self._native, self._native_run = source, row[0]
        self.run = run
        self.tag, self.plugin, self.content, self.display_name, self.description, self.is_scalar = row[1:7]
        self._all = all_points
        self._range = steps
        self._size = row[8] if all_points else row[7]

    def __len__(self) -> int:
        return self._size if self._range == (None, None) else len(self._chosen)

    def __repr__(self) -> str:
        return f"<Series {self.run!r} {self.tag!r}: {len(self)} {self.plugin or 'plain'} points>"

    def _repr_html_(self) -> str:
        if not self.is_scalar:
            return _escaped(repr(self))
        shown = range(min(len(self), _SHOWN_ROWS))
        rows = [[int(self.steps[i]), float(self.values[i])] for i in shown]
        return html_table(["step", "value"], rows, f"{self.run} {self.tag}: {len(self)} points")

    @cached_property
    def _whole(self) -> tuple[Any, ...]:
        read = self._native.scalars if self.is_scalar else self._native.points
        columns: tuple[Any, ...] = read(self._native_run, self.tag, self._all)
        return columns

    @cached_property
    def _chosen(self) -> np.ndarray:
        """Places of the points inside the range of steps that was asked for."""
        import numpy as np

        steps, (low, high) = self._whole[0], self._range
        inside = np.ones(len(steps), bool)
        if low is not None:
            inside &= steps >= low
        if high is not None:
            inside &= steps <= high
        return np.flatnonzero(inside)

    def _column(self, i: int) -> np.ndarray:
        column: np.ndarray = self._whole[i]
        return column if self._range == (None, None) else column[self._chosen]

    @property
    def steps(self) -> np.ndarray:
        """The step of each point."""
        return self._column(0)

    @property
    def wall_times(self) -> np.ndarray:
        """The time of each point, seconds since 1970."""
        return self._column(1)

    @property
    def values(self) -> Any:
        """Scalars: an array. Else a sequence: [k, 3] arrays for histograms, lists of bytes for images (width, height,
        then encoded images), audio, graphs and texts, arrays for other tensors; each is read when asked for."""
        return self._column(2) if self.is_scalar else Values(self)

    def texts(self) -> list[list[str]]:
        """The strings of a text series, one list a step."""
        return [[cell.decode("utf-8", "replace") for cell in value] for value in self.values]

    def images(self, index: int = -1) -> list[np.ndarray]:
        """The images of one point as [height, width, channels] arrays of bytes. Needs Pillow."""
        import numpy as np
        from PIL import Image  # type: ignore[import-not-found,unused-ignore]

        if self.plugin != "images":
            raise TypeError(f"{self.tag!r} holds {self.plugin or 'plain'} data, not images")
        encoded = self.values[index][2:]  # width and height come first
        return [np.asarray(Image.open(io.BytesIO(one))) for one in encoded]

    def audio(self, index: int = -1) -> list[tuple[np.ndarray, int]]:
        """The clips of one point as ([frames, channels] floats in -1…1, sample rate)."""
        import wave

        import numpy as np

        if self.plugin != "audio":
            raise TypeError(f"{self.tag!r} holds {self.plugin or 'plain'} data, not audio")
        clips = []
        for one in self.values[index]:
            if one[:4] != b"RIFF":
                continue  # a label
            with wave.open(io.BytesIO(one)) as clip:
                width = clip.getsampwidth()
                if width not in (1, 2, 4):
                    raise ValueError(f"{self.tag!r}: samples of {width} bytes are not supported")
                raw = np.frombuffer(clip.readframes(clip.getnframes()), f"<{'u' if width == 1 else 'i'}{width}").reshape(-1, clip.getnchannels())
                zero, scale = (128 if width == 1 else 0), float(1 << (8 * width - 1))
                clips.append(((raw.astype(np.float64) - zero) / scale, clip.getframerate()))
        return clips

    def to_pandas(self) -> Any:
        """A scalar series as a pandas Series over its steps."""
        import pandas  # type: ignore[import-not-found,import-untyped]

        if not self.is_scalar:
            raise TypeError(f"{self.tag!r} holds {self.plugin or 'plain'} data, not scalars")
        return pandas.Series(self.values, index=pandas.Index(self.steps, name="step"), name=self.tag)


class Values:
    """The values of a series that is not a scalar one, read from the file one by one. Slices give lists."""

    def __init__(self, series: Series) -> None:
        self._series = series

    def __len__(self) -> int:
        return len(self._series)

    def __repr__(self) -> str:
        return f"<{len(self)} values of {self._series.tag!r}, read when asked for>"

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        one = self._series
        place = range(len(self))[index]  # negative places and IndexError as in every sequence
        if one._range != (None, None):
            place = int(one._chosen[place])
        return one._native.value(one._native_run, one.tag, place, one._all)

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

    @property
    def rows(self) -> int:
        """How long the columns are."""
        return len(next(iter(self._columns.values()), ()))

    def __repr__(self) -> str:
        return f"<Table of {self.rows} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        shown = range(min(self.rows, _SHOWN_ROWS))
        rows = [[column[i] for column in self._columns.values()] for i in shown]
        return html_table(list(self._columns), rows, f"{self.rows} rows")

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_arrow(self) -> Any:
        """The table as a pyarrow Table."""
        import pyarrow  # type: ignore[import-not-found]

        return pyarrow.table(self._columns)
