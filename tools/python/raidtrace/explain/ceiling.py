# SPDX-License-Identifier: GPL-2.0-or-later
"""What the simulated array of a recording can do at most, from the lab's profile that the recording names.

A real array says nothing of the kind: there a ceiling is found in the counters, and whether controller or drives make it is
not available.
"""

import dataclasses
import pathlib
from collections.abc import Mapping

import tomllib

PROFILES = pathlib.Path(__file__).resolve().parents[3] / "lab" / "profiles"
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


def of(meta: Mapping[str, str], way: str) -> Ceiling | None:
    """The ceiling of a direction. None: not simulated, or by a profile that is not here."""
    name = meta.get("lab_profile", "")
    path = PROFILES / f"{name}.toml"
    if meta.get("simulated") != "yes" or not name.replace("-", "").isalnum() or not path.is_file():
        return None
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    array, drive = said["array"], said["drive"]
    drives = int(array["drives"])
    useful = {"raid5": drives - 1, "raid10": drives // 2 if way == "write" else drives, "raid1": 1}
    rate = drive["media_outer_kib_s"] * useful.get(array["level"], drives)
    controller = said["controller"]["read_kib_s" if way == "read" else "write_kib_s"]
    data = useful.get(array["level"], drives)
    return Ceiling(
        name, controller / KIB_PER_MIB, rate / KIB_PER_MIB, drives, array["level"], 2 * array["stripe_kib"] * data
    )
