# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest is made of, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raidlab.uml.chance import Chance
from raidlab.uml.root import Root

CONTROL = "/proc/self/cwd"  # as the User Mode Linux process sees its control directory
OWN_ROOT = "root"  # in it: the root that is the guest's own


@dataclass
class Guest:
    """What to boot. Paths are the host's; `modules` are (file, parameters) in the order they are inserted; `kernel` says
    where the kernel comes from, for recordings. Without a `root` the guest has the host's files (hermetic.py). `tools` are
    seen as tools/bin of the checkout (sysroot.py)."""

    binary: Path
    init: Path
    preload: Path
    out: Path
    command: Sequence[str]
    environment: dict[str, str]
    memory_mib: int
    kernel: str
    modroot: Path | None = None
    modules: list[tuple[Path, str]] = field(default_factory=list)
    wait_for_disks: bool = False
    interactive: bool = False
    real_time: bool = False
    boot: Sequence[str] = ()
    root: Root | None = None
    tools: Path | None = None
    chance: Chance = field(default_factory=Chance)
