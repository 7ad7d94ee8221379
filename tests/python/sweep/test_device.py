# SPDX-License-Identifier: GPL-2.0-or-later
"""What speaks against overwriting a disk, on a made-up machine; tests/lab/ctl-sweep does it with real disks."""

import dataclasses
import pathlib

import pytest

from raidtrace.sweep import device, plan
from raidtrace.sweep.run import wanted as sweep_disk


class Made:
    """A machine of files. Disks are directories, partitions below them, as in sysfs."""

    def __init__(self, top):
        self.top = top
        self.mounts, self.swaps, self.signatures, self.busy = [], [], {}, {}
        self.number = 0
        (top / "class/block").mkdir(parents=True)

    def add(self, name, parent="", holders=(), size=1000, **files):
        path = self.top / ("devices" if not parent else f"devices/{parent}") / name
        path.mkdir(parents=True)
        self.number += 1
        for key, value in ({"dev": f"8:{self.number}", "size": size, "diskseq": self.number, "ro": 0} | files).items():
            (path / key).parent.mkdir(parents=True, exist_ok=True)
            (path / key).write_text(f"{value}\n")
        if parent:
            (path / "partition").write_text("1\n")
        else:
            (self.top / "block").mkdir(exist_ok=True)
            (self.top / "block" / name).symlink_to(path)
        (self.top / "class/block" / name).symlink_to(path)
        for kind in ("holders", "slaves"):
            (path / kind).mkdir()
        for holder in holders:
            self.hold(name, holder)
        return self

    def hold(self, name, holder):
        (self.top / "class/block" / name / "holders" / holder).write_text("")
        (self.top / "class/block" / holder / "slaves" / name).write_text("")

    def mount(self, name, point):
        number = (self.top / "class/block" / name / "dev").read_text().strip()
        self.mounts.append(f"36 35 {number} / {point} rw,noatime shared:1 - ext4 /dev/{name} rw")

    def machine(self):
        mountinfo, swaps, boot = self.top / "mountinfo", self.top / "swaps", self.top / "boot_id"
        mountinfo.write_text("\n".join(self.mounts) + "\n" if self.mounts else "")
        swaps.write_text(
            "Filename Type Size Used Priority\n" + "".join(f"/dev/{n} partition 1 0 -2\n" for n in self.swaps)
        )
        boot.write_text("b00t\n")
        return device.Machine(
            self.top, mountinfo, swaps, boot, str(self.top / "dev"),
            lambda path: self.signatures.get(path.rsplit("/", 1)[-1], []),
            lambda path: self.busy.get(path.rsplit("/", 1)[-1], ""),
        )  # fmt: skip

    def reasons(self, disk, **options):
        return [r.reason for r in device.refusals(self.machine(), disk, **options)]


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def test_an_empty_idle_disk_is_accepted(made):
    made.add("sdb").add("sda")
    made.mount("sda", "/")
    assert made.reasons("sdb") == []


def test_mounted(made):
    made.add("sdb")
    made.mount("sdb", "/data")
    assert made.reasons("sdb") == ["it is mounted on /data"]


def test_signature_unless_forced(made):
    made.add("sdb")
    made.signatures["sdb"] = ["xfs"]
    assert "holds a signature of xfs" in made.reasons("sdb")[0]
    with pytest.raises(device.DeviceError, match="signature of xfs"):
        device.judge(made.machine(), ["sdb"], forced=False)
    (identity,) = device.judge(made.machine(), ["sdb"], forced=True)
    assert device.judge(made.machine(), ["sdb"], forced=False, known=[identity]) == [identity]


def test_partitions_parent_in_use(made):
    made.add("sdb").add("sdb1", "sdb").add("sdb2", "sdb")
    made.mount("sdb2", "/home")
    assert made.reasons("sdb") == ["its partition sdb2 is mounted on /home"]


def test_swap_on_disk_or_partition(made):
    made.add("sdb").add("sdc").add("sdc1", "sdc")
    made.swaps += ["sdb", "sdc1"]
    assert made.reasons("sdb") == ["it is swap"] and made.reasons("sdc") == ["its partition sdc1 is swap"]


def test_member_of_md_and_what_is_above_it(made):
    made.add("sdb").add("md0").hold("sdb", "md0")
    made.mount("md0", "/data")
    assert made.reasons("sdb") == ["it is a member of md0 (md)", "md0 above it is mounted on /data"]


def test_device_mapper_on_a_partition_above_md(made):
    made.add("sdb").add("sdb1", "sdb").add("md0").add("dm-0").hold("sdb1", "md0")
    made.hold("md0", "dm-0")
    assert made.reasons("sdb") == [
        "its partition sdb1 is a member of md0 (md)", "its partition sdb1 is a member of dm-0 (device mapper)",
    ]  # fmt: skip


def test_stopped_md_member_is_told_by_its_signature(made):
    made.add("sdb")
    made.signatures["sdb"] = ["linux_raid_member"]
    assert "stopped md array" in made.reasons("sdb")[0]


def test_root_disk_even_through_md_and_a_partition(made):
    made.add("sda").add("sda2", "sda").add("md0").hold("sda2", "md0")
    made.mount("md0", "/")
    assert made.reasons("sda")[0] == "the root file system lies on it"


def test_root_by_its_source_where_the_number_is_a_made_up_one(made):
    made.add("sda").add("sda1", "sda")
    made.mounts.append("36 35 0:25 /@ / rw - btrfs /dev/sda1 rw")
    assert "the root file system lies on it" in made.reasons("sda")


def test_what_the_kernel_alone_knows_and_read_only(made):
    made.add("sdb").add("sdc", ro=1)
    made.busy["sdb"] = "in use, says the kernel"
    assert made.reasons("sdb") == ["in use, says the kernel"] and made.reasons("sdc") == ["it is read-only"]


def test_use_is_never_overridden(made):
    made.add("sdb").add("sdb1", "sdb")
    made.mount("sdb1", "/x")
    made.signatures["sdb"] = ["dos"]
    known = [made.machine().identity("sdb")]
    with pytest.raises(device.DeviceError, match="sdb1 is mounted on /x"):
        device.judge(made.machine(), ["sdb"], forced=True, known=known)


def test_a_disk_in_use_that_cannot_be_read_is_refused_for_its_use(made):
    def unreadable(path):
        raise device.DeviceError(f"{path}: wipefs cannot look for signatures: not permitted")

    made.add("sda").add("sdb")
    made.mount("sda", "/")
    machine = dataclasses.replace(made.machine(), signatures=unreadable)
    assert [r.reason for r in device.refusals(machine, "sda")][0] == "the root file system lies on it"
    with pytest.raises(device.DeviceError, match="cannot look for signatures"):
        device.refusals(machine, "sdb")


def test_what_is_run_before_the_first_cell_is_told(made):
    made.add("sdb").add("sdb1", "sdb").add("sdc")
    text = 'title = "x"\n[[matrix]]\narray = "one"\nfilesystem = "xfs"\nworkload = "ddt"\ndata_size = "1 MiB"\n'
    the_plan = plan.parse(text + 'md_level = "raid0"\nmd_members = 2\nmd_chunk_kib = 64\n', "p", "p.toml")
    wanted = sweep_disk.wanted(made.machine(), the_plan, ["sdb,sdc"], [], ["one=/dev/sdb,sdc"], True)
    first = wanted.first(made.machine(), pathlib.Path("/bin/raidctl"), ())
    looked = [f"wipefs --json --no-act {made.top}/dev/{name}" for name in ("sdb", "sdb1", "sdc")]
    assert first == [*looked, "/bin/raidctl check --json --data-size 1048576 sdb sdc"]
    known = [made.machine().identity("sdb")]  # this sweep overwrote it
    assert wanted.first(made.machine(), pathlib.Path("/bin/raidctl"), known)[:1] == looked[2:]
    made.signatures |= {"sdb": ["xfs"], "sdc": ["xfs"]}
    assert [line for line in wanted.destruction(made.machine(), False, known) if "refused" in line] == [
        "would be refused: sdc: it holds a signature of xfs; --force-signature if that is of no use any more"
    ]


def test_a_sweep_goes_on_on_its_own_disks_only(made):
    made.add("sdb", **{"device/wwid": "naa.5000"}).add("sdc", **{"device/wwid": "naa.6000"}).add("sdd")
    known = [made.machine().identity("sdb")]
    sweep_disk.same_disks(made.machine(), ["sdb", "sdd"], known)
    sweep_disk.same_disks(made.machine(), ["sdc"], ())  # it had none yet
    with pytest.raises(device.DeviceError, match="sdc is not a disk on which this sweep began .sdb then."):
        sweep_disk.same_disks(made.machine(), ["sdc"], known)


def test_names(made):
    made.add("sdb").add("sdb1", "sdb")
    machine = made.machine()
    assert machine.whole("sdb") == machine.whole("/dev/sdb") == "sdb"
    with pytest.raises(device.DeviceError, match="sdb1 is a partition; .* sdb$"):
        machine.whole("sdb1")
    with pytest.raises(device.DeviceError, match="no such disk"):
        machine.whole("sdz")


def test_identity_survives_a_reboot_by_serial_number_only(made):
    made.add("sdb", **{"device/wwid": "naa.5000"}).add("sdc")
    first, other = made.machine().identity("sdb"), made.machine().identity("sdc")
    assert first.sequence == "b00t/1" and first.serial == "naa.5000"
    assert not first.same(other)
    rebooted = device.Identity("sdd", "n3w/7", "naa.5000", 1000)
    assert rebooted.same(first) and not device.Identity("sdc", "n3w/2", "", 1000).same(other)
    assert not device.Identity("sdb", "b00t/1", "naa.5000", 2000).same(first)  # another size: another disk
