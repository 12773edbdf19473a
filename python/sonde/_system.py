"""System metrics of a run: CPU, memory, disk, network and GPUs, read from /proc, /sys and NVML once a second.

No package is needed: NVML is opened with dlopen where the driver has it. A source that fails is left out.
"""

from __future__ import annotations

import ctypes
import glob
import os
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLOCK_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the device has


class _Files:
    """Small files of /proc that are read again and again: opened once, read with pread."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}

    def read(self, path: str) -> bytes:
        file = self._open.get(path)
        if file is None:
            file = self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(file, 1 << 16, 0)

    def close(self) -> None:
        for file in self._open.values():
            os.close(file)
        self._open.clear()


class _Utilisation(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class _Nvml:
    """The few calls of libnvidia-ml that the metrics need."""

    def __init__(self) -> None:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        if library.nvmlInit_v2() != 0:
            raise OSError("NVML cannot be initialised")
        count = ctypes.c_uint()
        if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            raise OSError("NVML does not list devices")
        self._library = library
        self._devices = []
        for index in range(min(count.value, 64)):
            device = ctypes.c_void_p()
            if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) == 0:
                self._devices.append((index, device))

    def sample(self, out: dict[str, float]) -> None:
        library = self._library
        used, memory, number = _Utilisation(), _Memory(), ctypes.c_uint()
        for index, device in self._devices:
            name = f"system/gpu{index}"
            if library.nvmlDeviceGetUtilizationRates(device, ctypes.byref(used)) == 0:
                out[f"{name}/busy_percent"] = used.gpu
                out[f"{name}/memory_busy_percent"] = used.memory
            if library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0:
                out[f"{name}/memory_bytes"] = memory.used
            if library.nvmlDeviceGetTemperature(device, 0, ctypes.byref(number)) == 0:
                out[f"{name}/temperature_c"] = number.value
            if library.nvmlDeviceGetPowerUsage(device, ctypes.byref(number)) == 0:
                out[f"{name}/power_w"] = number.value / 1000
            if library.nvmlDeviceGetClockInfo(device, 1, ctypes.byref(number)) == 0:
                out[f"{name}/clock_mhz"] = number.value


class _Amd:
    """AMD's driver tells the same in /sys."""

    def __init__(self) -> None:
        self._files = _Files()
        self._devices = [os.path.dirname(p) for p in sorted(glob.glob("/sys/class/drm/card*/device/gpu_busy_percent"))]
        if not self._devices:
            raise OSError("no AMD GPU")

    def sample(self, out: dict[str, float]) -> None:
        for index, device in enumerate(self._devices):
            name = f"system/gpu{index}"
            out[f"{name}/busy_percent"] = int(self._files.read(f"{device}/gpu_busy_percent"))
            out[f"{name}/memory_bytes"] = int(self._files.read(f"{device}/mem_info_vram_used"))


class Sampler:
    """One sample() a second; differences are taken to the sample before."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files = _Files()
        self._before: dict[str, tuple[float, float]] = {}
        self._cpus = os.cpu_count() or 1
        self._sources: list[Callable[[dict[str, float], float], None]] = [
            self._cpu,
            self._memory,
            self._process,
            self._disk,
            self._network,
        ]
        for kind in (_Nvml, _Amd):
            try:
                device = kind()
            except (OSError, AttributeError):
                continue
            self._sources.append(lambda out, now, device=device: device.sample(out))  # type: ignore[misc]
            break

    def _rate(self, name: str, total: float, now: float) -> float | None:
        before = self._before.get(name)
        self._before[name] = (total, now)
        if before is None or now <= before[1] or total < before[0]:
            return None
        return (total - before[0]) / (now - before[1])

    def _put_rate(self, out: dict[str, float], name: str, total: float, now: float, scale: float = 1) -> None:
        rate = self._rate(name, total, now)
        if rate is not None:
            out[name] = rate * scale

    def _cpu(self, out: dict[str, float], now: float) -> None:
        fields = [int(f) for f in self._files.read("/proc/stat").split(b"\n", 1)[0].split()[1:9]]
        busy = sum(fields) - fields[3] - fields[4]
        self._put_rate(out, "system/cpu_percent", busy / _CLOCK_TICKS, now, 100 / self._cpus)
        if "system/cpu_percent" in out:  # the kernel counts in ticks, the clock does not
            out["system/cpu_percent"] = min(100.0, out["system/cpu_percent"])

    def _memory(self, out: dict[str, float], now: float) -> None:
        found = {}
        for line in self._files.read("/proc/meminfo").split(b"\n", 8)[:8]:
            name, _, value = line.partition(b":")
            found[name] = value
        total = int(found[b"MemTotal"].split()[0])
        free = int(found[b"MemAvailable"].split()[0])
        out["system/memory_percent"] = 100 * (total - free) / total

    def _process(self, out: dict[str, float], now: float) -> None:
        fields = self._files.read("/proc/self/stat").rpartition(b")")[2].split()
        self._put_rate(out, "system/process/cpu_percent", (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS, now, 100)
        out["system/process/threads"] = int(fields[17])
        out["system/process/memory_bytes"] = int(fields[21]) * _PAGE_BYTES

    def _disk(self, out: dict[str, float], now: float) -> None:
        read = written = 0
        for line in self._files.read("/proc/diskstats").splitlines():
            fields = line.split()
            # Whole devices only: partitions and mapped devices would count twice.
            if len(fields) > 9 and not fields[2].startswith((b"loop", b"ram", b"dm-", b"zram", b"md")) and not _is_part(fields[2]):
                read += int(fields[5])
                written += int(fields[9])
        self._put_rate(out, "system/disk/read_bytes_per_s", read * _SECTOR_BYTES, now)
        self._put_rate(out, "system/disk/written_bytes_per_s", written * _SECTOR_BYTES, now)
        space = os.statvfs(self._folder)
        out["system/disk/free_bytes"] = space.f_bavail * space.f_frsize

    def _network(self, out: dict[str, float], now: float) -> None:
        received = sent = 0
        for line in self._files.read("/proc/net/dev").splitlines()[2:]:
            name, _, rest = line.partition(b":")
            fields = rest.split()
            if name.strip() != b"lo" and len(fields) > 8:
                received += int(fields[0])
                sent += int(fields[8])
        self._put_rate(out, "system/network/received_bytes_per_s", received, now)
        self._put_rate(out, "system/network/sent_bytes_per_s", sent, now)

    def sample(self) -> dict[str, float]:
        out: dict[str, float] = {}
        now = time.monotonic()
        for source in list(self._sources):
            try:
                source(out, now)
            except (OSError, ValueError, KeyError, IndexError):
                self._sources.remove(source)  # not on this machine; asking every second would not help
        return out

    def close(self) -> None:
        self._files.close()


def _is_part(name: bytes) -> bool:
    if name.startswith((b"nvme", b"mmcblk")):
        return b"p" in name[4:]
    return name[-1:].isdigit() and name.startswith((b"sd", b"vd", b"hd", b"xvd"))


class Monitor:
    """Samples on a thread of its own until close()."""

    def __init__(self, folder: str, interval_s: float, log: Callable[[dict[str, float]], object]) -> None:
        self._interval_s, self._log = interval_s, log
        self._sampler = Sampler(folder)
        self._sampler.sample()  # the first one has no rates
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sonde-system", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._stop.wait(self._interval_s):
            self._log(self._sampler.sample())

    def close(self) -> None:
        if self._stop.is_set():
            return
        self._stop.set()
        self._thread.join(timeout=2)
        if not self._thread.is_alive():
            self._sampler.close()
