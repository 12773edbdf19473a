"""What-If: probe a model from Python, in the browser.

    sonde.whatif(test, predict=model.predict_proba, label="approved")     # serves the page, returns a session
    sonde.whatif.log(writer, step, test, scores, label="approved")        # an evaluation of a training, step by step

The model stays in this process: the page asks it through a socket of this machine that needs a token. Several models side
by side: predict={"old": f, "new": g}. A function gets the examples in the form you gave them (DataFrame, array, dict of
columns, list of dicts) and returns a score, a list of scores or {"predictions": …, "attributions": …} per call.
"""

from __future__ import annotations

import base64
import hmac
import http.server
import json
import math
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import types
from pathlib import Path
from typing import Any
from collections.abc import Callable, Iterable

__all__ = ["Session", "log", "start"]

_MAX_BODY = 256 << 20
_START_SECONDS = 60


def start(
    examples: Any,
    predict: Any = None,
    *,
    label: str | None = None,
    predictions: Any = None,
    labels: list[str] | None = None,
    positive: str | None = None,
    task: str | None = None,
    attributions: Any = None,
    distance: Callable[[Any, Any], Any] | None = None,
    features: list[str] | None = None,
    name: str = "examples",
    port: int = 0,
) -> Session:
    """Serves the page What-If for some examples and one or several models. `sonde.whatif(…)` is this function.

    `attributions` says how much each feature moved an answer: a function of examples, called with the model, or, with
    `predictions`, the values themselves. Both may be a matrix of examples × features, as SHAP gives it.
    `distance(example, examples)` gets one example and all of them in your form and returns a number for each of all.
    """
    table = _Table(examples, features)
    if label is not None and label not in table.columns:
        raise ValueError(f"the label {label!r} is no column; there are {', '.join(list(table.columns)[:20])}")
    named = predict if isinstance(predict, dict) else {} if predict is None else {_name_of(predict): predict}
    asked = [c for c in table.columns if c != label]
    explain = attributions if callable(attributions) else None
    models = {key: _predictor(one, table, asked, explain) for key, one in named.items()}
    given = None
    if attributions is not None and explain is None:
        if predictions is None:
            raise ValueError("attributions of the examples belong to predictions=; with predict= give a function")
        given = _attributed(attributions, asked, table.rows)
    measure = None if distance is None else _measure(distance, table, asked)
    return Session(table, models, measure=measure, label=label, predictions=predictions, attributions=given, labels=labels, positive=positive, task=task, name=name, port=port, asked=asked)


class Session:
    """A running page: `url`, `close()`; shows itself in a notebook. Ends with the process."""

    def __init__(self, table: _Table, models: dict[str, Callable[[list[dict[str, Any]]], dict[str, Any]]], *,
                 measure: Callable[[list[dict[str, Any]]], dict[str, Any]] | None = None, label: str | None, predictions: Any,
                 attributions: list[dict[str, Any]] | None = None, labels: list[str] | None,
                 positive: str | None, task: str | None, name: str, port: int, asked: list[str]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sonde-whatif-"))
        self._program: subprocess.Popen[str] | None = None
        self._server = _Server() if models or measure else None
        try:
            config = _config(self._folder, table, label, name, positive)
            shared = {k: v for k, v in {"labels": labels, "task": task, "positive": positive}.items() if v is not None}
            config["models"] = []
            if predictions is not None:
                _write_scores(self._folder / "predictions_0.npy", predictions, table.rows)
                config["models"].append({"name": "predictions", "file": "predictions_0.npy", **shared})
                if attributions is not None:
                    _write_lines(self._folder / "attributions_0.jsonl", attributions)
                    config["models"][-1]["attributions"] = "attributions_0.jsonl"
            for key in models:
                assert self._server is not None
                config["models"].append({"name": key, "url": f"{self._server.origin}/{len(config['models'])}", "token": self._server.token, "features": asked, **shared})
                self._server.paths[f"/{len(config['models']) - 1}"] = models[key]
            if not config["models"]:
                del config["models"]
            if measure is not None and self._server is not None:
                config["distance"], config["token"] = f"{self._server.origin}/distance", self._server.token
                self._server.paths["/distance"] = measure
            _write_private(self._folder / "whatif.json", json.dumps(config))
            self.url = self._start(port)
        except BaseException:
            self.close()
            raise

    def _start(self, port: int) -> str:
        from ._program import program

        arguments = [program(), "whatif", "--session", str(self._folder), "--port", str(port)]
        if self._server is not None:
            arguments += ["--endpoint", self._server.origin]
        # A session of its own: interrupting a cell must not end the page. It ends when its input does, with this process.
        self._program = subprocess.Popen(arguments, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True, start_new_session=True)
        assert self._program.stderr is not None
        timer = threading.Timer(_START_SECONDS, self._program.kill)
        timer.start()
        said = []
        for line in self._program.stderr:
            said.append(line)
            if found := re.search(r" at (http\S+)", line):
                timer.cancel()
                threading.Thread(target=self._program.stderr.read, daemon=True).start()  # so that it never blocks
                return found[1].rstrip("/") + "/#whatif"
        timer.cancel()
        raise RuntimeError("sonde did not start: " + "".join(said).strip())

    def restart(self) -> None:
        """Serves the page again at the same address, for example after the program was ended; the models stayed here."""
        self._end_program()
        port = re.search(r":(\d+)", self.url)
        self.url = self._start(int(port[1]) if port else 0)

    def _end_program(self) -> None:
        if self._program is not None and self._program.poll() is None:
            self._program.terminate()
            self._program.wait(10)

    def close(self) -> None:
        """End the server of this session."""
        self._end_program()
        if self._server is not None:
            self._server.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def wait(self) -> None:
        """Until the program ends, for scripts."""
        if self._program is not None:
            self._program.wait()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass

    def __repr__(self) -> str:
        return f"What-If at {self.url}"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="800" style="border:0"></iframe>'


def log(writer: Any, step: int, examples: Any, predictions: Any, *, label: str | None = None, name: str = "evaluation", labels: list[str] | None = None,
        positive: str | None = None, task: str | None = None) -> None:
    """Keeps what the model says about the same examples at this step, beside the run. The examples are written once."""
    folder = Path(_folder_of(writer)) / "whatif" / re.sub(r"[^\w.-]", "_", name)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "whatif.json"
    if path.exists():
        rows = json.loads(path.read_text())["rows"]
    else:
        table = _Table(examples)
        rows = table.rows
        config = _config(folder, table, label, name, positive)
        extra = {k: v for k, v in {"labels": labels, "task": task, "positive": positive}.items() if v is not None}
        config["models"] = [{"name": name, "steps": "predictions_*.npy", **extra}]
        config["rows"] = rows
        _write_scores(folder / f"predictions_{int(step)}.npy", predictions, rows)
        path.write_text(json.dumps(config))
        return
    _write_scores(folder / f"predictions_{int(step)}.npy", predictions, rows)
    os.utime(path)  # a server that follows looks again


def _folder_of(writer: Any) -> str:
    for attribute in ("log_dir", "logdir", "folder", "path"):
        found = getattr(writer, attribute, None)
        if callable(found):
            found = found()
        if isinstance(found, (str, os.PathLike)):
            return os.fspath(found)
    if isinstance(writer, (str, os.PathLike)):
        return os.fspath(writer)
    raise TypeError(f"{type(writer).__name__} is neither a writer with a log_dir nor a folder")


# ---- examples


class _Table:
    """Examples as columns, and rows in the form they were given in."""

    def __init__(self, examples: Any, features: list[str] | None = None) -> None:
        self.form = "records"
        self._dtypes: Any = None
        if isinstance(examples, (str, os.PathLike)):
            examples = _read_file(os.fspath(examples))
        if hasattr(examples, "to_pandas"):  # pyarrow, polars
            examples = examples.to_pandas()
        if hasattr(examples, "iloc") and hasattr(examples, "columns"):
            self.form, self._dtypes = "frame", examples.dtypes.to_dict()
            self.columns = {str(c): examples[c].tolist() for c in examples.columns}
        elif isinstance(examples, dict):
            self.form = "columns"
            # An axis more than the examples have is an image each, or a list.
            self.columns = {str(k): list(v if len(getattr(v, "shape", ())) > 2 else v.tolist() if hasattr(v, "tolist") else v) for k, v in examples.items()}
        elif hasattr(examples, "shape") and hasattr(examples, "tolist"):
            if len(examples.shape) != 2:
                raise ValueError(f"an array of examples has two axes, not {len(examples.shape)}")
            self.form = "array"
            names = features or [f"x{i}" for i in range(examples.shape[1])]
            if len(names) != examples.shape[1]:
                raise ValueError(f"{len(names)} names for {examples.shape[1]} features")
            self.columns = {n: examples[:, i].tolist() for i, n in enumerate(names)}
        else:
            records = [dict(one) for one in examples]
            names = list(dict.fromkeys(key for one in records for key in one))
            self.columns = {str(n): [one.get(n) for one in records] for n in names}
        self._images: dict[bytes, Any] = {}  # the pixels that a model expects, by the image that the page shows
        for name, values in self.columns.items():
            if any(_is_image(v) for v in values):
                self.columns[name] = [self._shown(v) for v in values]
        lengths = {len(v) for v in self.columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"the columns have different lengths: {sorted(lengths)}")
        self.rows = lengths.pop() if lengths else 0
        if self.rows == 0:
            raise ValueError("there are no examples")

    def _shown(self, pixels: Any) -> Any:
        if not _is_image(pixels):
            return pixels
        image = _png(pixels)
        self._images[image] = pixels
        return image

    def _values(self, row: dict[str, Any]) -> dict[str, Any]:
        out = {}
        for name, value in row.items():
            value = _bytes_back(value)
            out[name] = self._images.get(value, value) if isinstance(value, bytes) else value
        return out

    def given(self, rows: list[dict[str, Any]], names: list[str]) -> Any:
        """Rows as the user's function expects them."""
        rows = [self._values(row) for row in rows]
        if self.form == "frame":
            import pandas

            frame = pandas.DataFrame({n: [row.get(n) for row in rows] for n in names})
            for n in names:
                try:
                    frame[n] = frame[n].astype(self._dtypes[n])
                except (TypeError, ValueError, KeyError):
                    pass  # a missing value does not fit an integer column
            return frame
        if self.form == "array":
            import numpy

            return numpy.array([[_number(row.get(n)) for n in names] for row in rows])
        if self.form == "columns":
            return {n: [row.get(n) for row in rows] for n in names}
        return rows

    def write(self, folder: Path) -> str:
        """Names the file, NumPy's where every column is plain, JSON lines otherwise."""
        arrays = self._arrays()
        if arrays is not None:
            import numpy

            numpy.savez(folder / "examples.npz", **arrays)
            return "examples.npz"
        names = list(self.columns)
        _write_lines(folder / "examples.jsonl", (dict(zip(names, values)) for values in zip(*self.columns.values())))
        return "examples.jsonl"

    def _arrays(self) -> dict[str, Any] | None:
        try:
            import numpy
        except ImportError:
            return None
        out = {}
        for name, values in self.columns.items():
            if "/" in name or name == "file" or any(v is None for v in values):
                return None
            array = numpy.array(values)
            if array.ndim != 1 or array.dtype.kind not in "biufU" or (array.dtype.kind == "U" and not all(isinstance(v, str) for v in values)):
                return None
            out[name] = array
        return out


def _read_file(path: str) -> Any:
    if path.endswith((".parquet", ".pq")):
        import pandas

        return pandas.read_parquet(path)
    if path.endswith((".arrow", ".feather")):
        import pandas

        return pandas.read_feather(path)
    try:
        import pandas
    except ImportError:
        import csv

        with open(path, newline="", encoding="utf-8") as file:
            return [{k: _guess(v) for k, v in row.items()} for row in csv.DictReader(file)]
    return pandas.read_json(path, lines=path.endswith("l")) if ".json" in path else pandas.read_csv(path)


def _guess(text: str) -> Any:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, bytes):
        return _bytes_as_json(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return str(value)


def _bytes_as_json(value: bytes) -> Any:
    """Text where it is text, otherwise as TensorFlow Serving writes bytes."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode()}


def _bytes_back(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("b64"), str):
        return base64.b64decode(value["b64"])
    return [_bytes_back(one) for one in value] if isinstance(value, list) else value


def _png(pixels: Any) -> bytes:
    """An image of one channel or of three; fractions are taken for 0 … 1, other numbers stretched to their range."""
    import struct
    import zlib

    import numpy

    array = numpy.asarray(pixels)
    if array.dtype.kind == "f" or array.dtype.itemsize > 1:
        low, high = float(min(array.min(), 0)), float(max(array.max(), 1))
        array = (array - low) / (high - low) * 255
    array = array.astype(numpy.uint8)
    colour = 0 if array.ndim == 2 or array.shape[2] == 1 else 2
    lines = array.reshape(array.shape[0], -1)
    raw = b"".join(b"\0" + line.tobytes() for line in lines)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 8, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def _is_image(value: Any) -> bool:
    """An array of height, width and perhaps one or three channels."""
    shape: Any = getattr(value, "shape", ())
    return hasattr(value, "tolist") and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))) and min(shape) > 0


def _config(folder: Path, table: _Table, label: str | None, name: str, positive: str | None) -> dict[str, Any]:
    config: dict[str, Any] = {"name": name, "data": table.write(folder), "max_examples": max(table.rows, 1)}
    if label is not None:
        config["label"] = label
    if positive is not None:
        config["positive"] = str(positive)
    return config


def _write_scores(path: Path, scores: Any, rows: int) -> None:
    import numpy

    if hasattr(scores, "detach"):
        scores = scores.detach().cpu().numpy()
    array = numpy.asarray(scores, dtype=numpy.float32)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise ValueError(f"predictions of shape {array.shape} for {rows} examples")
    partial = path.with_suffix(".tmp.npy")
    numpy.save(partial, array)
    os.replace(partial, path)


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(_plain(record)) + "\n")


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(text)


# ---- models


def _name_of(one: Any) -> str:
    owner = getattr(one, "__self__", one)
    name = getattr(one, "__name__", "") if owner is one else type(owner).__name__
    return name if name and name != "<lambda>" else type(owner).__name__ if owner is not one or not callable(one) else "model"


def _predictor(one: Any, table: _Table, names: list[str], attributions: Callable[..., Any] | None) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    function, form = _function_of(one, names)

    def ask(rows: list[dict[str, Any]]) -> dict[str, Any]:
        examples = table.given(rows, names) if form is None else rows if form == "rows" else _matrix(rows, names)
        answer = function(examples)
        out = dict(answer) if isinstance(answer, dict) and "predictions" in answer else {"predictions": answer}
        out["predictions"] = _scores(out["predictions"], len(rows))
        if attributions is not None:
            out["attributions"] = attributions(examples)
        if "attributions" in out:
            out["attributions"] = _attributed(out["attributions"], names, len(rows))
        classes = getattr(getattr(one, "__self__", one), "classes_", None)
        if classes is not None and "labels" not in out and isinstance(out["predictions"][0], list) and len(classes) == len(out["predictions"][0]):
            out["labels"] = [str(c) for c in classes]
        return _plain(out)

    return ask


def _measure(distance: Callable[[Any, Any], Any], table: _Table, names: list[str]) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    everyone = table.given([{n: table.columns[n][i] for n in names} for i in range(table.rows)], names)

    def ask(rows: list[dict[str, Any]]) -> dict[str, Any]:
        told = distance(table.given(rows, names), everyone)
        return {"distances": _plain(_scores(told, table.rows))}

    return ask


def _function_of(one: Any, names: list[str]) -> tuple[Callable[[Any], Any], str | None]:
    """A function of examples and, where it is not the user's form, the form it needs."""
    kind = f"{type(one).__module__}.{type(one).__name__}"
    if hasattr(one, "get_inputs") and hasattr(one, "run"):
        return lambda rows: _run_onnx(one, rows, names), "rows"
    if kind == "xgboost.core.Booster":
        return one.inplace_predict, None  # predict() takes a DMatrix only
    if "torch" in sys.modules and isinstance(one, sys.modules["torch"].nn.Module):
        return lambda matrix: _run_torch(one, matrix), "matrix"
    if hasattr(one, "predict_proba"):
        return one.predict_proba, None
    if kind.startswith(("keras.", "tensorflow.", "tf_keras.")) and hasattr(one, "predict"):
        return lambda matrix: one.predict(matrix, verbose=0), "matrix"
    if hasattr(one, "predict") and not isinstance(one, (types.FunctionType, types.MethodType)):
        return one.predict, None
    if callable(one):
        return one, None
    raise TypeError(f"{kind} cannot predict: give a function, or an object with predict or predict_proba")


def _matrix(rows: list[dict[str, Any]], names: list[str]) -> Any:
    import numpy

    return numpy.array([[_number(row.get(n)) for n in names] for row in rows], dtype=numpy.float32)


def _run_torch(model: Any, matrix: Any) -> Any:
    torch = sys.modules["torch"]
    was_training = model.training
    model.eval()
    with torch.no_grad():
        out = model(torch.from_numpy(matrix))
    model.train(was_training)
    out = out.detach().cpu()
    if out.ndim == 2 and out.shape[1] > 1 and (out.min() < 0 or out.max() > 1):
        out = torch.softmax(out, 1)  # logits
    elif out.min() < 0 or out.max() > 1:
        pass  # a regression, or logits of one output: shown as they are
    return out.numpy()


def _run_onnx(session: Any, rows: list[dict[str, Any]], names: list[str]) -> Any:
    """One input takes all features side by side; several take the features of their names, or in their order."""
    inputs = session.get_inputs()
    if len(inputs) == 1 and "string" not in inputs[0].type:
        feed = {inputs[0].name: _matrix(rows, names).astype(_onnx_type(inputs[0].type))}
    elif len(inputs) == 1:
        feed = {inputs[0].name: _onnx_columns(rows, names, inputs[0].type)}
    else:
        by_name = all(one.name in names for one in inputs)
        if not by_name and len(inputs) > len(names):
            raise ValueError(f"the model has {len(inputs)} inputs, the examples {len(names)} features")
        wanted = [one.name if by_name else names[i] for i, one in enumerate(inputs)]
        feed = {one.name: _onnx_columns(rows, [name], one.type) for one, name in zip(inputs, wanted)}
    outputs = session.run(None, feed)
    best = outputs[0]
    for out in outputs:  # probabilities come after labels
        if isinstance(out, list) or getattr(out, "ndim", 0) == 2:
            best = out
    return best


def _onnx_type(kind: str) -> str:
    """tensor(float) and its like as NumPy calls them."""
    inner = kind.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64", "string": "object"}.get(inner, inner)


def _onnx_columns(rows: list[dict[str, Any]], names: list[str], kind: str) -> Any:
    import numpy

    if "string" in kind:
        return numpy.array([["" if row.get(n) is None else str(row[n]) for n in names] for row in rows], dtype=object)
    return numpy.array([[_number(row.get(n)) for n in names] for row in rows]).astype(_onnx_type(kind))


def _attributed(answer: Any, names: list[str], rows: int) -> list[dict[str, Any]]:
    """An object an example, of a matrix, a frame, columns or records."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    if hasattr(answer, "base_values"):  # an Explanation of SHAP
        answer = answer.values
    if len(getattr(answer, "shape", ())) == 3:  # one more axis for the labels: the last is the positive one
        answer = answer[:, :, -1]
    if hasattr(answer, "to_dict") and hasattr(answer, "columns"):
        answer = answer.to_dict("list")
    if isinstance(answer, dict):
        columns = {str(n): v.tolist() if hasattr(v, "tolist") else list(v) for n, v in answer.items()}
        out: list[Any] = [dict(zip(columns, values)) for values in zip(*columns.values())]
    else:
        out = answer.tolist() if hasattr(answer, "tolist") else list(answer)
    if len(out) != rows:
        raise ValueError(f"{len(out)} attributions for {rows} examples")
    for i, one in enumerate(out):
        if not isinstance(one, dict):
            if len(one) != len(names):
                raise ValueError(f"the attributions of example {i} are {len(one)} values for {len(names)} features")
            out[i] = dict(zip(names, one))
    return out


def _scores(answer: Any, rows: int) -> list[Any]:
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    if hasattr(answer, "numpy"):
        answer = answer.numpy()
    out = answer.tolist() if hasattr(answer, "tolist") else list(answer)
    if len(out) != rows:
        raise ValueError(f"the model answered {len(out)} predictions for {rows} examples")
    return [one[0] if isinstance(one, (list, tuple)) and len(one) == 1 else one for one in out]


class _Server:
    """Answers POST /<model> with a bearer token, on this machine only. One question at a time: models are seldom thread-safe."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self.paths: dict[str, Callable[[list[dict[str, Any]]], dict[str, Any]]] = {}
        self._one = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, name="sonde-whatif", daemon=True).start()

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        given = request.headers.get("Authorization", "")
        size = int(request.headers.get("Content-Length") or 0)
        if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            return self._send(request, 403, {"error": "a token is needed"})
        if not 0 <= size <= _MAX_BODY:
            return self._send(request, 413, {"error": "the request is too large"})
        body = request.rfile.read(size)
        ask = self.paths.get(request.path)
        if ask is None:
            return self._send(request, 404, {"error": "there is no such model"})
        try:
            rows = json.loads(body)["instances"]
            with self._one:
                answer = ask(rows)
        except Exception as problem:  # the user's function: its words go to the page
            return self._send(request, 200, {"error": f"{type(problem).__name__}: {problem}"})
        self._send(request, 200, answer)

    @staticmethod
    def _send(request: http.server.BaseHTTPRequestHandler, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def _main(arguments: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser("python -m sonde.whatif", description="What-If for an ONNX model and a file of examples")
    for flag in ("--model", "--data"):
        parser.add_argument(flag, required=True)
    for flag in ("--label", "--positive"):
        parser.add_argument(flag)
    parser.add_argument("--port", type=int, default=0)
    chosen = parser.parse_args(arguments)
    import onnxruntime

    model = onnxruntime.InferenceSession(chosen.model, providers=["CPUExecutionProvider"])
    with start(chosen.data, {Path(chosen.model).stem: model}, label=chosen.label, positive=chosen.positive, name=Path(chosen.data).name, port=chosen.port) as session:
        print(session, file=sys.stderr, flush=True)
        try:
            session.wait()
        except KeyboardInterrupt:
            pass
    return 0


class _Callable(types.ModuleType):
    def __call__(self, *args: Any, **named: Any) -> Session:
        return start(*args, **named)


sys.modules[__name__].__class__ = _Callable
if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
