"""Console capture: what the program prints goes to the terminal as before and, with time and rank, to console.log.

A record is one line: `<unix seconds>\\t<o|e><rank><flags>\\t<text>`. Flags: `r` the line ended with a carriage return (a
progress bar; the next record of the stream replaces it), `+` the line goes on in the next record.
"""

from __future__ import annotations

import os
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "console.log"
MAX_RECORD = 64 << 10  # characters; a longer line becomes several records
PROGRESS_S = 1.0  # between two records of a progress bar


class ConsoleFile:
    """Appends records; every record is handed to the kernel at once, so a killed process loses none."""

    def __init__(self, path: str, rank: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._rank = rank
        self._lock = threading.RLock()
        self._part = {"o": "", "e": ""}
        self._progress = {"o": 0.0, "e": 0.0}

    def write(self, stream: str, text: str) -> None:
        with self._lock:
            text = self._part[stream] + text
            self._part[stream] = ""
            records: list[str] = []
            now = time.time()
            while text:
                end = _first_end(text)
                if end < 0:
                    if len(text) < MAX_RECORD:
                        self._part[stream] = text
                        break
                    records.append(self._record(now, stream, "+", text[:MAX_RECORD]))
                    text = text[MAX_RECORD:]
                    continue
                line, mark = text[:end], text[end]
                text = text[end + 1 :]
                while len(line) > MAX_RECORD:
                    records.append(self._record(now, stream, "+", line[:MAX_RECORD]))
                    line = line[MAX_RECORD:]
                if mark == "\n" or text.startswith("\n"):
                    text = text[1:] if mark == "\r" else text
                    records.append(self._record(now, stream, "", line))
                elif line and now - self._progress[stream] >= PROGRESS_S:
                    self._progress[stream] = now
                    records.append(self._record(now, stream, "r", line))
            self._put(records)

    def _record(self, now: float, stream: str, flags: str, text: str) -> str:
        return f"{now:.3f}\t{stream}{self._rank}{flags}\t{text}\n"

    def _put(self, records: list[str]) -> None:
        if records:
            try:
                os.write(self._file, "".join(records).encode("utf-8", "replace"))
            except OSError:
                pass  # a full disk is no reason to end a training

    def close(self) -> None:
        with self._lock:
            for stream, text in self._part.items():
                if text.strip():
                    self._put([self._record(time.time(), stream, "", text)])
                self._part[stream] = ""
            if self._file >= 0:
                os.close(self._file)
                self._file = -1


def _first_end(text: str) -> int:
    newline = text.find("\n")
    back = text.find("\r", 0, newline if newline >= 0 else len(text))
    return back if back >= 0 else newline


class _Tee:
    """Stands for sys.stdout or sys.stderr; everything but write() is the original's."""

    def __init__(self, original: Any, log: ConsoleFile, stream: str) -> None:
        self._original, self._log, self._stream = original, log, stream

    def write(self, text: str) -> int:
        # The file first: what somebody has seen is in it, also when the program is killed in between.
        if self._log is not None:
            try:
                self._log.write(self._stream, text)
            except Exception:
                self._log = None  # type: ignore[assignment]
        return self._original.write(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __iter__(self) -> Any:
        return iter(self._original)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self._original.__exit__(*error)


class Console:
    """Captures from construction to close()."""

    def __init__(self, folder: str, rank: int) -> None:
        self._log = ConsoleFile(os.path.join(folder, FILE), rank)
        self._tees = {"stdout": _Tee(sys.stdout, self._log, "o"), "stderr": _Tee(sys.stderr, self._log, "e")}
        for name, tee in self._tees.items():
            if tee._original is not None:
                setattr(sys, name, tee)

    def note(self, text: str) -> None:
        """A record that was not printed."""
        self._log.write("e", text if text.endswith("\n") else text + "\n")

    def close(self) -> None:
        for name, tee in self._tees.items():
            if getattr(sys, name) is tee:
                setattr(sys, name, tee._original)
            tee._log = None  # type: ignore[assignment]  # whoever kept the stream goes on printing
        self._log.close()
