"""Where the native program is, and how to become it."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def program() -> str:
    """The path of the `sonde` program: $SONDE_BINARY, the one installed with this package, or the one on PATH."""
    chosen = os.environ.get("SONDE_BINARY")
    if chosen:
        return chosen
    for folder in (
        sysconfig.get_path("scripts"),
        os.path.dirname(sys.executable),
        sysconfig.get_path("scripts", f"{os.name}_user"),
    ):
        path = os.path.join(folder, "sonde")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("sonde")
    if found:
        return found
    raise FileNotFoundError("the sonde program is not installed beside this package and not on PATH; set SONDE_BINARY")


def main() -> int:
    if sys.argv[1:2] == ["import"]:
        from .importers import main as import_main

        return import_main(sys.argv[2:])
    os.execv(program(), ["sonde", *sys.argv[1:]])
