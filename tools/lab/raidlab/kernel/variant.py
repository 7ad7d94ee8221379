# SPDX-License-Identifier: GPL-2.0-or-later
"""Other builds of the lab's kernels: the same source with more configuration, as lab-NAME.config says.

Its comments say what else such a kernel needs: `# boot:` words for its command line, `# memory:` MiB for itself,
`# kernels:` the series that can be built so. A variant a-b has the configuration of a, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import configuration, linux
from raidlab.kernel.linux import Kernel
from raidlab.userland import compiler


def names() -> list[str]:
    """The variants that there are."""
    return sorted(path.stem.removeprefix("lab-") for path in linux.HERE.glob("lab-*.config"))


@dataclass(frozen=True)
class Needs:
    """What a kernel needs beside the plain one: words for its command line, memory for itself, a clock that is real."""

    boot: tuple[str, ...] = ()
    memory_mib: int = 0
    real_time: bool = False


def needs(name: str) -> Needs:
    """Of the variant `name`; nothing for the plain kernel."""
    if not name:
        return Needs()
    # Several processors and a clock that leaps exclude each other.
    real_time = b"CONFIG_SMP=y" in _config(name)
    return Needs(tuple(_said(name, "boot")), sum(int(word) for word in _said(name, "memory")), real_time)


@dataclass(frozen=True)
class Added:
    """Configuration on top of lab.config, for a kernel that is built as a tree: a variant's, then a fragment of the user's."""

    variant: str = ""
    fragment: str = ""

    def text(self, series: str) -> str:
        """Its lines, for a kernel of that series."""
        if not self.variant:
            return self.fragment
        _check_series(self.variant, series)
        return b"".join(path.read_bytes() for path in _configs(self.variant)[1:]).decode() + self.fragment


NOTHING = Added()


def obtain(name: str, plain: Kernel, progress: Progress) -> Kernel:
    """The variant of a kernel, built from the source of `plain`, which need not be built, if it is not in the cache."""
    if not name:
        return plain
    if plain.tree:
        raise LabError(f"--variant {name}", f"{plain.tree} is a tree of yours", "Use it with 6.1, 6.12, 7.2 or 7.3.")
    _check_series(name, plain.series)
    wanted = configuration.read(_config(name).decode(), plain.series)
    built_by = compiler.get(progress)
    entry = cache.root() / f"kernels-{name}" / f"{plain.version}-{linux.identity(wanted, built_by)}"
    built = Kernel(plain.series, plain.version, entry)
    with cache.entry(entry, progress, resume=True) as is_new:
        if is_new:
            linux.make(built, plain, wanted, built_by, progress)
    return built


def _check_series(name: str, series: str) -> None:
    can = _said(name, "kernels")
    if can and series not in can:
        raise LabError(f"--variant {name}", f"Linux {series} cannot be built so", f"Use {' '.join(can)}.")


def _configs(name: str) -> list[Path]:
    words = name.split("-")
    return [linux.CONFIG] + [linux.HERE / f"lab-{'-'.join(words[: n + 1])}.config" for n in range(len(words))]


def _config(name: str) -> bytes:
    return b"".join(path.read_bytes() for path in _configs(name))


def _said(name: str, what: str) -> list[str]:
    """Words behind `# WHAT:` in the configuration of a variant."""
    return " ".join(re.findall(rf"^# {what}: *(.*)$", _config(name).decode(), re.MULTILINE)).split()
