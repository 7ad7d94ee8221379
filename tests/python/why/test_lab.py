# SPDX-License-Identifier: GPL-2.0-or-later
"""The script of a guest, and the parts of a profile that can be changed."""

import pathlib
import subprocess

import pytest

from raidtrace.why import changes, figures, lab
from raidtrace.why.changes import Change, Kind


def setup_of(**more: object) -> lab.Setup:
    """A dd in the lab."""
    profile = str(more.pop("profile", "9500s-12-raid0"))
    return lab.Setup(pathlib.Path("/x/raidctl"), pathlib.Path("/out"), profile, ("dd", "if=/dev/sda"), **more)  # type: ignore


def causes(place: lab.Lab) -> list[str]:
    """The changes besides settings."""
    return [change.cause for change in place.others(frozenset())]


def test_faults() -> None:
    """Faults of the profile or the command line can be removed; their extent or position is not a fault."""
    assert causes(lab.Lab(setup_of())) == []
    assert causes(lab.Lab(setup_of(profile="slow-drive"))) == ["slow drive"]
    faults = {"fault.lose_command": "5", "fault.slow_factor": "3"}
    assert causes(lab.Lab(setup_of(sets=faults))) == ["fault (fault.lose_command)"]
    assert causes(lab.Lab(setup_of(load="cat x"))) == ["concurrent load"]


def test_physics() -> None:
    """Times are divided, rates multiplied, by ten, of what the profile says; seeks are free."""
    free = lab.Lab(setup_of()).bound()
    assert free and free.kind is Kind.FREE
    keys = dict(free.lab)
    assert keys["controller.part_us"] == "68" and keys["controller.read_kib_s"] == "4425000"
    assert keys["drive.media_outer_kib_s"] == "703120" and keys["drive.command_us"] == "10"
    assert keys["drive.seek_average_us"] == "0" and keys["drive.slow_member"] == "0"
    names = [change.cause for change in lab.Lab(setup_of()).last()]
    assert names == ["seeks", "controller", "drives"]
    assert "RAID level" in [change.cause for change in lab.Lab(setup_of(profile="9500s-12-raid5")).last()]
    assert "kernel" in [change.cause for change in lab.Lab(setup_of(other_kernel="6.12")).last()]


def last(profile: str, **sets: str) -> dict[str, tuple[str, dict[str, str]]]:
    """The changes that only the lab can make: name -> cause and keys."""
    place = lab.Lab(setup_of(profile=profile, sets={name.replace("_", ".", 1): value for name, value in sets.items()}))
    return {change.name: (change.cause, dict(change.lab)) for change in place.last()}


def test_the_limits_of_a_volume_are_tested_one_by_one() -> None:
    """Each with its value, so that the sentence names the one that limits."""
    volume = last("virtio-capped")
    assert volume["IOPS limit 10 x as high"] == ("IOPS limit of 3,000 requests/s", {"limit.iops": "30000"})
    assert volume["bandwidth limit 10 x as high"] == ("bandwidth limit of 125 MiB/s", {"limit.bytes_s": "1310720000"})
    azure = {cause for cause, _ in last("nvme-azure", limit_iops="500").values()}
    assert {"IOPS limit of 500 requests/s", "bandwidth limit of 439 MiB/s"} <= azure
    assert not any("limit" in cause for cause, _ in last("nvme-970pro").values())


def test_flash_has_channels_and_a_disk_may_advertise_an_optimal_size() -> None:
    """Ten times the channels, as many as the model has; no optimal I/O size only where there is one."""
    assert last("nvme-azure")["no optimal I/O size"][1] == {"nvme.optimal_write_kib": "0"}
    assert "no optimal I/O size" not in last("nvme-970pro")
    for channels, faster in (("32", "320"), ("200", "1024")):
        result = last("nvme-970pro", flash_channels=channels)
        assert result["number of flash channels 10 x as fast"][1] == {"flash.channels": faster}


def test_what_follows_a_setting_is_put_back() -> None:
    """The kernel sets readahead anew with max_sectors_kb, and nr_requests with a scheduler."""
    text = lab.script(setup_of(), changes.setting("max_sectors_kb", "64"))
    assert text.index("echo 64 >") < text.index("echo $(before read_ahead_kb) >")
    assert "echo $(before nr_requests)" in text
    assert "echo $(before" not in lab.script(setup_of(), changes.BASELINE)
    assert text.index(f"done >{figures.SETTINGS}") < text.index("raidctl record") < text.index(f"done >{figures.AFTER}")


def test_a_sata_disk_of_flash_has_no_heads() -> None:
    place = lab.Lab(setup_of(profile="sata-ssd"))
    free = place.bound()
    assert free and not any(key in dict(free.lab) for key in ("drive.rpm", "drive.media_outer_kib_s"))
    assert [change.cause for change in place.last()] == ["flash", "number of flash channels", "interface"]
    assert "seeks" in [change.cause for change in lab.Lab(setup_of(profile="sata-hdd-7200")).last()]


def test_guest() -> None:
    """A change's keys override those of the command line; the same seed is the same guest."""
    place = lab.Lab(setup_of(sets={"fault.lose_command": "5"}))
    change = Change("no faults", "fault", Kind.FAULT, lab=(("fault.lose_command", "0"),))
    words = place.guest(change, 1, pathlib.Path("/out/run-01"), 0)
    assert "fault.lose_command=0" in words and "fault.lose_command=5" not in words
    assert words == place.guest(change, 1, pathlib.Path("/out/run-01"), 0)
    assert words != place.guest(change, 2, pathlib.Path("/out/run-01"), 0)


@pytest.mark.parametrize("change", [changes.BASELINE, changes.setting("scheduler", "bfq"), changes.ALONE])
@pytest.mark.parametrize("more", [{}, {"prepare": "echo 'a b'\nfalse || true"}, {"load": "dd if='x y'"}])
def test_scripts_are_shell(change: Change, more: dict[str, str]) -> None:
    text = lab.script(setup_of(**more), change)
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    assert ("setsid" in text) == (bool(more.get("load")) and not change.alone)
    assert ("queue/scheduler 2>>refused" in text) == bool(change.settings)


def test_measured() -> None:
    """A cap only when there is one, sync unless a load runs, nothing left out unless requested."""
    text = figures.measured(("cat", "a b"), "'/x y/z.so'", "", 0.0, False)
    assert "LD_PRELOAD='/x y/z.so' " in text
    assert "timeout" not in text and "OMIT" not in text and text.endswith("\nsync\n") and "'a b'" in text
    text = figures.measured(("cat",), "z.so", "sync", 6.5, True)
    assert text.startswith("timeout -k 5 6.500000 env ") and "RAIDTRACE_WHY_OMIT=sync" in text
    assert "\nsync\n" not in text


def test_runs_and_time_are_limited() -> None:
    place = lab.Lab(setup_of(), most_runs=10, budget_s=20.0)
    assert place.left() == 10
    place.runs, place.wall_s = 4, [8.0, 8.0]
    assert place.left() == 4  # 20 s, 4 s a run with two at once
    place.budget_s = float("inf")
    assert place.left() == 6


def test_a_recording_that_is_not_there_is_a_failure(tmp_path: pathlib.Path) -> None:
    run = figures.read(tmp_path, "sda", "", 0.0)
    assert run.failure.startswith("no figures: ") and "settings" in run.failure


def test_how_long_a_run_may_take_goes_by_the_command_as_it_is():
    place = lab.Lab(setup_of())
    limits = []
    for seconds in (5.0, 20.0, 10.0, 100.0):
        limits.append(place._limit_s())
        place.wall_s.append(seconds)
    assert limits == [1200, 1200, 1200, 40 + 8 * 20] and place._limit_s() == 200
