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
    places = [
        sysconfig.get_path("scripts"),
        os.path.dirname(sys.executable),
        sysconfig.get_path("scripts", f"{os.name}_user"),
    ]
    found = [path for path in (os.path.join(folder, "sonde") for folder in places) if os.access(path, os.X_OK)]
    found += [path for path in [shutil.which("sonde")] if path]
    foreign = ""
    for path in found:
        if not _is_script(path):
            return path
        foreign = path
    if foreign:
        raise FileNotFoundError(
            f"{foreign} is the program of another project that is called sonde; "
            "pip uninstall sonde, then pip install --force-reinstall sonde-board, or set SONDE_BINARY"
        )
    raise FileNotFoundError("the sonde program is not installed beside this package and not on PATH; set SONDE_BINARY")


def _is_script(path: str) -> bool:
    """Whether it is a launcher written by pip: ours is a native program, the other project of this name has a script."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def main() -> int:
    if sys.argv[1:2] == ["import"]:
        from .importers import main as import_main

        return import_main(sys.argv[2:])
    if sys.argv[1:2] == ["patch"]:
        from ._patch import main as patch_main

        return patch_main(sys.argv[2:])
    os.execv(program(), ["sonde", *sys.argv[1:]])
