# SPDX-License-Identifier: GPL-2.0-or-later
"""The highest rates of the simulated array of a recording, from its recorded profile with all changes of --set.

A real array reports no such rates: there the counters show a ceiling, but not whether controller or drives make it.
"""

import dataclasses
from collections.abc import Mapping

from raidtrace.recording.observation import lab_config

KIB_PER_MIB = 1024


@dataclasses.dataclass(frozen=True)
class Ceiling:
    """MiB/s of large transfers in order, of the controller and of the drives of one unit together."""

    profile: str
    controller: float
    drives: float
    nr_drives: int
    level: str = ""
    stripe_sectors: int = 0  # of all data drives together

    def lower(self) -> str:
        """Which of the two comes first."""
        return "controller" if self.controller <= self.drives else "drives"


def of(meta: Mapping[str, str], direction: str) -> Ceiling | None:
    """The ceiling of a direction. None: not simulated, or what was simulated is not recorded."""
    config = lab_config(meta)
    try:
        drives, rate = int(config["array.drives"]), int(config["drive.media_outer_kib_s"])
        controller = float(config[f"controller.{direction}_kib_s"])
        level, stripe = config["array.level"], int(config["array.stripe_kib"])
        if level == "raid5" and direction == "write":  # parity is worked out of what was taken, one after the other
            controller = 1 / (1 / controller + 1 / int(config["controller.parity_kib_s"]))
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    data = {"raid5": drives - 1, "raid10": drives // 2, "raid1": 1}.get(level, drives)
    used = drives if level == "raid10" and direction == "read" else data
    return Ceiling(
        config.get("name", ""), controller / KIB_PER_MIB, rate * used / KIB_PER_MIB, drives, level, 2 * stripe * data
    )
