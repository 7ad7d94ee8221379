# SPDX-License-Identifier: GPL-2.0-or-later
"""What the simulated array of a recording can do at most, from what the recording says that it was: its profile with all that
--set changed of it.

A real array says nothing of the kind: there a ceiling is found in the counters, and whether controller or drives make it is
not available.
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
    said = lab_config(meta)
    try:
        drives, rate = int(said["array.drives"]), int(said["drive.media_outer_kib_s"])
        controller = float(said[f"controller.{direction}_kib_s"])
        level, stripe = said["array.level"], int(said["array.stripe_kib"])
        if level == "raid5" and direction == "write":  # parity is worked out of what was taken, one after the other
            controller = 1 / (1 / controller + 1 / int(said["controller.parity_kib_s"]))
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    data = {"raid5": drives - 1, "raid10": drives // 2, "raid1": 1}.get(level, drives)
    used = drives if level == "raid10" and direction == "read" else data
    return Ceiling(
        said.get("name", ""), controller / KIB_PER_MIB, rate * used / KIB_PER_MIB, drives, level, 2 * stripe * data
    )
