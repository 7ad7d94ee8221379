# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest is made of, before it runs.

What is chance on a real machine is chosen here by a number: the same number, the same run to the last bit. It is random
numbers, the moment of the start (and with it where the platters are), the size of memory and that of the environment (and
with it where a stack begins). None of these is a figure that anybody sets to get a rate, and each changes the rates of some
workloads (Documentation/lab.rst has how much).
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

CONTROL = "/proc/self/cwd"  # as the User Mode Linux process sees its control directory
OWN_ROOT = "root"  # in it: the root that is the guest's own
_START_NS = 20_000_000  # the start is this much later at most: a turn of a disk of 7,200 and more per minute takes less
_MEMORY_PAGES = 50  # and memory this much smaller, 200 KiB: less than the page cache of the smallest guest would notice
_PAGE_KIB = 4
_PAD = 128  # and the environment this much longer, bytes


@dataclass(frozen=True)
class Chance:
    """What a seed selects: `randomness` starts the host's random numbers for the guest, the rest is as described above."""

    seed: int = 0
    randomness: int = 0
    start_ns: int = 0
    less_memory_kib: int = 0
    pad: int = 0


def chance_of(seed: int) -> Chance:
    """The chance of a seed. That of 0 is the plain run, with nothing changed."""
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
    """What to boot. Paths are the host's; `modules` are (file, parameters) in the order they are inserted; `kernel` says
    where the kernel comes from, for recordings. Without a `root` the guest has the host's files. `tools` are
    tools/bin of the checkout for the guest (userland/tools.py)."""

    binary: Path
    init: Path
    preload: Path
    out: Path
    command: Sequence[str]
    environment: dict[str, str]
    memory_mib: int
    kernel: str
    modroot: Path | None = None
    add_modules: Callable[[], None] | None = None  # fills modroot, which the guest waits for; None if that was done
    modules: list[tuple[Path, str]] = field(default_factory=list)
    wait_for_disks: bool = False
    interactive: bool = False
    real_time: bool = False
    boot: Sequence[str] = ()
    root: Root | None = None
    tools: Path | None = None
    chance: Chance = field(default_factory=Chance)


# A guest that sees nothing of the host: the same names, programs, environment and processor wherever it runs.
#
# How long a path is, what a library chose by processor, how large the host's ld.so.cache is: each moves pages in a
# guest, and with them its figures. So directories of the host are links in the control directory, known by their names
# there; the checkout is at /raidtrace; a setting of the C library limits it to the instructions of plain x86-64.

CHECKOUT = "/raidtrace"
_IN_GUEST = "/run/lab/control"  # the control directory, as a guest's programs see it
_MODULES = "modules"
# What a processor has beyond the baseline and the C library would choose by, and sizes that it takes from the caches.
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
        "LD_BIND_NOW": "1",  # a lazy call's stack frame has as many of the processor's registers as there are
        "PYTHONPYCACHEPREFIX": "/run/lab/tmp/pyc",
    }


def in_guest(text: str) -> str:
    """A path of the checkout as the guest sees it; other text as it is."""
    top = str(cache.CHECKOUT)
    return CHECKOUT + text[len(top) :] if text == top or text.startswith(f"{top}/") else text


def module_in_guest(path: Path) -> str:
    """Where a guest sees a module that is inserted."""
    return f"{_IN_GUEST}/{_MODULES}/{path.name}"


def compose(guest: Guest, control: Path) -> None:
    """Make the links of the control directory. Modules are copied: a guest would follow a link in its own root."""
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
    """The paths for the guest's init, instead of the host's. The kernel needs the /. to follow a link."""
    lines = [f"out {CONTROL}/out/.", f"show {CONTROL}/checkout/. {CHECKOUT}"]
    if guest.tools:
        lines.append(f"show {CONTROL}/tools/. {CHECKOUT}/tools/bin")
    if guest.modroot:
        lines.append(f"modroot {CONTROL}/modroot/.")
    return lines + [f"insmod {module_in_guest(path)} {parameters}".rstrip() for path, parameters in guest.modules]


def process_environment() -> dict[str, str]:
    """Of the User Mode Linux process: it lies on the stack of the kernel."""
    return {"PATH": os.defpath, "HOME": CONTROL, "TMPDIR": CONTROL, "LD_PRELOAD": f"{CONTROL}/hostcalls.so"}
