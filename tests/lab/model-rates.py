#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates of rebuilding, initialising and verifying in simulated time, alone and during reads, as Documentation/devices.rst
gives them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish, guest, output_of, scratch  # noqa: E402

GUEST = Path(__file__).resolve().parent / "model_rates_guest.py"
PROFILE = "9650se-8-raid5"
KINDS = {
    "none": (),
    "rebuild": ("fault.remove_member=3", "fault.remove_ms=10", "fault.replace_ms=10"),
    "initialise": ("array.initialize=1",),
    "verify": ("array.verify=1",),
}
NEAR = 0.05
# At best a step takes its pause and the time in which its 256 KiB pass the drive's interface.
MOST = 256 * 1000 / (10 + 256 / 146.484)


def documented() -> dict[str, list[int]]:
    """Rows of the table: kind -> alone, during reads, reads."""
    text = (TOP / "Documentation/devices.rst").read_text(encoding="utf-8")
    rows = re.findall(r"^(none|rebuild|initialise|verify) +([\d,-]+) +([\d,-]+) +([\d,]+)$", text, re.MULTILINE)
    return {kind: [int(word.replace(",", "").replace("-", "0")) for word in words] for kind, *words in rows}


def main() -> None:
    rates: dict[str, list[int]] = {}
    with scratch() as top:
        for kind, settings in KINDS.items():
            done = guest(top / kind, "python3", GUEST, kernel="6.1", profile=PROFILE, settings=settings,
                         options=["--no-raidtrace"])  # fmt: skip
            if not output_of(kind, done):
                finish()
            rates[kind] = list(json.loads(done.stdout).values())
            print(f"# {kind}: alone {rates[kind][0]}, during reads {rates[kind][1]}, reads {rates[kind][2]} KiB/s")
        compare(rates)


def compare(rates: dict[str, list[int]]) -> None:
    """With each other, and with the documentation."""
    for kind, (alone, concurrent, reads) in rates.items():
        if kind == "none":
            check("without background work there is no progress", alone == concurrent == 0, rates)
            continue
        check(f"{kind}: goes on, and no faster than its parts", 1024 < alone <= MOST, (alone, MOST))
        check(f"{kind}: is slower during reads", 0 < concurrent < alone, rates[kind])
        check(f"{kind}: makes reads slower", reads < rates["none"][2], (rates[kind], rates["none"]))
    published = documented()
    same = published.keys() == rates.keys() and all(
        abs(one - other) <= NEAR * other for kind in rates for one, other in zip(published[kind], rates[kind])
    )
    check("the documentation has the same, within 5 %", same, (published, rates))


main()
