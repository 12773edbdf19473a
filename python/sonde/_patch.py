"""sonde.patch(): frameworks that make their own writers get Sonde's.

    import sonde; sonde.patch()
    trainer = lightning.Trainer(...)     # TensorBoardLogger now logs through Sonde

The classes of torch.utils.tensorboard and tensorboardX are replaced inside the original modules, so everything else
those modules offer stays what it is: at once where they are imported already, otherwise when they are. Where the
originals cannot be imported (no tensorboard or tensorboardX package), stand-ins take their place. The functions of
tf.summary and keras.callbacks.TensorBoard become Sonde's as well. What a program logs with wandb.log or
mlflow.log_metric also goes to a run of Sonde's (_patch_trackers.py).

Processes that a program spawns start without the patch. `python -m sonde patch` puts a line into this Python's
site-packages that patches every process started with SONDE_PATCH=1; patch() sets that variable for children.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import types
from typing import Any

from . import _patch_trackers, _tensorboardx, _torch_summaries, writer
from ._file_writer import EventFileWriter, FileWriter
from ._record_writer import RecordWriter
from ._sonde import __version__

_TORCH, _X = "torch.utils.tensorboard", "tensorboardX"
_TENSORFLOW, _KERAS = "tensorflow", "keras"
_PROTO = ("attr_value", "event", "graph", "node_def", "summary", "tensor", "tensor_shape", "types", "versions")
_undo: list[Any] = []
_MISSING = object()

_SUMMARY_FUNCTIONS = (
    "audio",
    "custom_scalars",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "text",
    "video",
)


def _classes(root: str) -> dict[str, dict[str, Any]]:
    """What is replaced: module -> name -> class."""
    if root == _TORCH:
        pair = {"SummaryWriter": writer.SummaryWriter, "FileWriter": FileWriter}
        return {_TORCH: pair, f"{_TORCH}.writer": {**pair, "EventFileWriter": EventFileWriter}}
    pair = {
        "SummaryWriter": _tensorboardx.SummaryWriter,
        "GlobalSummaryWriter": _tensorboardx.GlobalSummaryWriter,
        "FileWriter": FileWriter,
    }
    return {
        _X: pair,
        f"{_X}.writer": {**pair, "EventFileWriter": EventFileWriter},
        f"{_X}.global_writer": {"GlobalSummaryWriter": _tensorboardx.GlobalSummaryWriter},
    }


def _stand_ins(root: str) -> dict[str, types.ModuleType]:
    """Modules in place of originals that cannot be imported, with what programs import from them."""

    def module(name: str, **content: Any) -> types.ModuleType:
        made = types.ModuleType(name, f"{name}, provided by sonde.patch().")
        made.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        made.__path__ = []
        made.__dict__.update(content, __version__=__version__)
        return made

    functions = {name: getattr(_torch_summaries, name) for name in _SUMMARY_FUNCTIONS}
    if root == _X:
        functions["hparams"] = _x_hparams
    made = {name: module(name, **content) for name, content in _classes(root).items()}
    made[f"{root}.summary"] = module(f"{root}.summary", **functions)
    if root == _X:
        made[f"{_X}.event_file_writer"] = module(f"{_X}.event_file_writer", EventFileWriter=EventFileWriter)
        made[f"{_X}.record_writer"] = module(f"{_X}.record_writer", RecordWriter=RecordWriter)
        made[_X].__dict__["RecordWriter"] = RecordWriter
        made[f"{_X}.utils"] = module(
            f"{_X}.utils", figure_to_image=_torch_summaries.figure_pixels, make_grid=_torch_summaries.grid
        )
        made |= _messages(module)
    for name, one in made.items():
        if name != root:
            setattr(made[name.rpartition(".")[0]], name.rpartition(".")[2], one)
    return made


def _messages(module: Any) -> dict[str, types.ModuleType]:
    """tensorboardX.proto: the same messages as tensorboard's, where that package is installed."""
    name = f"{_X}.proto"
    made = {name: module(name)}
    try:
        for part in _PROTO:
            made[f"{name}.{part}_pb2"] = importlib.import_module(f"tensorboard.compat.proto.{part}_pb2")
    except ImportError:
        made = {name: module(name, __getattr__=_no_message)}
    return made


def _no_message(name: str) -> Any:
    if not name.endswith("_pb2"):
        raise AttributeError(f"module 'tensorboardX.proto' has no attribute {name!r}")
    raise ImportError(f"tensorboardX.proto.{name}: sonde.patch() has no protobuf messages; install tensorboardX or tensorboard")


def _x_hparams(hparam_dict: Any = None, metric_dict: Any = None) -> Any:
    return _torch_summaries.hparams(hparam_dict, metric_dict, real_bools=True)


def _set(owner: Any, name: str, value: Any) -> None:
    _undo.append((owner, name, getattr(owner, name, _MISSING)))
    setattr(owner, name, value)


def _set_module(name: str, module: types.ModuleType) -> None:
    _undo.append((sys.modules, name, sys.modules.get(name, _MISSING)))
    sys.modules[name] = module


def _replace(root: str) -> None:
    """Sonde's classes into the imported originals, and into every module that bound them by name."""
    replaced: dict[int, Any] = {}
    for name, classes in _classes(root).items():
        module = sys.modules.get(name)
        if module is None:
            continue
        for part, ours in classes.items():
            original = getattr(module, part, None)
            if isinstance(original, type) and original is not ours:
                if part != "EventFileWriter":
                    replaced[id(original)] = ours
                _set(module, part, ours)
    _rebind(replaced)


def _rebind(replaced: dict[int, Any]) -> None:
    """Puts Sonde's classes (by the id of the original) wherever a module holds the original."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or names.get("__name__", "").startswith("sonde"):
            continue
        for name, value in list(names.items()):
            if isinstance(value, type) and id(value) in replaced:
                _set(module, name, replaced[id(value)])


def _replace_tensorflow() -> None:
    """tf.summary and tf.compat.v2.summary keep their modules; the functions in them become Sonde's."""
    from . import summary

    tensorflow: Any = sys.modules[_TENSORFLOW]
    second = getattr(getattr(tensorflow, "compat", None), "v2", None)
    for module in (getattr(tensorflow, "summary", None), getattr(second, "summary", None)):
        for name in summary.__all__:
            if hasattr(module, name) and name not in ("trace_on", "trace_off"):  # what TensorFlow records, trace_export writes
                _set(module, name, getattr(summary, name))


def _replace_keras() -> None:
    """Every module of Keras that has its TensorBoard callback gets Sonde's."""
    original = getattr(sys.modules.get("keras.src.callbacks.tensorboard"), "TensorBoard", None)
    if original is None:
        return
    try:
        ours = importlib.import_module("sonde.keras").TensorBoard
    except ImportError:
        return  # an older Keras than the callback is made for
    _rebind({id(original): ours})


class _Distribution(importlib.metadata.Distribution):
    """Frameworks ask whether tensorboardX is installed before they import it."""

    def read_text(self, filename: str) -> str | None:
        if filename in ("METADATA", "PKG-INFO"):
            return "Metadata-Version: 2.1\nName: tensorboardX\nVersion: 2.6.5\n"
        return None

    def locate_file(self, path: Any) -> Any:
        return path


class _Loader(importlib.abc.Loader):
    """Runs the original module, then puts Sonde's classes into it; a stand-in when the original cannot run."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def create_module(self, spec: Any) -> Any:
        return self.original.create_module(spec) if self.original is not None else None

    def exec_module(self, module: types.ModuleType) -> None:
        root = module.__name__
        if self.original is not None:
            module.__loader__ = self.original  # it knows the package's files
            if module.__spec__ is not None:
                module.__spec__.loader = self.original
            try:
                self.original.exec_module(module)
                _REPLACE[root]()
                return
            except ImportError:
                if root not in (_TORCH, _X):
                    raise
                # torch without the tensorboard package: torch's module needs it, Sonde does not
        _undo.append((sys.modules, root, _MISSING))
        for name, made in _stand_ins(root).items():
            if name == root:
                module.__dict__.update({k: v for k, v in made.__dict__.items() if not k.startswith("__")})
                module.__path__ = []
                module.__dict__["__version__"] = __version__
            else:
                _set_module(name, made)


_REPLACE: dict[str, Any] = {
    _TORCH: lambda: _replace(_TORCH),
    _X: lambda: _replace(_X),
    _TENSORFLOW: _replace_tensorflow,
    _KERAS: _replace_keras,
}


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.looking = False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in _REPLACE or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(fullname)
        except (ImportError, ValueError):
            spec = None
        finally:
            self.looking = False
        if spec is None and fullname != _X:
            return None
        if spec is None:
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        spec.loader = _Loader(spec.loader)
        return spec

    def find_distributions(self, context: Any = None) -> Any:
        name = getattr(context, "name", None)
        if _needs_distribution and (name is None or name.lower() == "tensorboardx"):
            yield _Distribution()


_needs_distribution = False


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
        return True
    except importlib.metadata.PackageNotFoundError:
        return False


def _late_frameworks() -> None:
    """Frameworks that looked for a writer when they were imported, and found none."""
    for name in ("logger", "utils"):
        module = sys.modules.get(f"stable_baselines3.common.{name}")
        if module is not None and getattr(module, "SummaryWriter", _MISSING) is None:
            _set(module, "SummaryWriter", writer.SummaryWriter)
    tracking = sys.modules.get("accelerate.tracking")
    if tracking is not None:
        available, kind = getattr(tracking, "_available_trackers", None), getattr(tracking, "LoggerType", None)
        if isinstance(available, list) and kind is not None and kind.TENSORBOARD not in available:
            available.append(kind.TENSORBOARD)
            _undo.append((available, kind.TENSORBOARD, None))


def _resync_wandb() -> Any:
    """wandb.init(sync_tensorboard=True) came first: its hook is taken out, and put back over Sonde's classes."""
    wandb = sys.modules.get("wandb")
    patched = getattr(wandb, "patched", None)
    if not isinstance(patched, dict) or not patched.get("tensorboard"):
        return None
    hook = importlib.import_module("wandb.integration.tensorboard.monkeypatch")
    hook.unpatch()
    return hook.patch


def patch() -> None:
    """Make torch.utils.tensorboard, tensorboardX, tf.summary and Keras' callback write through Sonde, and wandb.log and mlflow.log_metric write a
    run of Sonde's beside their own ($SONDE_DIR, else `runs`). unpatch() reverses it."""
    global _needs_distribution
    if _undo:
        return
    hook_again = _resync_wandb()
    _needs_distribution = not _installed("tensorboardX")
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    _undo.append((sys.meta_path, finder, None))
    for root, replace in _REPLACE.items():
        if root in sys.modules:
            replace()
    _undo.append((os.environ, _VARIABLE, os.environ.get(_VARIABLE, _MISSING)))
    os.environ[_VARIABLE] = "1"
    _late_frameworks()
    _patch_trackers.patch(_undo)
    if hook_again is not None:
        hook_again()


def unpatch() -> None:
    """Give everything back that patch() replaced."""
    while _undo:
        owner, name, before = _undo.pop()
        if isinstance(owner, list):
            owner.remove(name)
        elif owner is sys.modules or owner is os.environ:
            if before is _MISSING:
                owner.pop(name, None)
            else:
                owner[name] = before
        elif before is _MISSING:
            owner.__dict__.pop(name, None)
        else:
            setattr(owner, name, before)


_VARIABLE = "SONDE_PATCH"
_HOOK = f"""import os; os.environ.get("{_VARIABLE}", "") not in ("", "0") and __import__("sonde").patch()\n"""


def main(arguments: list[str]) -> int:
    """python -m sonde patch [--remove]: processes started with SONDE_PATCH=1 are patched, or no longer."""
    import sysconfig

    path = os.path.join(sysconfig.get_path("purelib"), "sonde_patch.pth")
    if arguments not in ([], ["--remove"]):
        print(f"python -m sonde patch [--remove], not {' '.join(arguments)}", file=sys.stderr)
        return 2
    try:
        if arguments:
            if os.path.exists(path):
                os.remove(path)
            print(f"{path} is removed")
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(_HOOK)
            print(f"{path} is written: processes of this Python that are started with {_VARIABLE}=1 log through Sonde")
    except OSError as problem:
        print(f"{path}: {problem.strerror}", file=sys.stderr)
        return 1
    return 0
