# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of raidctl check: each from just good to bad, and not known; and what is printed of them."""

import dataclasses
import json

import pytest

from raidtrace.check import rules
from raidtrace.check.facts import Activity, Disk, DiskUse, Facts, Kind, ModuleUse, Mount, ProcessUse, Signing
from raidtrace.check.rules import FAIL, PASS, UNKNOWN, WARN
from raidtrace.cli import check

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PROCESSES = (ProcessUse(1, "init", 0.0, 0), ProcessUse(10, "editor", 1.0, 4096), ProcessUse(11, "make", 2.0, 8192),
             ProcessUse(12, "cron", 0.5, 0))  # fmt: skip
SIGNING = Signing(False, "", "", "", None, "")
LOCKED = dataclasses.replace(SIGNING, why="lockdown integrity", advice="mokutil --import KEY")
QUIET = Facts(
    Activity(1.0, 0, processes=PROCESSES, disks=(DiskUse("sda", 0, 0), DiskUse("sdb", 1, 4096)),
             modules=(ModuleUse("e1000", 3, False),)),
    data_bytes=20 * GIB, ram_bytes=GIB // 2, dirty_bytes=0, writeback_bytes=0, swap_bytes=0, swap_used_bytes=0,
    governors=("performance",) * 4, target="multi-user.target", hypervisor="", signing=SIGNING,
    config="# CONFIG_KASAN is not set\nCONFIG_HZ=250\n", config_source="/proc/config.gz",
)  # fmt: skip
DISK = Disk("sda", "3w-9xxx", "none", 8192, kind=Kind.ARRAY)


def facts(**changes):
    """The quiet machine, changed; names of Activity go there."""
    names = {field.name for field in dataclasses.fields(Activity)}
    activity = dataclasses.replace(QUIET.activity, **{name: value for name, value in changes.items() if name in names})
    return dataclasses.replace(
        QUIET, activity=activity, **{name: value for name, value in changes.items() if name not in names}
    )


def judged(rule, changed, **disk):
    """The finding of one rule."""
    findings = [one for one in rules.judge(changed, [dataclasses.replace(DISK, **disk)]) if one.rule.name == rule]
    assert len(findings) == 1
    return findings[0]


def busy(**changes):
    """Processes of which the editor does more."""
    return (PROCESSES[0], dataclasses.replace(PROCESSES[1], **changes), *PROCESSES[2:])


def use(sda=(0, 0), sdb=(1, 4096)):
    """The I/O of the two disks."""
    return (DiskUse("sda", *sda), DiskUse("sdb", *sdb))


# rule, changes of the machine, verdict, text, value, advice
CASES = [
    ("data-set", {}, PASS, "20 GiB is 40 times the memory of 512 MiB", 40, ""),
    ("data-set", {"data_bytes": 20 * GIB - 1}, WARN, "20.0 GiB is 40 times", None, "use 20 GiB (40 times) or more"),
    ("data-set", {"data_bytes": GIB + 1}, WARN, "", None, ""),
    ("data-set", {"data_bytes": GIB}, FAIL, "1 GiB is 2 times the memory of 512 MiB", 2, "20 GiB"),
    ("data-set", {"data_bytes": None}, UNKNOWN, "not given; memory is 512 MiB", None, "--data-size SIZE; use 20 GiB or more"),
    ("data-set", {"ram_bytes": None}, UNKNOWN, "/proc/meminfo cannot be read", None, ""),
    ("unwritten", {"dirty_bytes": 3 * MIB, "writeback_bytes": MIB}, PASS, "3 MiB dirty, 1 MiB in writeback", 4 * MIB, ""),
    ("unwritten", {"dirty_bytes": 3 * MIB, "writeback_bytes": MIB + 1}, WARN, "", 4 * MIB + 1, "before the run: sync"),
    ("unwritten", {"dirty_bytes": 64 * MIB}, WARN, "", None, ""),
    ("unwritten", {"dirty_bytes": 64 * MIB, "writeback_bytes": 1}, FAIL, "64 MiB dirty", 64 * MIB + 1, ""),
    ("unwritten", {"writeback_bytes": None}, UNKNOWN, "/proc/meminfo cannot be read", None, ""),
    ("processor", {}, PASS, "3.5 % of one processor in 1.0 s: make (11) 2.0 %, editor (10) 1.0 %, cron (12) 0.5 %", 3.5, ""),
    ("processor", {"processes": busy(cpu_percent=2.5)}, PASS, "", 5, ""),
    ("processor", {"processes": busy(cpu_percent=2.6)}, WARN, "in 1.0 s: editor (10) 2.6 %", None, "end processes"),
    ("processor", {"processes": busy(cpu_percent=90.0)}, FAIL, "editor (10) 90.0 %", None, ""),
    ("processor", {"cpu_is_free": True}, UNKNOWN, "time is simulated", None, ""),
    ("processor", {"processes_known": False}, UNKNOWN, "cannot see the processes", None, "sudo raidctl check"),
    ("process-io", {"seconds": 2.0}, PASS,
     "6 KiB/s read from and written to disks: make (11) 4 KiB/s, editor (10) 2 KiB/s", 6144, ""),
    ("process-io", {"nr_io_hidden": 3}, UNKNOWN, "only root may read the I/O of 3 of 4 processes; the others: 12 KiB/s", None,
     "sudo"),
    ("process-io", {"nr_io_hidden": 3, "processes": busy(io_bytes=56 * KIB)}, UNKNOWN, "the others: 64 KiB/s", None, "sudo"),
    # The visible part is too much, so the hidden part does not matter.
    ("process-io", {"nr_io_hidden": 3, "processes": busy(io_bytes=56 * KIB + 1)}, WARN, "editor (10) 56.0 KiB/s", None, "end"),
    ("process-io", {"processes": busy(io_bytes=56 * KIB)}, PASS, "64 KiB/s", 64 * KIB, ""),
    ("process-io", {"processes": busy(io_bytes=8 * MIB)}, FAIL, "editor (10) 8 MiB/s", None, ""),
    ("process-io", {"io_accounted": False}, UNKNOWN, "does not account", None, ""),
    ("other-disks", {"disks": use(sda=(9, GIB))}, PASS, "4 KiB/s on 1 other disk: sdb 4 KiB/s", 4096, ""),
    ("other-disks", {"disks": use(sdb=(9, 64 * KIB + 1))}, WARN, "sdb 64.0 KiB/s", None, "rule process-io"),
    ("other-disks", {"disks": use(sdb=(9, MIB + 1))}, FAIL, "", None, ""),
    ("other-disks", {"disks": None}, UNKNOWN, "/proc/diskstats cannot be read", None, ""),
    ("swap", {}, PASS, "there is no swap space", 0, ""),
    ("swap", {"swap_bytes": 2 * GIB}, PASS, "0 B of 2 GiB in use", 0, ""),
    ("swap", {"swap_bytes": 2 * GIB, "swap_used_bytes": MIB}, WARN, "1 MiB of 2 GiB in use", MIB, "swapoff -a"),
    ("swap", {"swap_bytes": 2 * GIB, "swapped_pages": 1}, FAIL, "in use, 1 page moved in 1.0 s", 0, ""),
    ("swap", {"swap_bytes": None}, UNKNOWN, "", None, ""),
    ("drivers", {}, PASS, "3.0 interrupts/s from devices of 1 module with use count 0: e1000 3.0/s", 3, ""),
    ("drivers", {"seconds": 2.0, "modules": (ModuleUse("e1000", 20, False),)}, PASS, "e1000 10.0/s", 10, ""),
    ("drivers", {"modules": (ModuleUse("e1000", 11, True),)}, WARN, "e1000 11.0/s (shared)", 11, "modprobe -r"),
    ("drivers", {"modules": None}, UNKNOWN, "/proc/modules or /proc/interrupts", None, ""),
    ("disk-idle", {}, PASS, "0 B/s in 0 requests", 0, ""),
    ("disk-idle", {"disks": use(sda=(1, 64 * KIB))}, PASS, "64 KiB/s in 1 request", None, ""),
    ("disk-idle", {"disks": use(sda=(20, 128 * KIB))}, WARN, "128 KiB/s in 20 requests", None, "end processes that use"),
    ("disk-idle", {"disks": use(sda=(20, 2 * MIB))}, FAIL, "2 MiB/s", 2 * MIB, ""),
    ("disk-idle", {"disks": ()}, UNKNOWN, "/proc/diskstats does not list the disk", None, ""),
    ("governor", {}, PASS, "performance on all 4 processors", 4, ""),
    ("governor", {"governors": ("performance", "performance", "performance", "powersave")}, WARN,
     "powersave on 1 of 4 processors", 3, "cpupower"),
    ("governor", {"governors": ()}, UNKNOWN, "does not govern", None, ""),
    ("target", {"target": "graphical.target"}, WARN, "graphical.target", None, "isolate multi-user.target"),
    ("target", {"target": "runlevel 5"}, WARN, "runlevel 5", None, ""),
    ("target", {"target": "runlevel 3"}, PASS, "runlevel 3", None, ""),
    ("target", {"target": ""}, UNKNOWN, "neither systemd nor utmp", None, ""),
    ("machine", {}, PASS, "no hypervisor found", None, ""),
    ("machine", {"hypervisor": "QEMU"}, WARN, "virtual machine: QEMU", None, "pass its controller through"),
    ("machine", {"hypervisor": None}, UNKNOWN, "neither processor nor firmware", None, ""),
    ("machine", {"hypervisor": None, "profile": "9500s-12-raid0"}, WARN,
     "simulated: a guest of the lab, profile 9500s-12-raid0", None, "simulated"),
    ("kernel-debug", {}, PASS, "no option that slows down requests (/proc/config.gz)", 0, ""),
    ("kernel-debug", {"config": "CONFIG_A=y\nCONFIG_DEBUG_VM=y\n"}, WARN, "DEBUG_VM (/proc", 1, "boot a kernel without"),
    ("kernel-debug", {"config": "CONFIG_KASAN=y\nCONFIG_DEBUG_VM=y"}, FAIL, "KASAN, DEBUG_VM (", 2, ""),
    # Debian's 7.2, where distributions began with it.
    ("kernel-debug", {"config": "CONFIG_UBSAN=y\nCONFIG_UBSAN_BOUNDS=y\nCONFIG_UBSAN_BOUNDS_STRICT=y\nCONFIG_UBSAN_SHIFT=y\n"},
     PASS, "(/proc/config.gz); UBSAN_BOUNDS, UBSAN_SHIFT as in kernels of distributions", 0, ""),
    ("kernel-debug", {"config": "CONFIG_UBSAN_SHIFT=y\nCONFIG_UBSAN_ALIGNMENT=y\n"}, WARN, "UBSAN_ALIGNMENT (", 1, ""),
    # Only the option itself, and only when it is set.
    ("kernel-debug", {"config": "CONFIG_KASAN_X=y\nMY_CONFIG_KASAN=y\nCONFIG_KASAN=n\n"}, PASS, "no option", 0, ""),
    ("kernel-debug", {"config": None}, UNKNOWN, "/proc/config.gz", None, ""),
    ("signing", {}, PASS, "this kernel accepts unsigned modules", None, ""),
    ("signing", {"signing": LOCKED}, WARN, "(lockdown integrity); raidtrace is not installed", None, "mokutil"),
    ("signing", {"signing": dataclasses.replace(LOCKED, module="/x.ko")}, WARN, "raidtrace is not signed", None, ""),
    ("signing", {"signing": dataclasses.replace(LOCKED, module="/x.ko", signer="K", enrolled=False)}, WARN,
     'the kernel does not have the key of "K"', None, ""),
    ("signing", {"signing": dataclasses.replace(LOCKED, module="/x.ko", signer="K")}, WARN,
     "it is not known whether the kernel has the key of", None, ""),
    ("signing", {"signing": dataclasses.replace(LOCKED, module="/x.ko", signer="K", enrolled=True)}, PASS,
     'the kernel has the key of "K"', None, ""),
    ("signing", {"signing": dataclasses.replace(LOCKED, loaded=True)}, PASS, "raidtrace is loaded", None, ""),
    ("signing", {"signing": None}, UNKNOWN, "raidctl status cannot be read", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "verdict", "words"), [
    ((20 * GIB,), PASS, "20 GiB is 40 times the memory of 512 MiB"),
    ((20 * GIB - 512,), FAIL, "20 GiB of data does not fit on sd0, of 20.0 GiB"),
    ((10 * GIB, 9 * GIB), FAIL, "20 GiB of data does not fit on sd0 and sd1, of 19 GiB"),
    ((10 * GIB, 10 * GIB), PASS, "40 times"),
    ((10 * GIB, 0), PASS, "40 times"),  # the size of one is not known
    ((), PASS, "40 times"),
])  # fmt: skip
def test_data_that_do_not_fit_on_the_disks_are_not_compared_with_the_memory(sizes, verdict, words):
    disks = [dataclasses.replace(DISK, name=f"sd{at}", size_bytes=size) for at, size in enumerate(sizes)]
    (finding,) = (one for one in rules.judge(QUIET, disks) if one.rule.name == "data-set")
    assert finding.verdict is verdict and words in finding.text
    assert finding.value == (None if verdict is FAIL else 40)


@pytest.mark.parametrize(("rule", "changes", "verdict", "observed", "value", "advice"), CASES)
def test_each_side_of_a_threshold(rule, changes, verdict, observed, value, advice):
    finding = judged(rule, facts(**changes))
    assert finding.verdict is verdict and observed in finding.text and advice in finding.remedy
    assert value is None or finding.value == value
    assert bool(finding.remedy) if verdict in (WARN, FAIL) else verdict is UNKNOWN or not finding.remedy
    assert verdict is not UNKNOWN or finding.value is None


def test_every_rule_passes_on_a_quiet_machine_and_has_a_case():
    assert {one.verdict for one in rules.judge(QUIET, [DISK])} == {PASS}
    with_cases = {case[0] for case in CASES} | {"scheduler", "readahead", "mounts"}
    assert with_cases == {rule.name for rule in rules.RULES}


@pytest.mark.parametrize(("name", "verdict", "words"), [
    ("none", PASS, "none"), ("mq-deadline", PASS, "mq-deadline"), ("bfq", WARN, "bfq"), ("", UNKNOWN, "receives only bios"),
])  # fmt: skip
def test_schedulers(name, verdict, words):
    finding = judged("scheduler", QUIET, scheduler=name)
    assert finding.verdict is verdict and words in finding.text
    assert ("/sys/block/sda/" in finding.remedy) == (verdict is WARN)


@pytest.mark.parametrize(("kind", "kib", "verdict", "words"), [
    (Kind.ARRAY, 8192, PASS, "8 MiB (16384 sectors)"),
    (Kind.ARRAY, 128, WARN, "128 KiB (256 sectors)"),
    (Kind.ARRAY, 64, WARN, "64 KiB (128 sectors)"),
    (Kind.ARRAY, 129, PASS, "129 KiB (258 sectors)"),
    (Kind.DRIVE, 128, PASS, "128 KiB (256 sectors), on one rotating drive"),
    (Kind.FLASH, 128, PASS, "on flash"),
    (Kind.VIRTUAL, 0, PASS, "on a virtual disk"),
    (Kind.VIRTUAL, 4095, PASS, "on a virtual disk"),
    (Kind.VIRTUAL, 4096, WARN, "4 MiB (8192 sectors), on a virtual disk"),
    (Kind.DRIVE, 65532, WARN, "(131064 sectors), on one rotating drive"),
])  # fmt: skip
def test_much_readahead_is_advised_for_arrays_of_rotating_drives_alone(kind, kib, verdict, words):
    finding = judged("readahead", QUIET, readahead_kib=kib, kind=kind)
    assert finding.verdict is verdict and finding.text.endswith(words) and finding.value == 2 * kib
    sectors = 16384 if kind is Kind.ARRAY else 256
    assert (f"blockdev --setra {sectors} /dev/sda" in finding.remedy) == (verdict is WARN)


def test_the_origin_of_the_readahead_is_named():
    finding = judged("readahead", QUIET, readahead_kib=65532, kind=Kind.DRIVE, readahead_from="2 x optimal I/O size")
    assert "(131064 sectors), 2 x optimal I/O size, on one rotating drive" in finding.text


@pytest.mark.parametrize(("options", "verdict", "advice"), [
    ("rw,noatime", PASS, ""),
    ("ro,relatime", PASS, ""),
    ("rw,relatime", WARN, "mount -o remount,noatime /b"),
    ("rw", FAIL, "mount -o remount,noatime /b"),
    ("rw,noatime,sync", FAIL, "mount -o remount,async /b"),
    ("rw,dirsync,noatime", FAIL, "unmount /b and mount it without dirsync"),
    ("rw,noatime,discard", WARN, "mount -o remount,nodiscard /b"),
    ("rw,noatime,discard=async", WARN, "mount -o remount,nodiscard /b"),
    ("rw,noatime,nodiscard", PASS, ""),
    ("rw,rootcontext=a,relatime", WARN, "mount -o remount,noatime /b"),
    ("rw,noatime,async", PASS, ""),
])  # fmt: skip
def test_mount_options(options, verdict, advice):
    mounts = (Mount("/a", "xfs", "rw,noatime"), Mount("/b", "ext4", options))
    finding = judged("mounts", QUIET, mounts=mounts)
    assert finding.verdict is verdict and finding.remedy == advice and f"/b ext4 {options}" in finding.text


def test_without_a_disk_and_with_two():
    findings = rules.judge(QUIET, [])
    assert len(findings) == len(rules.RULES) and [one.verdict for one in findings].count(UNKNOWN) == len(rules.DISK)
    two = rules.judge(QUIET, [DISK, dataclasses.replace(DISK, name="sdb")])
    assert len(two) == len(rules.RULES) + len(rules.DISK)
    assert {one.disk for one in two} == {"", "sda", "sdb"}


def test_text_and_json_say_the_same():
    changed = facts(governors=(), data_bytes=None, processes=busy(cpu_percent=90.0))
    findings = rules.judge(changed, [dataclasses.replace(DISK, readahead_kib=128)])
    text, document = check.as_text(changed, findings), json.loads(check.as_json(changed, findings))
    assert all(len(line) <= 80 for line in text.splitlines())
    passed = len(rules.RULES) - 4
    counts = f"{passed} pass, 1 warn, 1 fail, 2 not available; activity of 1.0 s\nTo measure the gain of a change: raidctl why"
    assert counts in text
    assert [document[name] for name in ("pass", "warn", "fail", "not_available")] == [passed, 1, 1, 2]
    flat, at = " ".join(text.split()), 0
    for one in document["findings"]:
        for word in (one["verdict"], one["rule"], one["disk"] or "-", one["seen"], one["remedy"] or ""):
            at = flat.index(word, at)
    assert document["lab_profile"] is None and document["simulated"] is False


def test_nothing_to_gain_where_all_passes_and_a_long_word_is_cut():
    findings = rules.judge(
        QUIET, [dataclasses.replace(DISK, mounts=(Mount("/mnt", "ext4", "rw,noatime," + "x" * 190),))]
    )
    text = check.as_text(QUIET, findings)
    assert all(len(line) <= 80 for line in text.splitlines()) and text.count("x") >= 190
    assert "raidctl why" not in text


def test_names_of_others_move_no_cursor():
    changed = facts(processes=(ProcessUse(7, "\033[2J", 50.0, 0),))
    text = check.as_text(changed, rules.judge(changed, []))
    assert "\033" not in text and "\\x1b[2J (7)" in " ".join(text.split())
