"""sonde.patch(): frameworks that make their own writers get Sonde's.

    import sonde; sonde.patch()
    trainer = lightning.Trainer(...)     # TensorBoardLogger now logs through Sonde

The classes of torch.utils.tensorboard and tensorboardX are replaced inside the original modules, so everything else
those modules offer stays what it is: at once where they are imported already, otherwise when they are. Where the
originals cannot be imported (no tensorboard or tensorboardX package), stand-ins take their place. What a program logs
with wandb.log or mlflow.log_metric also goes to a run of Sonde's (_patch_trackers.py).
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types
from typing import Any

from . import _patch_trackers, _tensorboardx, _torch_summaries, writer
from ._file_writer import EventFileWriter, FileWriter
from ._record_writer import RecordWriter
from ._sonde import __version__

_TORCH, _X = "torch.utils.tensorboard", "tensorboardX"
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
    for name, one in made.items():
        if name != root:
            setattr(made[root], name.rpartition(".")[2], one)
    return made


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
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or names.get("__name__", "").startswith("sonde"):
            continue
        for name, value in list(names.items()):
            if isinstance(value, type) and id(value) in replaced:
                _set(module, name, replaced[id(value)])


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
            try:
                self.original.exec_module(module)
                _replace(root)
                return
            except ImportError:
                pass  # torch without the tensorboard package: torch's module needs it, Sonde does not
        _undo.append((sys.modules, root, _MISSING))
        for name, made in _stand_ins(root).items():
            if name == root:
                module.__dict__.update({k: v for k, v in made.__dict__.items() if not k.startswith("__")})
                module.__path__ = []
                module.__dict__["__version__"] = __version__
            else:
                _set_module(name, made)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.looking = False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in (_TORCH, _X) or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(fullname)
        except (ImportError, ValueError):
            spec = None
        finally:
            self.looking = False
        if spec is None and fullname == _TORCH:
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
    logger = sys.modules.get("stable_baselines3.common.logger")
    if logger is not None and getattr(logger, "SummaryWriter", _MISSING) is None:
        _set(logger, "SummaryWriter", writer.SummaryWriter)
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
    """Make torch.utils.tensorboard and tensorboardX write through Sonde, and wandb.log and mlflow.log_metric write a
    run of Sonde's beside their own ($SONDE_DIR, else `runs`). unpatch() reverses it."""
    global _needs_distribution
    if _undo:
        return
    hook_again = _resync_wandb()
    _needs_distribution = not _installed("tensorboardX")
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    _undo.append((sys.meta_path, finder, None))
    for root in (_TORCH, _X):
        if root in sys.modules:
            _replace(root)
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
        elif owner is sys.modules:
            if before is _MISSING:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = before
        elif before is _MISSING:
            owner.__dict__.pop(name, None)
        else:
            setattr(owner, name, before)
