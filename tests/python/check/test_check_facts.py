# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts that raidctl check reads, on made-up machines and from made-up looks. tests/unit/cli has the looks of raidctl,
tests/lab/ctl-check a real disk."""

import gzip
import json
import subprocess

import pytest
from conftest import call, program
from made_machine import Made

from raidtrace.check import facts
from raidtrace.check.facts import Disk, DiskUse, Kind, ModuleUse, Mount
from raidtrace.cli import check


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def look(**changes):
    """A look of raidctl, in which nothing happened."""
    return {"time_ns": 0, "swapped_pages": 7, "processes_known": True, "io_accounted": False, "processes": [], "disks": None,
            "interrupts": None} | changes  # fmt: skip


def processes(*rows):
    names = ("pid", "parent", "start", "name", "ticks", "io_bytes")
    return [dict(zip(names, row)) for row in rows]


def disks(*rows):
    return [dict(zip(("name", "requests", "bytes"), row)) for row in rows]


def lines(*rows):
    return [dict(zip(("number", "count", "shared"), row)) for row in rows]


def a_disk(name, **changes):
    """A disk as raidctl list prints it."""
    return {"disk": name, "driver": None, "scheduler": None, "readahead_kib": 128, "readahead_from": "the kernel's default",
            "kind": "rotating", "rotational": True, "capacity_sectors": 1000, "members": [],
            "mounts": []} | changes  # fmt: skip


def raidctl(made, *disks, nr_chosen=1, profile=None, status="{}"):
    """A program that answers as raidctl look and status do."""
    looks = [look(time_ns=1), look(time_ns=10**9)]
    made.put("look.json", json.dumps({"simulated": profile is not None, "lab_profile": profile, "nr_chosen": nr_chosen,
                                      "disks": disks, "looks": looks}))  # fmt: skip
    made.put("status.json", status)
    return program(made.top / "raidctl", f'cat "{made.top}/$1.json"')


def test_what_happened_between_two_looks():
    """A shell whose dd ends meanwhile has the dd's time: only what came after the first look counts. A new process counts in
    full, one that only got the number of another is new, and the looker does not count.
    """
    first = processes((1, 0, 1, "init", 500, 5000), (5, 1, 2, "sh", 10, 100), (6, 5, 3, "dd", 40, 1000),
                      (7, 1, 4, "old", 70, 7000), (9, 1, 5, "raidctl", 1, 1), (10, 1, 6, "hidden", 1, None),
                      (11, 5, 7, "stays", 50, 900))  # fmt: skip
    second = processes((1, 0, 1, "init", 570, 12000), (5, 1, 2, "sh", 70, 1600), (7, 1, 90, "new", 3, 30),
                       (9, 1, 5, "raidctl", 50, 5000), (10, 1, 6, "hidden", 1, None), (11, 5, 7, "stays", 50, 900))  # fmt: skip
    before = look(time_ns=10**9, swapped_pages=4, io_accounted=True, processes=first,
                  disks=disks(("sda", 10, 1000), ("sdc", 5, 50)))  # fmt: skip
    after = look(time_ns=3 * 10**9, swapped_pages=9, processes=second,
                 disks=disks(("sda", 15, 1700), ("sdb", 2, 20), ("sdc", 9, 10)))  # fmt: skip
    result = facts.between(before, after, 9, 100)
    assert (result.seconds, result.nr_io_hidden, result.swapped_pages, result.io_accounted) == (2.0, 1, 5, False)
    # sh: 60 ticks more, 40 of them the dd's from before: 20 in 2 s
    assert [(one.name, one.cpu_percent, one.io_bytes) for one in result.processes] == [
        ("init", 0.0, 0), ("sh", 10.0, 500), ("new", 1.5, 30), ("hidden", 0.0, 0), ("stays", 0.0, 0),
    ]  # fmt: skip
    # of the last there was less than before: another disk of the same name
    assert result.disks == (DiskUse("sda", 5, 700), DiskUse("sdb", 2, 20), DiskUse("sdc", 9, 10))
    assert facts.between(before | {"disks": None}, after, 9, 100).disks is None
    assert facts.between(before | {"swapped_pages": None}, after, 9, 100).swapped_pages is None


def test_modules_that_nothing_uses(made):
    made.put(
        "proc/modules", "e1000 16384 0 - Live 0x0\nused 1 2 a, Live 0x0\n3w_9xxx 1 0 - Live 0x0\nplain 1 0 - Live 0x0\n"
    )
    for path in ("e1000/drivers/pci:e1000/0000:00:03.0", "used/drivers/pci:used/0000:00:04.0",
                 "3w_9xxx/drivers/pci:3w-9xxx/0000:00:05.0"):  # fmt: skip
        (made.sys / "module" / path).mkdir(parents=True)
    (made.sys / "bus/pci/devices/0000:00:03.0/msi_irqs/24").mkdir(parents=True)
    made.put("sys/bus/pci/devices/0000:00:05.0/irq", "25\n")
    looks = look(interrupts=lines((24, 5, False), (25, 5, False))), look(
        interrupts=lines((24, 9, True), (25, 7, False))
    )
    used = Disk("sda", "3w-9xxx")
    assert facts.unused_modules(made.machine(), *looks, [used]) == (ModuleUse("e1000", 4, True),)
    assert facts.unused_modules(made.machine(), *looks, [])[1] == ModuleUse("3w_9xxx", 2, False)
    assert facts.unused_modules(made.machine(), looks[0], look(), []) is None


def test_the_rest_of_the_machine(made, monkeypatch):
    made.put(
        "proc/meminfo",
        "MemTotal:  524288 kB\nDirty:  12 kB\nWritebackTmp: 99 kB\nWriteback:  3 kB\nSwapTotal: 8 kB\nSwapFree: 2 kB\n",
    )
    made.put("proc/cmdline", "root=/dev/sda time-travel=inf-cpu\n")
    made.put("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu hypervisor vme\n")
    (made.proc / "config.gz").write_bytes(gzip.compress(b"CONFIG_KASAN=y\n"))
    for cpu, governor in enumerate(("performance", "powersave")):
        made.put(f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", f"{governor}\n")
    status = '{"loaded": false, "signing": {"why": "lockdown integrity", "module": null, "signer": null, "enrolled": null, ' \
             '"advice": "sign it"}}'  # fmt: skip
    answers = raidctl(made, profile="nvme-4", nr_chosen=0, status=status)
    monkeypatch.setattr(facts, "_output", lambda command: "N 5\n" if command == ["runlevel"] else
                        "inactive\nactive\ninactive\ninactive\n" if command[0] == "systemctl" else
                        subprocess.run(["sh", *command], capture_output=True, text=True, check=False).stdout)  # fmt: skip
    monkeypatch.setattr(facts, "SYSTEMD", made.top / "none")
    disks, result = facts.read(made.machine(), answers, (), 7)
    assert disks == () and result.activity.seconds == pytest.approx(1.0)
    assert (result.ram_bytes, result.dirty_bytes, result.writeback_bytes) == (512 << 20, 12 << 10, 3 << 10)
    assert (result.swap_bytes, result.swap_used_bytes, result.data_bytes) == (8 << 10, 6 << 10, 7)
    assert result.governors == ("performance", "powersave") and result.cpu_is_free and result.profile == "nvme-4"
    assert result.hypervisor == "the processor's hypervisor flag is set" and result.target == "runlevel 5"
    assert result.config == "CONFIG_KASAN=y\n" and result.config_source.endswith("proc/config.gz")
    assert result.signing == facts.Signing(False, "lockdown integrity", "", "", None, "sign it")
    made.put("sys/class/dmi/id/sys_vendor", "QEMU\n")
    monkeypatch.setattr(facts, "SYSTEMD", made.top)
    result = facts.read(made.machine(), raidctl(made, nr_chosen=0), (), None)[1]
    assert result.profile is None
    assert result.hypervisor == "QEMU" and result.target == "multi-user.target" and result.signing is None


@pytest.mark.parametrize(("cpuinfo", "vendor", "expected"), [
    ("flags : fpu vme\n", "Dell Inc.", ""), ("", "Dell Inc.", ""), ("", "", None), ("", "VMware, Inc.", "VMware, Inc."),
    ("vendor_id : User Mode Linux\nflags : hypervisor\n", "QEMU", "User Mode Linux"),
])  # fmt: skip
def test_hypervisors(made, cpuinfo, vendor, expected):
    made.put("proc/cpuinfo", cpuinfo)
    made.put("sys/class/dmi/id/sys_vendor", vendor)
    assert facts._hypervisor(made.machine()) == expected


def test_a_disk_its_driver_scheduler_readahead_and_mounts():
    mounts = [{"device": "sda1", "directory": "/mnt/a b", "fstype": "ext4", "options": "rw,noatime"}]
    sda = a_disk("sda", driver="3w-9xxx", scheduler="mq-deadline", mounts=mounts)
    (result,) = facts.chosen({"nr_chosen": 1, "disks": [sda, a_disk("sdb")]})
    assert result == Disk("sda", "3w-9xxx", "mq-deadline", 128, (Mount("/mnt/a b", "ext4", "rw,noatime"),), Kind.ARRAY,
                          512000, "the kernel's default")  # fmt: skip
    assert facts.chosen({"nr_chosen": 1, "disks": [a_disk("dm-0")]})[0].scheduler == ""


def test_kinds_of_disks():
    """For md and dm the members decide, also below another one. A member that is gone does not."""
    members = {
        "md0": ["sda", "sdb"],
        "md1": ["sda", "nvme0n1"],
        "dm-1": ["sda"],
        "dm-2": ["md0"],
        "dm-3": ["sdz", "sdd"],
    }
    disks = [a_disk("sda"), a_disk("sdb"), a_disk("sdc", driver="megaraid_sas"), a_disk("sdd", kind="virtual"),
             a_disk("nvme0n1", kind="flash", rotational=False),
             *(a_disk(name, members=below) for name, below in members.items())]  # fmt: skip
    kinds = {one.name: one.kind for one in facts.chosen({"nr_chosen": len(disks), "disks": disks})}
    assert kinds == {"sda": Kind.DRIVE, "sdb": Kind.DRIVE, "sdc": Kind.ARRAY, "sdd": Kind.VIRTUAL, "nvme0n1": Kind.FLASH,
                     "md0": Kind.ARRAY, "md1": Kind.FLASH, "dm-1": Kind.DRIVE, "dm-2": Kind.ARRAY,
                     "dm-3": Kind.VIRTUAL}  # fmt: skip


def test_the_command_line(made, monkeypatch):
    sda = a_disk("sda", scheduler="bfq", capacity_sectors=40 << 21)
    monkeypatch.setattr(check, "RAIDCTL", raidctl(made, sda))
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
    for status in (1, 2):
        program(made.top / "raidctl", f"echo 'raidctl: sdz: no such disk' >&2; exit {status}")
        done = call(check.main, "sdz")
        assert done.returncode == status and done.stderr.endswith(": sdz: no such disk\n")
