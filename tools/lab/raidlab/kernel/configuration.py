# SPDX-License-Identifier: GPL-2.0-or-later
"""The options that lab.config and its additions request for a series, and a check of the built configuration.

A line is an assignment of Kconfig, `CONFIG_X=y`. A comment `# until SERIES` or `# from SERIES` behind it limits the line to
kernels that have the option; both limits are inclusive. Kconfig silently drops unknown options and options with missing
dependencies, so lost() checks each configuration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from raidlab.base.failure import LabError

_LINE = re.compile(r"CONFIG_(\w+)=(\"[^\"]*\"|[^\s\"]+)(?:\s+# (until|from) ([0-9]+\.[0-9]+))?")


@dataclass(frozen=True)
class Requested:
    """The requested values of options, as in Kconfig. If two lines set one option, the later line counts."""

    options: dict[str, str]

    def text(self) -> str:
        """The text for KCONFIG_ALLCONFIG. Kernels with equal texts have the same configuration, and their cache has its
        digest as name."""
        return "".join(f"CONFIG_{name}={value}\n" for name, value in sorted(self.options.items()))

    def lost(self, config: str) -> list[str]:
        """Options whose value in a kernel's .config differs from the requested one."""
        have = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", config, re.MULTILINE))
        return sorted(name for name, value in self.options.items() if have.get(name, "n") != value)

    def require(self, what: str, config: str) -> None:
        """Raise LabError with the names of the options that a .config lacks."""
        lost = self.lost(config)
        if lost:
            names = ", ".join(f"CONFIG_{name}={self.options[name]}" for name in lost)
            raise LabError(
                what,
                f"its configuration lacks {names}",
                "Limit the option to a series in lab.config (or lab-VARIANT.config), or also request its dependencies.",
            )


def read(text: str, series: str) -> Requested:
    """Parse the options that `text` requests for a kernel of `series`, such as 6.12. LabError for an invalid line."""
    options = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.rstrip())
        if not match:
            raise LabError(
                "configuring the kernel", f"line {number}: {line}", "Write CONFIG_X=y, or CONFIG_X=y # until 6.12"
            )
        name, value, word, limit = match.groups()
        if not word or (_key(series) <= _key(limit) if word == "until" else _key(series) >= _key(limit)):
            options[name] = value
    return Requested(options)


def _key(series: str) -> tuple[int, ...]:
    return tuple(int(number) for number in series.split("."))
