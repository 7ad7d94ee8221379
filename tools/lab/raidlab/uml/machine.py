# SPDX-License-Identifier: GPL-2.0-or-later
"""The input of a guest, before it runs.

A seed selects everything that is random on a real machine; with the same seed, two runs are equal to the last bit. It
selects the random numbers, the time of the start (and so the position of the platters), the size of memory, and the size of
the environment (and so the start of each stack). Nobody tunes these values for a rate, but each changes the rates of some
workloads (Documentation/lab.rst has the amounts).
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raidlab.base import cache
from raidlab.userland.root import Root

CONTROL = "/proc/self/cwd"  # the control directory in the view of the User Mode Linux process
OWN_ROOT = "root"  # name of the guest's own root in it
_START_NS = 20_000_000  # largest delay of the start: longer than a turn of a disk with 7,200 or more turns a minute
_MEMORY_PAGES = 50  # largest reduction of memory, 200 KiB: less than even the smallest guest's page cache reacts to
_PAGE_KIB = 4
_PAD = 128  # largest extension of the environment, in bytes


@dataclass(frozen=True)
class Chance:
    """The random input that a seed selects. `randomness` seeds the host's random numbers for the guest."""

    seed: int = 0
    randomness: int = 0
    start_ns: int = 0
    less_memory_kib: int = 0
    pad: int = 0


def chance_of(seed: int) -> Chance:
    """The random input of a seed. Seed 0 changes nothing."""
    if not seed:
        return Chance()
    rng = random.Random(seed)
    return Chance(
        seed,
        rng.getrandbits(63) | 1,
        rng.randrange(_START_NS),
        rng.randrange(_MEMORY_PAGES) * _PAGE_KIB,
        rng.randrange(_PAD),
    )


@dataclass
class Guest:
    """The parts of a guest. Paths are the host's. `modules` are (file, parameters) in the order of insertion. `kernel`
    names the kernel's origin, for recordings. Without a `root`, the guest uses the host's files. `tools` is tools/bin of
    the checkout for the guest (userland/tools.py)."""

    binary: Path
    init: Path
    preload: Path
    out: Path
    command: Sequence[str]
    environment: dict[str, str]
    memory_mib: int
    kernel: str
    modroot: Path | None = None
    add_modules: Callable[[], None] | None = None  # fills modroot while the guest waits; None if it is complete
    modules: list[tuple[Path, str]] = field(default_factory=list)
    wait_for_disks: bool = False
    interactive: bool = False
    real_time: bool = False
    boot: Sequence[str] = ()
    root: Root | None = None
    tools: Path | None = None
    chance: Chance = field(default_factory=Chance)


# A guest that uses nothing of the host: the same paths, programs, environment and processor features on each host.
#
# Otherwise the length of a path, a library's choice by processor, or the size of ld.so.cache would move pages in a guest,
# and so change its figures. Therefore directories of the host are links in the control directory, with fixed names; the
# checkout is at /raidtrace; and a setting restricts the C library to plain x86-64.

CHECKOUT = "/raidtrace"
_IN_GUEST = "/run/lab/control"  # path of the control directory in the guest
_MODULES = "modules"
# Features beyond plain x86-64 by which the C library would choose functions, and sizes that it takes from the caches.
_BEYOND = (
    "AVX512F,AVX512VL,AVX512BW,AVX512DQ,AVX512CD,AVX2,AVX,FMA,FMA4,BMI1,BMI2,LZCNT,MOVBE,POPCNT,ERMS,FSRM,RTM,SSE4_2,"
    "SSE4_1,SSSE3,XSAVE,XSAVEC,AVX_Fast_Unaligned_Load,Fast_Copy_Backward,Fast_Unaligned_Load,Fast_Unaligned_Copy,"
    "Fast_Rep_String,Slow_BSF,Slow_SSE4_2,Prefer_PMINUB_for_stringop,Prefer_No_VZEROUPPER,Prefer_ERMS,Prefer_FSRM"
)
TUNABLES = ":".join((
    "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in _BEYOND.split(",")),
    "glibc.cpu.x86_data_cache_size=0x8000", "glibc.cpu.x86_shared_cache_size=0x100000",
    "glibc.cpu.x86_non_temporal_threshold=0xc0000", "glibc.cpu.x86_rep_movsb_threshold=0x800",
    "glibc.cpu.x86_rep_stosb_threshold=0x800",
))  # fmt: skip


def hermetic_environment() -> dict[str, str]:
    """The environment of a command, without the lab's own variables."""
    return {
        "GLIBC_TUNABLES": TUNABLES,
        "LD_BIND_NOW": "1",  # the stack frame of a lazy call depends on the processor's registers
        "PYTHONPYCACHEPREFIX": "/run/lab/tmp/pyc",
    }


def in_guest(text: str) -> str:
    """The guest's name for a path of the checkout; other text unchanged."""
    top = str(cache.CHECKOUT)
    return CHECKOUT + text[len(top) :] if text == top or text.startswith(f"{top}/") else text


def module_in_guest(path: Path) -> str:
    """The guest's path of a module."""
    return f"{_IN_GUEST}/{_MODULES}/{path.name}"


def compose(guest: Guest, control: Path) -> None:
    """Create the links of the control directory. Modules are copied, because a guest would follow a link in its own root."""
    assert guest.root
    links = {OWN_ROOT: guest.root.path, "out": guest.out, "checkout": cache.CHECKOUT}
    links |= {"linux": guest.binary, "hostcalls.so": guest.preload}
    if guest.modroot:
        links["modroot"] = guest.modroot
    if guest.tools:
        links["tools"] = guest.tools
    for name, path in links.items():
        (control / name).symlink_to(path)
    (control / _MODULES).mkdir()
    for path, _parameters in guest.modules:
        shutil.copyfile(path, control / _MODULES / path.name)


def request(guest: Guest) -> list[str]:
    """The paths for the guest's init, instead of the host's. The kernel follows a link only with /. behind it."""
    lines = [f"out {CONTROL}/out/.", f"show {CONTROL}/checkout/. {CHECKOUT}"]
    if guest.tools:
        lines.append(f"show {CONTROL}/tools/. {CHECKOUT}/tools/bin")
    if guest.modroot:
        lines.append(f"modroot {CONTROL}/modroot/.")
    return lines + [f"insmod {module_in_guest(path)} {parameters}".rstrip() for path, parameters in guest.modules]


def process_environment() -> dict[str, str]:
    """The environment of the User Mode Linux process, which is stored on the stack of the kernel."""
    return {"PATH": os.defpath, "HOME": CONTROL, "TMPDIR": CONTROL, "LD_PRELOAD": f"{CONTROL}/hostcalls.so"}
