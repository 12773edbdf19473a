"""Sonde: logging for training programs, in files that TensorBoard and Sonde read.

    writer = sonde.SummaryWriter("runs/first")      # as torch.utils.tensorboard
    writer.add_scalar("loss", 0.5, step)

    with sonde.summary.create_file_writer("logs").as_default(step=1):   # as tf.summary
        sonde.summary.scalar("loss", 0.5)

    run = sonde.init(project="mnist", config={"lr": 1e-3})              # a run with config, console, system metrics
    run.log({"loss": 0.5, "samples": sonde.Table(["text"], [["a"]])})

    sonde.load("logs").scalars("loss")               # everything back as columns

Neither torch nor TensorFlow nor the tensorboard package is needed; none is imported unless you did.
"""

from __future__ import annotations

import atexit as _atexit
import importlib as _importlib
import os as _os
import sys as _sys

try:
    from . import _sonde
except ImportError as _error:
    if any(_name.startswith("_sonde.") and _name.endswith(".so") for _name in _os.listdir(_os.path.dirname(__file__))):
        raise
    raise ImportError(
        "sonde has no native module here: it was not built, or the project that is called sonde on the package index was "
        "removed from the same folder. Mend it with: pip install --force-reinstall sonde-board"
    ) from _error
from ._sonde import Writer, __version__

TYPE_CHECKING = False  # importing typing would be most of this package's import time
if TYPE_CHECKING:
    from typing import Any

    from . import debug, hparams, notebook, profile, projector, summary, whatif
    from . import keras as keras  # not in __all__: it needs Keras
    from ._patch import patch
    from .reader import load
    from .run import Run, finish, init, log
    from .table import Audio, Histogram, Image, Table, Tokens, Video
    from .writer import SummaryWriter

__all__ = [
    "Audio",
    "Histogram",
    "Image",
    "Run",
    "SummaryWriter",
    "Table",
    "Tokens",
    "Video",
    "Writer",
    "__version__",
    "debug",
    "finish",
    "hparams",
    "init",
    "load",
    "log",
    "notebook",
    "patch",
    "profile",
    "projector",
    "summary",
    "whatif",
]

_WHERE = {
    "SummaryWriter": "writer",
    "FileWriter": "_file_writer",
    "load": "reader",
    "patch": "_patch",
    "unpatch": "_patch",
    "program": "_program",
    "Run": "run",
    "init": "run",
    "log": "run",
    "finish": "run",
    "Audio": "table",
    "Histogram": "table",
    "Image": "table",
    "Table": "table",
    "Tokens": "table",
    "Video": "table",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        made = getattr(_importlib.import_module(f".{_WHERE[name]}", __name__), name)
        globals()[name] = made
        return made
    if name in ("debug", "hparams", "importers", "keras", "notebook", "profile", "projector", "summary", "whatif"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "FileWriter", "importers", "keras", "program", "unpatch"})  # keras needs Keras: not part of "import *"


def load_ipython_extension(ipython: Any) -> None:
    """%load_ext sonde"""
    from . import notebook

    notebook.register(ipython)


# The last second of every open writer is written when the interpreter ends, also in the children of
# multiprocessing, which leave without running atexit.
_atexit.register(_sonde.close_all)
_hooked: list[Any] = []


def _before_fork() -> None:
    util = _sys.modules.get("multiprocessing.util")
    if util is not None and not _hooked:
        _hooked.append(_sonde)
        util.register_after_fork(_sonde, lambda _: util.Finalize(None, _sonde.close_all, exitpriority=0))


_os.register_at_fork(before=_before_fork)
