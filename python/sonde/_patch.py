"""sonde.patch(): frameworks that make their own writers get Sonde's.

    import sonde; sonde.patch()
    trainer = lightning.Trainer(...)     # TensorBoardLogger now logs through Sonde

Puts Sonde's classes in place of torch.utils.tensorboard and tensorboardX, also when the tensorboard package is not
installed, and in modules that have imported the originals already.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types
from typing import Any

from . import _tensorboardx, _torch_summaries, writer
from ._file_writer import FileWriter
from ._sonde import __version__

_undo: list[Any] = []


def _module(name: str, **content: Any) -> types.ModuleType:
    module = types.ModuleType(name, f"{name}, provided by sonde.patch().")
    module.__spec__ = importlib.machinery.ModuleSpec(
        name, None, is_package="." not in name or name.endswith("tensorboard")
    )
    module.__path__ = []  # type: ignore[attr-defined]
    module.__dict__.update(content, __version__=__version__)
    return module


def _torch_modules() -> dict[str, types.ModuleType]:
    classes = {"SummaryWriter": writer.SummaryWriter, "FileWriter": FileWriter}
    functions = {
        name: getattr(_torch_summaries, name)
        for name in (
            "audio",
            "custom_scalars",
            "histogram_raw",
            "hparams",
            "mesh",
            "pr_curve",
            "pr_curve_raw",
            "scalar",
            "text",
            "video",
        )
    }
    summary = _module("torch.utils.tensorboard.summary", **functions)
    inner = _module("torch.utils.tensorboard.writer", **classes)
    return {
        "torch.utils.tensorboard": _module("torch.utils.tensorboard", **classes, summary=summary, writer=inner),
        "torch.utils.tensorboard.summary": summary,
        "torch.utils.tensorboard.writer": inner,
    }


def _x_modules() -> dict[str, types.ModuleType]:
    classes = {
        "SummaryWriter": _tensorboardx.SummaryWriter,
        "GlobalSummaryWriter": _tensorboardx.GlobalSummaryWriter,
        "FileWriter": FileWriter,
    }
    inner = _module("tensorboardX.writer", **classes)
    summary = _module("tensorboardX.summary", hparams=lambda h, m: _torch_summaries.hparams(h, m, real_bools=True))
    return {
        "tensorboardX": _module("tensorboardX", **classes, writer=inner, summary=summary),
        "tensorboardX.writer": inner,
        "tensorboardX.summary": summary,
    }


class _Distribution(importlib.metadata.Distribution):
    """Frameworks ask whether tensorboardX is installed before they import it."""

    def read_text(self, filename: str) -> str | None:
        if filename in ("METADATA", "PKG-INFO"):
            return "Metadata-Version: 2.1\nName: tensorboardX\nVersion: 2.6.5\n"
        return None

    def locate_file(self, path: Any) -> Any:
        return path


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        return None

    def find_distributions(self, context: Any = None) -> Any:
        name = getattr(context, "name", None)
        if name is None or name.lower() == "tensorboardx":
            yield _Distribution()


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
        return True
    except importlib.metadata.PackageNotFoundError:
        return False


def _replace_everywhere(originals: dict[int, Any]) -> None:
    """Names that other modules bound to an original class before patch() was called."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or names.get("__name__", "").startswith("sonde"):
            continue
        for name, value in list(names.items()):
            if isinstance(value, type) and id(value) in originals:
                setattr(module, name, originals[id(value)])
                _undo.append((module, name, value))


def patch() -> None:
    """Make torch.utils.tensorboard and tensorboardX write through Sonde. unpatch() reverses it."""
    if _undo:
        return
    replaced = _torch_modules() | _x_modules()
    originals: dict[int, Any] = {}
    for name, module in replaced.items():
        before = sys.modules.get(name)
        for part in ("SummaryWriter", "FileWriter"):
            original = getattr(before, part, None)
            if original is not None and hasattr(module, part):
                originals[id(original)] = getattr(module, part)
        sys.modules[name] = module
        _undo.append((sys.modules, name, before))
    if not _installed("tensorboardX"):
        finder = _Finder()
        sys.meta_path.append(finder)
        _undo.append((sys.meta_path, None, finder))
    utils = sys.modules.get("torch.utils")
    if utils is not None:
        _undo.append((utils, "tensorboard", getattr(utils, "tensorboard", None)))
        utils.tensorboard = replaced["torch.utils.tensorboard"]  # type: ignore[attr-defined]
    _replace_everywhere(originals)


def unpatch() -> None:
    """Give everything back that patch() replaced."""
    while _undo:
        where, name, before = _undo.pop()
        if where is sys.meta_path:
            where.remove(before)
        elif where is sys.modules:
            if before is None:
                where.pop(name, None)
            else:
                where[name] = before
        elif before is None:
            where.__dict__.pop(name, None)
        else:
            setattr(where, name, before)
