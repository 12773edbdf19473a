"""A run in one line: config, curves, tables, console and system metrics of a training program.

    run = sonde.init(project="mnist", name="first", config={"lr": 1e-3})
    run.log({"loss": 0.5, "samples": table, "input": array})
    run.finish()

Written as ordinary event files, which TensorBoard opens, with small files beside them: `sonde_run.json` (who, where,
from which commit), `config.json`, `git.diff`, `console.log`, `tables/`, `media/`. Nothing here waits for the disk and
nothing here raises because of it; a killed program loses at most a second of curves.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
import threading
import time
import warnings

from . import _environment, _sonde
from .table import Audio, Histogram, Image, Table, Video, file_of, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

__all__ = ["Config", "Run", "init"]

RUN_FILE = "sonde_run.json"
CONFIG_FILE = "config.json"
DIFF_FILE = "git.diff"
_JOIN_S = 2.0  # how long a rank waits for the first one's RUN_FILE
_active: list[Run] = []


def _replace(path: str, content: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8", errors="replace") as file:
        file.write(content)
    os.replace(temporary, path)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _read_json(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _folder_name(name: str) -> str:
    safe = re.sub(r"[^\w.+=@,-]+", "-", name).strip("-.")
    return safe[:120] or "run"


def _first_number(*names: str) -> int:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return 0


def rank_of_process() -> int:
    return _first_number("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def _is_one_of_many() -> bool:
    return _first_number("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE") > 1


def _launch_id() -> str:
    """The same text in every rank of one launch, another one in the next launch."""
    if not _is_one_of_many():
        return f"{os.getpid()}-{time.time():.6f}"
    named = [os.environ.get(n, "") for n in ("SLURM_JOB_ID", "SLURM_STEP_ID", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")]
    named += [os.environ.get(n, "") for n in ("MASTER_ADDR", "MASTER_PORT")]
    if not named[0] and named[2] in ("", "none"):
        named.append(str(os.getppid()))  # the launcher on this machine
    return "-".join(n for n in named if n)


class Config(dict):  # type: ignore[type-arg]
    """The configuration: a dict whose entries are attributes too; every change is written."""

    def __init__(self, run: Run | None, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        object.__setattr__(self, "_run", run)

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(name, value)
        self._changed()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the config has no {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, *given: Any, **named: Any) -> None:
        super().update(*given, **named)
        self._changed()

    def _changed(self) -> None:
        run = self.__dict__.get("_run")
        if run is not None:
            run._write_config()


def _as_dict(config: Any) -> dict[str, Any]:
    if config is None:
        return {}
    if isinstance(config, dict):
        return config
    if hasattr(config, "to_container"):
        return config.to_container()
    if hasattr(config, "__dataclass_fields__"):
        import dataclasses

        return dataclasses.asdict(config)
    return dict(vars(config))  # argparse.Namespace


def _flat(config: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and depth < 16:
            out.update(_flat(value, f"{name}.", depth + 1))
        elif isinstance(value, (bool, int, float, str)):
            out[name] = value
        elif value is not None:
            out[name] = json.dumps(value)
    return out


class Run:
    """A run that is being written. Made by init(), or over a SummaryWriter: `sonde.Run(writer=w)`."""

    def __init__(
        self,
        project: str | None = None,
        name: str | None = None,
        config: Any = None,
        *,
        dir: str | os.PathLike[str] | None = None,
        id: str | None = None,
        resume: bool | str | None = None,
        group: str | None = None,
        tags: Any = (),
        notes: str = "",
        rank: int | None = None,
        system: float | bool = True,
        console: bool = True,
        code: bool = True,
        writer: Any = None,
    ) -> None:
        self.project, self.group, self.notes = project or "", group, notes
        self.tags = [tags] if isinstance(tags, str) else [str(t) for t in tags or ()]
        self.rank = rank_of_process() if rank is None else int(rank)
        self._lock = threading.RLock()
        self._warned: set[str] = set()
        self._pid = os.getpid()
        self._state = "running"
        self._owns_writer = writer is None
        self._launch = _launch_id()
        self._before: dict[str, Any] = {}
        if writer is not None:
            self.dir = os.fspath(writer.get_logdir() if hasattr(writer, "get_logdir") else writer.folder)
            self.id = _folder_name(id or os.path.basename(os.path.abspath(self.dir)))
            self._before = _read_json(os.path.join(self.dir, RUN_FILE)) or {}
        else:
            root = os.path.join(os.fspath(dir or os.environ.get("SONDE_DIR") or "runs"), *map(_folder_name, self.project.split("/")) if project else ())
            self.dir, self.id = self._choose_folder(root, name, id, resume)
        run_dir = self.dir
        if self.rank and writer is None:
            self.dir = os.path.join(run_dir, f"rank_{self.rank}")
            os.makedirs(self.dir, exist_ok=True)
        self.name = name or self._before.get("name") or self.id
        self._created = float(self._before.get("created") or time.time())
        self._writer: Any = _sonde.Writer(self.dir) if writer is None else writer
        self._native = self._writer if writer is None else self._native_of(writer)
        self._step = self._next_step() if self._before else 0
        self._said_config = bool(self._before)
        self._info = self._describe(code)
        self.config = Config(self, _as_dict(self._before.get("config")) | _as_dict(config))
        self._write_config()
        self._write_info()
        self._console = self._start(lambda: _console().Console(self.dir, self.rank)) if console else None
        self._system = self._start(lambda: _system().Monitor(self.dir, 1.0 if system is True else float(system), self._log_system)) if system else None
        self._old_hook = sys.excepthook
        sys.excepthook = self._on_exception
        _active.append(self)
        atexit.register(self._at_exit)

    # Where it is written

    def _choose_folder(self, root: str, name: str | None, id: str | None, resume: bool | str | None) -> tuple[str, str]:
        chosen = id or os.environ.get("SONDE_RUN_ID")
        if chosen:
            folder = os.path.join(root, _folder_name(chosen))
            before = _read_json(os.path.join(folder, RUN_FILE))
            if before is None and resume in (True, "must"):
                raise ValueError(f"there is no run {chosen!r} to resume in {root}")
            if before is not None and resume in (False, "never") and before.get("launch") != self._launch:
                raise ValueError(f"run {chosen!r} exists in {root}; give another id, or resume it")
            os.makedirs(folder, exist_ok=True)
            self._before = before or {}
            return folder, _folder_name(chosen)
        if resume in (True, "must"):
            raise ValueError("resume needs the id of the run")
        base = _folder_name(name) if name else time.strftime("%Y%m%d-%H%M%S")
        os.makedirs(root, exist_ok=True)
        for attempt in range(1, 100_000):
            made = base if attempt == 1 else f"{base}-{attempt}"
            folder = os.path.join(root, made)
            try:
                os.mkdir(folder)
            except FileExistsError:
                if self._is_same_launch(folder):
                    return folder, made
                continue
            _replace(os.path.join(folder, RUN_FILE), _json({"launch": self._launch}))
            return folder, made
        raise ValueError(f"{root} has too many runs named {base!r}")

    def _is_same_launch(self, folder: str) -> bool:
        end = time.monotonic() + _JOIN_S
        while _is_one_of_many() and not os.path.exists(os.path.join(folder, RUN_FILE)) and time.monotonic() < end:
            time.sleep(0.01)  # another rank has just made the folder
        return (_read_json(os.path.join(folder, RUN_FILE)) or {}).get("launch") == self._launch

    @staticmethod
    def _native_of(writer: Any) -> Any:
        return writer if isinstance(writer, _sonde.Writer) else getattr(writer, "_writer", None)

    def _next_step(self) -> int:
        """One after the last step of the curves that a resumed run has."""
        try:
            from .reader import load

            found = [one for one in load(self.dir).values() if one.run in ("", ".")]
            steps = [one.steps for one in found if not one.tag.startswith(("system/", "_hparams_/"))]
            return max((int(s[-1]) for s in steps if len(s)), default=-1) + 1
        except Exception:
            return int(self._before.get("step") or 0)

    # The small files

    def _describe(self, code: bool) -> dict[str, Any]:
        info: dict[str, Any] = {"command": _environment.command(), "environment": _environment.describe()}
        if code:
            state, diff = _environment.git_state(os.getcwd())
            if state:
                info["git"] = state
            if diff:
                self._try_write(DIFF_FILE, diff)
        return info

    def _write_info(self) -> None:
        starts = [*self._before.get("starts", ()), {"time": self._started(), "pid": self._pid}]
        content = {
            "format": 1,
            "id": self.id,
            "name": self.name,
            "project": self.project,
            "group": self.group,
            "tags": self.tags,
            "notes": self.notes,
            "rank": self.rank,
            "launch": self._launch,
            "created": self._created,
            "starts": starts[-100:],
            "state": self._state,
            "step": self._step,
            "config": plain(_environment.masked(dict(self.config)), self.dir),
            **self._info,
        }
        if self._state != "running":
            content["ended"] = time.time()
        self._try_write(RUN_FILE, _json(content))

    def _started(self) -> float:
        self._info.setdefault("started", time.time())
        return float(self._info["started"])

    def _write_config(self) -> None:
        if self.config and not self.rank:
            self._try_write(CONFIG_FILE, _json(plain(_environment.masked(dict(self.config)), self.dir)))

    def _try_write(self, name: str, content: str) -> None:
        try:
            _replace(os.path.join(self.dir, name), content)
        except OSError as error:
            self._warn(name, f"{name} is not written: {error}")

    def _warn(self, key: str, text: str) -> None:
        if key not in self._warned:
            self._warned.add(key)
            warnings.warn(f"sonde: {text}", RuntimeWarning, stacklevel=5)

    def _start(self, make: Any) -> Any:
        try:
            return make()
        except Exception as error:
            self._warn("start", f"{error}")
            return None

    # Logging

    @property
    def step(self) -> int:
        """The step that the next log() without one will have."""
        return self._step

    def log(self, data: dict[str, Any], step: int | None = None, commit: bool = True) -> None:
        """Logs the values of a step. Without `step` each call is the next one; commit=False stays at this one.

        Numbers become curves, text text, arrays [h, w(, c)] images, [n] histograms; Image, Audio, Video, Histogram and
        Table as they say; dicts are flattened with '/'.
        """
        if step is None:
            at = self._step
            if commit:
                self._step = at + 1
        else:
            at = int(step)
            self._step = at + 1 if commit else at
        if not self._said_config:
            self._say_config()
        try:
            self._native.scalars(data, at)
        except (TypeError, AttributeError):
            self._log_mixed(data, at)

    def _log_mixed(self, data: dict[str, Any], step: int, prefix: str = "") -> None:
        numbers: dict[str, float] = {}
        for key, value in data.items():
            tag = f"{prefix}{key}"
            try:
                if isinstance(value, (bool, int, float)):
                    numbers[tag] = float(value)
                elif isinstance(value, dict):
                    self._log_mixed(value, step, f"{tag}/")
                elif (number := _as_number(value)) is not None:
                    numbers[tag] = number
                elif value is not None:
                    self._log_value(tag, value, step)
            except OSError as error:
                self._warn(f"disk {tag}", f"{tag!r} is not logged: {error}")
            except Exception as error:
                self._warn(tag, f"{tag!r} of type {type(value).__name__} is not logged: {error}")
        if numbers:
            if self._native is not None:
                self._native.scalars(numbers, step)
            else:
                for tag, number in numbers.items():
                    self._writer.add_scalar(tag, number, step)

    def _log_value(self, tag: str, value: Any, step: int) -> None:
        if isinstance(value, Table):
            value.append_to(self.dir, tag, step, time.time())
        elif isinstance(value, Video):
            table = Table(["video"], [[value]])
            table.append_to(self.dir, tag, step, time.time())
        else:
            self._add(_summary_of(tag, value), step)

    def _add(self, summary: bytes, step: int) -> None:
        if self._native is not None:
            self._native.add(summary, step)
        else:
            self._writer._get_file_writer().add_summary(summary, step)

    def _say_config(self) -> None:
        """The config as hyperparameters, so that TensorBoard shows it too."""
        self._said_config = True
        if self.config and not self.rank:
            from .hparams import hparams_pb

            try:
                flat = _flat(plain(_environment.masked(dict(self.config)), self.dir))
                self._add(hparams_pb(flat, trial_id=self.group or self.id, start_time_secs=self._created), 0)
            except Exception as error:
                self._warn("config", f"the config is not logged as hyperparameters: {error}")

    def _log_system(self, sample: dict[str, float]) -> None:
        if sample and self._native is not None:
            self._native.scalars(sample, int(time.time() - self._created))

    def table_file(self, name: str) -> str:
        """Where the rows of a table are."""
        return file_of(self.dir, name)

    def alert(self, title: str, text: str = "") -> None:
        """A message of the program itself; shown with the alerts."""
        Table(["title", "text"], [[title, text]]).append_to(self.dir, "alerts", self._step, time.time())

    def flush(self) -> None:
        """Hand over what is waiting of curves, tables and console."""
        self._writer.flush()

    @property
    def problem(self) -> str:
        """What is wrong with the log, or an empty text."""
        return self._native.problem if self._native is not None else ""

    # The end

    def finish(self, exit_code: int = 0) -> None:
        """Ends the run: everything is on disk when this returns. A second call does nothing."""
        with self._lock:
            if self._state != "running" or os.getpid() != self._pid:
                return
            self._state = "finished" if exit_code == 0 else "failed"
        for part in (self._system, self._console):
            if part is not None:
                part.close()
        if not self._said_config:
            self._say_config()
        if self._said_config and self.config and not self.rank:
            from .hparams import session_end_pb

            self._add(session_end_pb(1 if exit_code == 0 else 2), 0)
        self._write_info()
        self._writer.close() if self._owns_writer else self._writer.flush()
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._old_hook
        atexit.unregister(self._at_exit)
        if self in _active:
            _active.remove(self)

    def _at_exit(self) -> None:
        self.finish()

    def _on_exception(self, kind: Any, error: Any, trace: Any) -> None:
        self._old_hook(kind, error, trace)  # prints, and so reaches console.log
        self._info["error"] = _environment.masked_text(f"{kind.__name__}: {error}"[:2000])
        self.finish(exit_code=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self._info["error"] = _environment.masked_text(f"{kind.__name__}: {error}"[:2000])
        self.finish(exit_code=0 if kind is None else 1)


def _console() -> Any:
    from . import _console as module

    return module


def _system() -> Any:
    from . import _system as module

    return module


def _as_number(value: Any) -> float | None:
    """Zero-dimensional arrays and tensors, and those of one element."""
    if isinstance(value, (str, bytes, list, tuple)):
        return None
    size = getattr(value, "numel", None)
    size = size() if callable(size) else getattr(value, "size", None)
    if hasattr(value, "item") and (size == 1 or not hasattr(value, "ndim")):
        return float(value.item())
    return float(value) if hasattr(value, "__float__") and not hasattr(value, "ndim") else None


def _summary_of(tag: str, value: Any) -> bytes:
    if isinstance(value, str):
        return _text(tag, value)
    if isinstance(value, Image):
        return _png_summary(tag, [value.data])
    if isinstance(value, Audio):
        return _audio_summary(tag, value.data)
    if isinstance(value, Histogram):
        return _sonde.histogram_summary(tag, _numbers(value.values), value.bins)
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Image) for v in value):
        return _png_summary(tag, [v.data for v in value])
    if hasattr(value, "savefig") or type(value).__module__.startswith("PIL."):
        return _png_summary(tag, [Image(value).data])
    array = _numbers(value)
    if array.ndim == 1:
        return _sonde.histogram_summary(tag, array)
    if array.ndim in (2, 3):
        return _png_summary(tag, [Image(array).data])
    if array.ndim == 4:
        return _png_summary(tag, [Image(one).data for one in array[:64]])
    raise TypeError("a value is a number, text, an array of one to four dimensions, or one of sonde's media")


def _numbers(value: Any) -> Any:
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError("not numbers")
    return array


def _text(tag: str, text: str) -> bytes:
    from ._wire import metadata, strings, summary, value

    return summary(value(tag, tensor=strings([text.encode("utf-8", "replace")], [1]), metadata=metadata("text")))


def _png_summary(tag: str, pictures: list[bytes]) -> bytes:
    from ._wire import metadata, strings, summary, value

    width, height = _size_of_png(pictures[0])
    cells = [str(width).encode(), str(height).encode(), *pictures]
    return summary(value(tag, tensor=strings(cells, [len(cells)]), metadata=metadata("images")))


def _size_of_png(data: bytes) -> tuple[int, int]:
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    return 0, 0


def _audio_summary(tag: str, wav: bytes) -> bytes:
    from ._wire import metadata, strings, summary, value

    return summary(value(tag, tensor=strings([wav, b""], [1, 2]), metadata=metadata("audio", b"\x10\x0b")))


class _NoRun:
    """What init(mode="disabled") gives: takes everything, writes nothing."""

    id = name = project = dir = problem = ""
    step = rank = 0

    def __init__(self, config: Any) -> None:
        self.config = Config(None, _as_dict(config))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **named: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def init(
    project: str | None = None,
    name: str | None = None,
    config: Any = None,
    *,
    mode: str | None = None,
    **options: Any,
) -> Run:
    """Starts a run in `<dir>/<project>/<name>`; dir is $SONDE_DIR or "runs".

    `id` names the folder and resumes the run if there is one (resume="must": there has to be, "never": there must not);
    `group`, `tags`, `notes` describe it; `system` is the interval of system metrics in seconds or False; console=False
    leaves the output alone; code=False leaves git alone. mode="disabled" (or SONDE_MODE) writes nothing at all.
    """
    if (mode or os.environ.get("SONDE_MODE", "")) == "disabled":
        return _NoRun(config)  # type: ignore[return-value]
    return Run(project, name, config, **options)


def log(data: dict[str, Any], step: int | None = None, commit: bool = True) -> None:
    """Run.log of the newest run."""
    if not _active:
        raise RuntimeError("there is no run; call sonde.init() first")
    _active[-1].log(data, step, commit)


def finish(exit_code: int = 0) -> None:
    """Run.finish of the newest run."""
    if _active:
        _active[-1].finish(exit_code)
