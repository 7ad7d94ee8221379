# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts that raidctl check reads, on made-up machines; tests/lab/ctl-check does it with a real disk."""

import dataclasses
import gzip
import os
import stat
import subprocess

import pytest
from conftest import call, program
from made_machine import Made

from raidtrace.check import facts
from raidtrace.check.facts import Disk, DiskUse, Kind, Line, Look, ModuleUse, Mount, Process, UsageError
from raidtrace.cli import check
from raidtrace.sweep.device import DeviceError


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def controller(made, name, driver, address="0000:03:00.0"):
    """Put a disk below a PCI device."""
    pci = made.sys / "devices/pci" / address
    (pci / f"host0/{name}").mkdir(parents=True)
    (pci / "subsystem").exists() or (pci / "subsystem").symlink_to("/bus/pci")
    (pci / "driver").exists() or (pci / "driver").symlink_to(f"/drivers/{driver}")
    (made.sys / "block" / name / "device").symlink_to(pci / f"host0/{name}")


def test_processes():
    stat_line = "42 (a) (b c) S 7 42 42 0 -1 4194560 1 2 3 4 10 20 300 4000 20 0 1 0 555 0 0"
    assert facts.parse_process(stat_line) == Process(42, 7, 555, "a) (b c", 4330, None)
    for broken in ("42 (a S 7", "42 (a) S 7 1 1", ""):
        assert facts.parse_process(broken) is None


def test_disks():
    line = "   8       0 sda 10 1 80 5 20 2 160 6 0 7 11 3 0 24 1 4 2"
    assert facts.parse_disk(line) == DiskUse("sda", 10 + 20 + 3 + 4, (80 + 160 + 24) * 512)
    assert facts.parse_disk(" 8 0 sda 10 1 80 5 20 2 160 6 0 7 11").requests == 30  # before Linux 4.18
    assert facts.parse_disk("104 0 cciss/c0d0 1 0 8 0 0 0 0 0 0 0 0").name == "cciss!c0d0"
    assert facts.parse_disk(" 8 0 sda 10") is None


def test_interrupts():
    text = "  CPU0 CPU1\n 24: 3 7 PCI-MSI 9-edge 3w-9xxx\n 25: 7 0 PCI 1-edge a, b\nLOC: 1 2 Local timer interrupts\n 26: 1\n"
    assert facts.parse_interrupts(text) == {24: Line(10, False), 25: Line(7, True)}
    assert facts.parse_interrupts("no such file\n") is None


def test_what_happened_between_two_looks():
    """A shell whose dd ends meanwhile has the dd's time: only what came after the first look counts. A new process counts in
    full, one that only got the number of another is new, and the looker does not count."""
    first = (Process(1, 0, 1, "init", 500, 5000), Process(5, 1, 2, "sh", 10, 100), Process(6, 5, 3, "dd", 40, 1000),
             Process(7, 1, 4, "old", 70, 7000), Process(9, 1, 5, "raidctl", 1, 1), Process(10, 1, 6, "hidden", 1, None),
             Process(11, 5, 7, "stays", 50, 900))  # fmt: skip
    second = (Process(1, 0, 1, "init", 570, 12000), Process(5, 1, 2, "sh", 70, 1600), Process(7, 1, 90, "new", 3, 30),
              Process(9, 1, 5, "raidctl", 50, 5000), Process(10, 1, 6, "hidden", 1, None),
              Process(11, 5, 7, "stays", 50, 900))  # fmt: skip
    before = Look(1.0, 4, processes=first, disks=(DiskUse("sda", 10, 1000), DiskUse("sdc", 5, 50)))
    after = Look(3.0, 9, io_accounted=False, processes=second,
                 disks=(DiskUse("sda", 15, 1700), DiskUse("sdb", 2, 20), DiskUse("sdc", 9, 10)))  # fmt: skip
    result = facts.between(before, after, 9, 100)
    assert (result.seconds, result.nr_io_hidden, result.swapped_pages, result.io_accounted) == (2.0, 1, 5, False)
    # sh: 60 ticks more, 40 of them the dd's from before: 20 in 2 s
    assert [(one.name, one.cpu_percent, one.io_bytes) for one in result.processes] == [
        ("init", 0.0, 0), ("sh", 10.0, 500), ("new", 1.5, 30), ("hidden", 0.0, 0), ("stays", 0.0, 0),
    ]  # fmt: skip
    # of the last there was less than before: another disk of the same name
    assert result.disks == (DiskUse("sda", 5, 700), DiskUse("sdb", 2, 20), DiskUse("sdc", 9, 10))
    assert facts.between(dataclasses.replace(before, disks=None), after, 9, 100).disks is None
    assert facts.between(dataclasses.replace(before, swapped_pages=None), after, 9, 100).swapped_pages is None


def test_a_look(made):
    made.add("sda").add("sda1", "sda")
    made.put("proc/1/stat", "1 (init) S 0 1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 9 0 0")
    made.put("proc/1/io", "rchar: 9\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n")
    made.put("proc/vmstat", "pswpin 3\npswpout 4\nnr_dirty 9\n")
    made.put("proc/diskstats", "8 1 sda 1 0 8 0 0 0 0 0 0 0 0\n8 2 sda1 1 0 8 0 0 0 0 0 0 0 0\n")
    result = facts.look(made.machine())
    assert result.processes == (Process(1, 0, 9, "init", 10, 11),) and result.swapped_pages == 7
    assert result.disks == (DiskUse("sda", 1, 4096),)  # not its partition
    assert result.interrupts is None and result.processes_known and not result.io_accounted


def test_modules_that_nothing_uses(made):
    made.put(
        "proc/modules",
        "e1000 16384 0 - Live 0x0\nused 1 2 a, Live 0x0\n3w_9xxx 1 0 - Live 0x0\nplain 1 0 - Live 0x0\n",
    )
    for path in ("e1000/drivers/pci:e1000/0000:00:03.0", "used/drivers/pci:used/0000:00:04.0",
                 "3w_9xxx/drivers/pci:3w-9xxx/0000:00:05.0"):  # fmt: skip
        (made.sys / "module" / path).mkdir(parents=True)
    (made.sys / "bus/pci/devices/0000:00:03.0/msi_irqs/24").mkdir(parents=True)
    made.put("sys/bus/pci/devices/0000:00:05.0/irq", "25\n")
    looks = Look(0.0, interrupts={24: Line(5, False), 25: Line(5, False)}), Look(
        1.0, interrupts={24: Line(9, True), 25: Line(7, False)}
    )
    used = Disk("sda", "3w-9xxx")
    assert facts.unused_modules(made.machine(), *looks, [used]) == (ModuleUse("e1000", 4, True),)
    assert facts.unused_modules(made.machine(), *looks, [])[1] == ModuleUse("3w_9xxx", 2, False)
    assert facts.unused_modules(made.machine(), looks[0], Look(1.0), []) is None


def test_the_rest_of_the_machine(made, monkeypatch):
    made.put(
        "proc/meminfo",
        "MemTotal:  524288 kB\nDirty:  12 kB\nWritebackTmp: 99 kB\nWriteback:  3 kB\nSwapTotal: 8 kB\nSwapFree: 2 kB\n",
    )
    made.put("proc/cmdline", "root=/dev/sda time-travel=inf-cpu\n")
    made.put("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu hypervisor vme\n")
    made.put("proc/raidlab/status", "devices: 1\nprofile: nvme-4\n")
    (made.proc / "config.gz").write_bytes(gzip.compress(b"CONFIG_KASAN=y\n"))
    for cpu, governor in enumerate(("performance", "powersave")):
        made.put(f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", f"{governor}\n")
    raidctl = program(made.top / "raidctl", 'echo \'{"loaded": false, "signing": {"why": "lockdown integrity", "module": null, '
                      '"signer": null, "enrolled": null, "advice": "sign it"}}\'')  # fmt: skip
    monkeypatch.setattr(facts, "PAUSE_S", 0.0)
    monkeypatch.setattr(facts, "_output", lambda command: "N 5\n" if command == ["runlevel"] else
                        "inactive\nactive\ninactive\ninactive\n" if command[0] == "systemctl" else
                        subprocess.run(["sh", *command], capture_output=True, text=True, check=False).stdout)  # fmt: skip
    monkeypatch.setattr(facts, "SYSTEMD", made.top / "none")
    result = facts.read(made.machine(), raidctl, (), 7)
    assert (result.ram_bytes, result.dirty_bytes, result.writeback_bytes) == (512 << 20, 12 << 10, 3 << 10)
    assert (result.swap_bytes, result.swap_used_bytes, result.data_bytes) == (8 << 10, 6 << 10, 7)
    assert result.governors == ("performance", "powersave") and result.cpu_is_free and result.profile == "nvme-4"
    assert result.hypervisor == "the processor's hypervisor flag is set" and result.target == "runlevel 5"
    assert result.config == "CONFIG_KASAN=y\n" and result.config_source.endswith("proc/config.gz")
    assert result.signing == facts.Signing(False, "lockdown integrity", "", "", None, "sign it")
    made.put("sys/class/dmi/id/sys_vendor", "QEMU\n")
    monkeypatch.setattr(facts, "SYSTEMD", made.top)
    result = facts.read(made.machine(), made.top / "none", (), None)
    assert result.hypervisor == "QEMU" and result.target == "multi-user.target" and result.signing is None


@pytest.mark.parametrize(("cpuinfo", "vendor", "expected"), [
    ("flags : fpu vme\n", "Dell Inc.", ""), ("", "Dell Inc.", ""), ("", "", None), ("", "VMware, Inc.", "VMware, Inc."),
    ("vendor_id : User Mode Linux\nflags : hypervisor\n", "QEMU", "User Mode Linux"),
])  # fmt: skip
def test_hypervisors(made, cpuinfo, vendor, expected):
    made.put("proc/cpuinfo", cpuinfo)
    made.put("sys/class/dmi/id/sys_vendor", vendor)
    assert facts._hypervisor(made.machine()) == expected


def test_a_disk_its_driver_scheduler_readahead_and_mounts(made):
    made.add(
        "sda", **{"queue/scheduler": "none [mq-deadline] kyber", "queue/read_ahead_kb": 128, "queue/rotational": 1}
    )
    made.add("sda1", "sda").add("dm-0").hold("sda1", "dm-0").add("sdb")
    controller(made, "sda", "3w-9xxx")
    made.mount("sda1", r"/mnt/a\040b")
    made.mount("dm-0", "/d")
    made.mount("sdb", "/other")
    made.mounts["self"].append(f"36 35 0:40 / /b ro,relatime shared:1 - btrfs {made.dev}/sda1 rw,space_cache")
    made.mounts["self"].append("36 35 8:1 / /c rw,noatime shared:1 - ext4 /dev/root ro")
    made.mounts["self"].append("36 35 0:41 / /proc rw shared:1 - proc proc rw")
    (result,) = facts.find(made.machine(), ["sda"])
    assert result.mounts == (Mount("/mnt/a b", "ext4", "rw,noatime"), Mount("/d", "ext4", "rw,noatime"),
                             Mount("/b", "btrfs", "ro,relatime,space_cache"), Mount("/c", "ext4", "ro,noatime"))  # fmt: skip
    of_disk = (result.driver, result.scheduler, result.readahead_kib, result.kind)
    assert of_disk == ("3w-9xxx", "mq-deadline", 128, Kind.ARRAY)
    assert facts.find(made.machine(), ["dm-0"])[0].scheduler == ""


def test_kinds_of_disks(made):
    """The rotational flag of virtio is ignored; for md and dm the members decide."""
    for name in ("sda", "sdb", "sdc", "sdd", "vda", "nvme0n1"):
        made.add(name, **{"queue/rotational": int(name != "nvme0n1")})
    made.write("sdd", "device/model", "QEMU HARDDISK")
    controller(made, "sdc", "megaraid_sas")
    for name, members in (("md0", ("sda", "sdb")), ("md1", ("sda", "nvme0n1")), ("dm-1", ("sda",))):
        made.add(name)
        for member in members:
            made.hold(member, name)
    kinds = {name: facts.find(made.machine(), [name])[0].kind for name in
             ("sda", "sdc", "sdd", "nvme0n1", "vda", "md0", "md1", "dm-1")}  # fmt: skip
    assert kinds == {"sda": Kind.DRIVE, "sdc": Kind.ARRAY, "sdd": Kind.VIRTUAL, "nvme0n1": Kind.FLASH, "vda": Kind.VIRTUAL,
                     "md0": Kind.ARRAY, "md1": Kind.FLASH, "dm-1": Kind.DRIVE}  # fmt: skip


def test_disks_without_a_word(made):
    for name in ("nvme0n1", "sdb", "sda", "sdc"):
        made.add(name, size=0 if name == "sdc" else 1000)
    controller(made, "sdb", "3w-9xxx", "0000:01:00.0")
    controller(made, "sdc", "3w-9xxx", "0000:02:00.0")
    controller(made, "nvme0n1", "nvme", "0000:04:00.0")
    assert [disk.name for disk in facts.find(made.machine(), [])] == ["sdb"]  # sdc has no medium
    made.put("proc/raidlab/status", "profile: x\n")
    assert [disk.name for disk in facts.find(made.machine(), [])] == ["sdb", "nvme0n1"]


@pytest.mark.parametrize(("word", "why"), [
    ("sdz", "sdz: no such disk; to list the disks: raidctl list"),
    ("/nowhere/sdz", "/nowhere/sdz: no such disk; to list the disks: raidctl list"),
    ("TOP/file", "not a disk; to list the disks: raidctl list"),
    ("sda1", "sda1: a partition, but only whole disks are counted; name its disk: sda"),
    ("TOP/other", "no such disk"),
])  # fmt: skip
def test_what_is_no_disk(made, word, why):
    made.add("sda").add("sda1", "sda")
    (made.top / "file").write_text("")
    made.node(made.top / "other", stat.S_IFBLK, os.makedev(9, 77))
    with pytest.raises(DeviceError, match=why):
        facts.find(made.machine(), [word.replace("TOP", str(made.top))])


def test_a_disk_is_named_once(made):
    made.add("sda")
    with pytest.raises(UsageError, match="disk sda is named twice; name each disk once"):
        facts.find(made.machine(), ["sda", f"{made.dev}/sda"])


def test_the_command_line(made, monkeypatch):
    made.add("sda", size=40 << 21, **{"queue/scheduler": "[bfq]", "queue/rotational": 1})
    monkeypatch.setattr(facts, "PAUSE_S", 0.0)
    monkeypatch.setattr(check, "Machine", made.machine)
    made.put("proc/meminfo", "MemTotal:  524288 kB\n")
    done = call(check.main, "sda", "--data-size", "512M")
    assert done.returncode == 1 and "fail           data-set      -        512 MiB is 1 times" in done.stdout
    done = call(check.main, "sda", "--data-size", "41G")
    assert done.returncode == 1 and "data-set      -        41 GiB of data does not fit on sda," in done.stdout
    assert "warn           scheduler     sda      bfq" in done.stdout
    assert call(check.main, "sda", "--data-size", "20G", "--json").returncode == 0
    done = call(check.main, "--data-size", "parsec")
    assert done.returncode == 2 and "parsec is not a size; give for example 20G" in done.stderr
    assert call(check.main, "sda", "sda").returncode == 2
    done = call(check.main, "sdz")
    assert done.returncode == 1 and done.stderr.startswith("raidctl check: sdz: no such disk")
