"""Tables of samples and rollouts: rows of text, numbers, media, conversations and tokens, logged by step.

    table = sonde.Table(["prompt", "answer", "reward"])
    table.add("2+2?", "4", 1.0)
    run.log({"samples": table}, step=10)

In the run's folder a table is `tables/<name>.jsonl`, one object a row with `_step` and `_time`, only ever appended to;
media are files in `media/`. Other programs write and read it with ordinary tools.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["Audio", "Histogram", "Image", "Table", "Tokens", "Video"]

_MAX_DEPTH = 32
_AS_THEY_ARE = frozenset((str, int, bool, type(None)))


class Media:
    """Bytes of a file with a type; made by Image, Audio and Video."""

    kind = ""

    def __init__(self, data: bytes, extension: str, caption: str | None = None) -> None:
        self.data, self.extension, self.caption = data, extension, caption

    def save(self, folder: str) -> dict[str, Any]:
        """Writes the file into the run's folder once; what stands for it in a row."""
        name = f"{hashlib.sha256(self.data).hexdigest()[:20]}.{self.extension}"
        path = os.path.join(folder, "media", name)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            temporary = f"{path}.{os.getpid()}.tmp"
            with open(temporary, "wb") as file:
                file.write(self.data)
            os.replace(temporary, path)
        out: dict[str, Any] = {"_media": f"media/{name}", "kind": self.kind, "bytes": len(self.data)}
        if self.caption:
            out["caption"] = self.caption
        return out


def _file_bytes(given: Any) -> tuple[bytes, str] | None:
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        with open(path, "rb") as file:
            return file.read(), re.sub(r"[^a-z0-9]", "", os.path.splitext(path)[1].lower()) or "bin"
    return None


class Image(Media):
    """A picture: array [h, w], [h, w, c] (uint8, or float from 0 to 1), PIL image, Matplotlib figure, PNG bytes or a path."""

    kind = "image"

    def __init__(self, data: Any, caption: str | None = None) -> None:
        found = (data, "png") if isinstance(data, bytes) else _file_bytes(data)
        super().__init__(*(found or (image_png(data), "png")), caption)


class Audio(Media):
    """Samples [t] or [t, channels] from -1 to 1 with a rate, WAV bytes or a path."""

    kind = "audio"

    def __init__(self, data: Any, sample_rate: int = 44100, caption: str | None = None) -> None:
        found = (data, "wav") if isinstance(data, bytes) else _file_bytes(data)
        if found is None:
            from . import _sonde

            array = _array(data)
            found = (_sonde.wav(array.reshape(-1, 1) if array.ndim == 1 else array, sample_rate), "wav")
        super().__init__(*found, caption)


class Video(Media):
    """A path of an mp4, webm or gif, its bytes with `format`, or frames [t, h, w, c] (written as GIF)."""

    kind = "video"

    def __init__(self, data: Any, fps: float = 8, caption: str | None = None, format: str = "mp4") -> None:
        found = (data, re.sub(r"[^a-z0-9]", "", format.lower())) if isinstance(data, bytes) else _file_bytes(data)
        if found is None:
            from . import _sonde

            found = (_sonde.gif(_array(data), fps), "gif")
        super().__init__(*found, caption)


class Histogram:
    """Numbers whose distribution is logged."""

    def __init__(self, values: Any, bins: int = 64) -> None:
        self.values, self.bins = values, bins


class Tokens:
    """A text as tokens with numbers for each: `Tokens(["2", "+"], logprob=[-0.1, -2.3])`."""

    def __init__(self, tokens: Iterable[str], **values: Any) -> None:
        self.tokens = [str(t) for t in tokens]
        self.values = {name: [_number(v) for v in numbers] for name, numbers in values.items()}
        for name, numbers in self.values.items():
            if len(numbers) != len(self.tokens):
                raise ValueError(f"{len(self.tokens)} tokens, but {len(numbers)} values of {name!r}")


def _array(data: Any) -> Any:
    import numpy as np

    if hasattr(data, "detach"):
        data = data.detach().cpu().numpy()
    return np.asarray(data)


def image_png(data: Any) -> bytes:
    """PNG of an array, a PIL image or a Matplotlib figure."""
    from . import _sonde

    if hasattr(data, "savefig"):
        import io

        out = io.BytesIO()
        data.savefig(out, format="png")
        return out.getvalue()
    array = _array(data)
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        array = array.transpose(1, 2, 0)  # torch's order
    if array.ndim == 2:
        array = array[:, :, None]
    if array.dtype == bool:
        array = array.astype("uint8") * 255
    return _sonde.png(array)


def _number(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def plain(value: Any, folder: str, depth: int = 0) -> Any:
    """A cell as JSON; media are written beside it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if depth > _MAX_DEPTH:
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Media):
        return value.save(folder)
    if isinstance(value, Tokens):
        return {"_tokens": value.tokens, "values": value.values}
    if isinstance(value, dict):
        return {str(k): plain(v, folder, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v, folder, depth + 1) for v in value]
    if hasattr(value, "savefig") or type(value).__module__.startswith("PIL."):
        return Image(value).save(folder)
    if hasattr(value, "ndim") or hasattr(value, "detach"):
        array = _array(value)
        return _number(array) if array.ndim == 0 or array.size == 1 else plain(array.tolist(), folder, depth + 1)
    if hasattr(value, "item"):
        return _number(value)
    return str(value)


def file_of(folder: str, name: str) -> str:
    """`val/samples` -> <folder>/tables/val/samples.jsonl; what a file name cannot hold is percent-encoded."""
    parts = []
    for part in name.split("/"):
        safe = "".join(c if c.isalnum() or c in "-_. +=@," else "".join(f"%{b:02x}" for b in c.encode("utf-8", "replace")) for c in part)
        parts.append(safe.replace(".", "%2e") if set(safe) <= {"."} else safe)
    return os.path.join(folder, "tables", *[p for p in parts if p] or ["table"]) + ".jsonl"


class Table:
    """Rows with named columns. `data`: rows as lists or dicts, or a pandas data frame."""

    def __init__(self, columns: Iterable[str] | None = None, data: Any = None, dataframe: Any = None) -> None:
        data = dataframe if dataframe is not None else data
        self.rows: list[dict[str, Any]] = []
        if hasattr(data, "to_dict") and hasattr(data, "columns"):
            self.columns = [str(c) for c in (columns or data.columns)]
            data = data.to_dict("records")
        else:
            self.columns = [str(c) for c in columns or []]
        for row in data if data is not None else ():
            self.add(row) if isinstance(row, dict) else self.add(*row)

    def add(self, *values: Any, **named: Any) -> None:
        """A row: values in the order of the columns, or by name; new names become columns."""
        if len(values) == 1 and isinstance(values[0], dict) and not named and len(self.columns) != 1:
            named, values = values[0], ()
        if len(values) > len(self.columns):
            raise ValueError(f"{len(values)} values for {len(self.columns)} columns: {', '.join(self.columns)}")
        row = dict(zip(self.columns, values))
        for name, value in named.items():
            if name not in self.columns:
                self.columns.append(str(name))
            row[str(name)] = value
        self.rows.append(row)

    add_data = add

    def __len__(self) -> int:
        return len(self.rows)

    def lines(self, folder: str, step: int, time_s: float) -> bytes:
        """The rows as lines of the table's file."""
        out = []
        for row in self.rows:
            record: dict[str, Any] = {"_step": step, "_time": round(time_s, 3)}
            for name in self.columns:
                if name in row:
                    value = row[name]
                    key = f" {name}" if name in ("_step", "_time") else name
                    record[key] = value if type(value) in _AS_THEY_ARE else plain(value, folder)
            out.append(json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
        return ("\n".join(out) + "\n").encode("utf-8", "replace") if out else b""

    def append_to(self, folder: str, name: str, step: int, time_s: float) -> None:
        """Append the rows to a JSONL file, media beside it."""
        path = file_of(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lines = self.lines(folder, step, time_s)
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            end = os.lseek(file, 0, os.SEEK_END)
            if end and os.pread(file, 1, end - 1) != b"\n":
                lines = b"\n" + lines  # a killed program left half a line
            view = memoryview(lines)
            while view:
                view = view[os.write(file, view) :]
        finally:
            os.close(file)
