# SPDX-License-Identifier: GPL-2.0-or-later
"""The battery of QEMU: a case is the host's only if its construction does not hold by the program's own time."""

import pytest
from conftest import TOP, script

machine = script(TOP / "tests/battery/machine")
DD = "20+0 records out\n20971520 bytes (21 MB, 20 MiB) copied, {} s, 5.2 MB/s\n"


def of_host(place, run, out, lost="0\n0\n", control=""):
    for name, text in (("out", out), ("lost", lost), ("control", control)):
        (place / f"0.{name}").write_text(text, encoding="ascii")
    return machine.of_host(place, 0, run)


def made(**more):
    return machine.Made("a case", "vda", "dd", ("throttled",), **more)


@pytest.mark.parametrize(
    "run, out, more, reason",
    [
        (made(limit=5 << 20), DD.format("4.01"), {}, ""),
        (made(limit=5 << 20), DD.format("8.0"), {}, "50% of its limit"),
        (made(limit=60), "240 calls in 4.1 s\n", {}, ""),
        (made(limit=60), "240 calls in 62 s\n", {}, "6% of its limit"),
        (made(limit=60), "240 calls in 4.1 s\n", {"lost": "0\n1\n"}, "lost interrupt"),
        (made(limit=60), "Killed\n", {}, "printed no time"),
        (made(control="dd"), DD.format("4"), {"control": DD.format("0.5")}, ""),
        (made(control="dd"), DD.format("4"), {"control": DD.format("3.9")}, "without its cause"),
        (made(slept=3.84), "384 calls in 4.5 s\n", {}, ""),
        (made(slept=3.84), "384 calls in 9.5 s\n", {}, "slept for 3.8 s of 9.5 s"),
        (made(), "", {}, ""),
    ],
)
def test_the_construction_is_judged_by_the_programs_own_time(tmp_path, run, out, more, reason):
    why = of_host(tmp_path, run, out, **more)
    assert reason in why and bool(reason) == bool(why)


def test_every_case_with_a_limit_a_pause_or_encryption_is_judged():
    for run in machine.made():
        assert bool(run.limit) == (run.causes == ("throttled",))
        assert bool(run.slept) == (run.causes == ("program",))
        assert bool(run.control) == run.name.startswith("encrypted")
