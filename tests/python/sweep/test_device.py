# SPDX-License-Identifier: GPL-2.0-or-later
"""Which disk a word means, on a made-up machine; tests/lab/ctl-destruction does it with real disks."""

import errno
import fcntl
import json
import os
import stat
import struct
import types

import pytest
from made_machine import Made

from raidtrace.sweep import device


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def test_a_name_and_every_path_that_leads_to_the_disk(made):
    made.add("sdb")
    (made.top / "by-id").symlink_to(f"{made.dev}/sdb")
    made.node(made.top / "copy", stat.S_IFBLK, os.makedev(8, 1))
    for word in ("sdb", f"{made.dev}/sdb", str(made.top / "by-id"), str(made.top / "copy")):
        assert made.machine().whole(word) == "sdb"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("TOP/sdb", "TOP/sdb: TOP/sdb is an ordinary file, not a disk; name the disk itself, as lsblk lists it"),
        ("TOP/folder/sdb", "is a directory, not a disk"),
        ("TOP/char/sdb", "is a character device, not a disk"),
        ("TOP/link", "is an ordinary file, not a disk"),  # whose name ends with the disk's
        ("../nonexist/sdb", "names no disk: write sdb, or the whole path"),
        ("./sdb", "names no disk"),
        ("nonexist/sdb", "names no disk"),
        ("", "names no disk"),
        ("TOP/nonexist/sdb", "there is no such disk .TOP/nonexist/sdb: No such file or directory.; lsblk lists"),
        ("TOP/dangling", "there is no such disk"),
        ("sdz", "there is no such disk"),
        ("sdb1", "sdb1 is a partition; a sweep takes whole disks, and this one's is sdb$"),
        ("TOP/elsewhere", "the kernel has no disk 9:77, which TOP/elsewhere names"),
    ],
)
def test_what_names_no_disk_is_refused(made, word, why):
    made.add("sdb").add("sdb1", "sdb")
    (made.top / "sdb").write_text("a backup image")
    (made.top / "folder/sdb").mkdir(parents=True)
    made.node(made.top / "char/sdb", stat.S_IFCHR, os.makedev(8, 1))
    (made.top / "link").symlink_to(made.top / "sdb")
    (made.top / "dangling").symlink_to(made.top / "gone/sdb")
    made.node(made.top / "elsewhere", stat.S_IFBLK, os.makedev(9, 77))
    with pytest.raises(device.DeviceError, match=why.replace("TOP", str(made.top))):
        made.machine().whole(word.replace("TOP", str(made.top)))


def test_a_path_in_dev_that_is_another_disk_is_not_given_to_programs(made):
    made.add("sdb").add("sdc")
    made.node(made.top / "right", stat.S_IFBLK, os.makedev(8, 1))
    made.node(f"{made.dev}/sdb", stat.S_IFBLK, os.makedev(8, 2))
    with pytest.raises(device.DeviceError, match="sdb is not that disk but something else of its name"):
        made.machine().whole(str(made.top / "right"))
    made.node(f"{made.dev}/sdb", stat.S_IFCHR, os.makedev(8, 1))
    with pytest.raises(device.DeviceError, match="is not that disk"):
        made.machine().whole(str(made.top / "right"))


def test_identity_survives_a_reboot_by_serial_number_only(made):
    made.add("sdb", **{"device/wwid": "naa.5000"}).add("sdc")
    first, other = made.machine().identity("sdb"), made.machine().identity("sdc")
    assert first.sequence == "b00t/1" and first.serial == "naa.5000"
    assert not first.same(other)
    rebooted = device.Identity("sdd", "n3w/7", "naa.5000", 1000)
    assert rebooted.same(first) and not device.Identity("sdc", "n3w/2", "", 1000).same(other)
    assert not device.Identity("sdb", "b00t/1", "naa.5000", 2000).same(first)  # another size: another disk


@pytest.mark.parametrize(
    ("command", "types_of"),
    [
        (["echo", json.dumps({"signatures": [{"type": "xfs"}, {"type": "gpt"}]})], ["xfs", "gpt"]),
        (["true"], []),  # it has none, and says nothing
        (["echo", "{}"], []),
        (["sh", "-c", "echo no such >&2; exit 1"], "/dev/sdx: wipefs cannot look for signatures: no such"),
    ],
)
def test_signatures_are_those_that_wipefs_says(monkeypatch, command, types_of):
    monkeypatch.setattr(device, "signature_command", lambda path: command)
    if isinstance(types_of, list):
        assert device.Machine().signatures("/dev/sdx") == types_of
    else:
        with pytest.raises(device.DeviceError, match=types_of):
            device.Machine().signatures("/dev/sdx")


@pytest.mark.parametrize(
    ("encoded", "number"),
    [(0x800, (8, 0)), (0x811, (8, 17)), (0xFFFFF, (0xFFF, 0xFF)), (0x12300445, (4, 0x12345)), (0, (0, 0))],
)
def test_what_lies_below_a_loop_is_asked_of_the_kernel(monkeypatch, tmp_path, encoded, number):
    def ioctl(handle, request, room):
        assert request == 0x4C05 and len(room) >= 24  # <linux/loop.h>
        os.fstat(handle)
        return struct.pack("=QQQ", 0x803, 12, encoded)

    monkeypatch.setattr(device.fcntl, "ioctl", ioctl)
    (tmp_path / "loop0").write_text("")
    assert device.Machine().loop_numbers(str(tmp_path / "loop0")) == (os.makedev(8, 3), os.makedev(*number))


@pytest.mark.parametrize(
    ("kind", "rdev", "wanted", "taken"),
    [
        (stat.S_IFBLK, 7, 7, True),
        (stat.S_IFBLK, 7, 8, False),
        (stat.S_IFCHR, 7, 7, False),
        (stat.S_IFREG, 0, 7, False),
    ],
)
def test_only_the_disk_of_that_number_is_claimed(monkeypatch, tmp_path, kind, rdev, wanted, taken):
    path = tmp_path / "sdb"
    path.write_text("")
    monkeypatch.setattr(device.os, "fstat", lambda handle: types.SimpleNamespace(st_mode=kind, st_rdev=rdev))
    before = os.listdir("/proc/self/fd")
    if not taken:
        with pytest.raises(OSError) as refused:
            device.Machine().claim(str(path), wanted)
        assert refused.value.errno == errno.ENODEV
        assert os.listdir("/proc/self/fd") == before
        return
    handle = device.Machine().claim(str(path), wanted)
    with open(path, "rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(handle)
