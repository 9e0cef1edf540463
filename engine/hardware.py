"""How much memory this machine and its devices have. Reads the system's own words; owns nothing.

Torch is handed in where a device is asked about, so that windows may import this module. A system
that does not say is None, never a guess.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A container's limit, and what it uses of it: control groups of version 2, then 1.
GROUPS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
    ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


@dataclass(frozen=True)
class Memory:
    """Memory in bytes.

    Attributes:
        total: all there is.
        free: what can be had now without taking it from others.
    """

    total: int
    free: int


def device_memory(torch: Any, device: str) -> Memory | None:
    """The memory of a device.

    Args:
        torch: the module.
        device: torch's word, for example ``cuda:0``.
    """
    kind, _, number = device.partition(":")
    try:
        if kind == "cuda":
            free, total = torch.cuda.mem_get_info(int(number or 0))
            return Memory(int(total), int(free))
        if kind == "mps":
            return _shared(torch, system_memory())
    except (RuntimeError, AttributeError):  # a driver that does not answer, an older torch
        return None
    return system_memory()


def _shared(torch: Any, system: Memory | None) -> Memory | None:
    """A Mac's graphics processor takes its memory from the system's, up to a limit."""
    limit = int(torch.mps.recommended_max_memory())
    left = limit - int(torch.mps.driver_allocated_memory())
    if system is None:
        return Memory(limit, max(0, left))
    return Memory(min(limit, system.total), max(0, min(left, system.free)))


def system_memory() -> Memory | None:
    """The processor's memory; a container's limit counts where there is one."""
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "darwin":
        return _macos()
    return linux_memory(Path("/"))


def linux_memory(root: Path) -> Memory | None:
    """The memory as ``proc`` and the control groups below ``root`` tell it."""
    try:
        told = (root / "proc/meminfo").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    kilobytes = {name: int(count) for name, count in re.findall(r"(\w+):\s+(\d+) kB", told)}
    total = kilobytes.get("MemTotal", 0) * 1024
    if not total:
        return None
    free = kilobytes.get("MemAvailable", kilobytes.get("MemFree", 0)) * 1024
    for limit_file, used_file in GROUPS:
        limit, used = _number(root / limit_file), _number(root / used_file)
        if limit is not None and limit < total:
            free = min(free, max(0, limit - (used or 0)))
            total = limit
    return Memory(total, free)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or the word ``max``
        return None


def _macos() -> Memory | None:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        told = subprocess.run(["vm_stat"], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Memory(total, min(total, vm_stat_free(told.stdout)))


def vm_stat_free(told: str) -> int:
    """Bytes that ``vm_stat`` counts as free or given back at once."""
    size = re.search(r"page size of (\d+) bytes", told)
    names = ("free", "inactive", "speculative", "purgeable")
    pages = (re.search(rf"Pages {name}:\s+(\d+)", told) for name in names)
    return int(size[1] if size else 4096) * sum(int(found[1]) for found in pages if found)


class _Status(ctypes.Structure):
    """``MEMORYSTATUSEX`` of Windows."""

    _fields_ = (
        ("length", ctypes.c_ulong), ("load", ctypes.c_ulong),
        ("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
        *((f"unused_{number}", ctypes.c_ulonglong) for number in range(5)),
    )  # fmt: skip


def _windows() -> Memory | None:
    status = _Status()
    status.length = ctypes.sizeof(status)
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - exists on Windows only
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return Memory(int(status.total), int(status.free))
