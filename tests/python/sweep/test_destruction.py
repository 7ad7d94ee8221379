# SPDX-License-Identifier: GPL-2.0-or-later
"""Which disk a word means and what speaks against overwriting it, on a made-up machine (tests/lab/ctl-destruction: real)."""

import dataclasses
import errno
import fcntl
import json
import os
import pathlib
import stat
import struct
import types

import pytest
from made_machine import Made

from raidtrace.quantity.shown import UserError
from raidtrace.sweep import destruction, device, disk_users, plan
from raidtrace.sweep.run import disk as sweep_disk


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr(destruction, "PAUSE_S", 0)
    return Made(tmp_path)


def reasons(made, disk):
    return [refusal.reason for refusal in destruction.refusals(disk_users.Look.now(made.machine()), disk)]


def refused(made, disks, **options):
    """The reasons against overwriting a disk that no option overrides."""
    with pytest.raises(device.DeviceError) as caught:
        destruction.permit(made.machine(), disks, **({"forced": True} | options))
    return str(caught.value)


def test_an_empty_idle_disk_is_accepted(made):
    made.add("sdb").add("sda")
    made.mount("sda", "/")
    made.process(70, "dd", opens=[f"{made.dev}/sda"])
    assert reasons(made, "sdb") == []
    with destruction.permit(made.machine(), ["sdb"], forced=False) as permit:
        assert [identity.name for identity in permit.identities] == ["sdb"]


# a disk sdb with a partition sdb1, and its users -> every reason in the refusal
USES = {
    "mounted": (lambda m: m.mount("sdb", "/data"), ["it is mounted on /data"]),
    "a blank in the mount point": (lambda m: m.mount("sdb", r"/my\040data"), ["it is mounted on /my data"]),
    "a partition is mounted": (lambda m: m.mount("sdb1", "/home"), ["its partition sdb1 is mounted on /home"]),
    "mounted in another name space": (
        lambda m: (m.process(70, "sleep", space="mnt:[2]"), m.mount("sdb1", "/x", 70)),
        ["its partition sdb1 is mounted on /x in the mount namespace of 70 (sleep)"]),
    "root": (lambda m: m.mount("sdb1", "/"), ["the root file system is on it", "its partition sdb1 is mounted on /"]),
    "root of the first process alone": (
        lambda m: (m.process(1, "init"), m.space(1, "mnt:[2]"), m.mount("sdb1", "/", 1)),
        [
            "the root file system of process 1 (init) is on it",
            "its partition sdb1 is mounted on / in the mount namespace of 1 (init)",
        ],
    ),
    "root of a container": (
        lambda m: (m.process(70, "sleep", space="mnt:[2]"), m.mount("sdb1", "/", 70)),
        ["its partition sdb1 is mounted on / in the mount namespace of 70 (sleep)"]),
    "root through md": (
        lambda m: (m.add("md0").hold("sdb1", "md0"), m.mount("md0", "/")),
        ["the root file system is on it", "its partition sdb1 is a member of md0 (md)", "md0 above it is mounted on /"]),
    "root by its source, where the number is a made-up one": (
        lambda m: m.mount("", "/", source=f"{m.dev}/sdb1"),
        ["the root file system is on it", "its partition sdb1 is mounted on /"]),
    "the second of two sources": (
        lambda m: m.mount("", "/b", source=f"/nonexist:{m.dev}/sdb1"), ["its partition sdb1 is mounted on /b"]),
    "btrfs over several disks": (
        lambda m: (m.sys / "fs/btrfs/be-ef/devices/sdb").mkdir(parents=True),
        ["it is a member of the mounted btrfs be-ef"]),
    "swap": (lambda m: m.swaps.append("sdb"), ["it is swap"]),
    "a partition is swap": (lambda m: m.swaps.append("sdb1"), ["its partition sdb1 is swap"]),
    "md": (lambda m: m.add("md0").hold("sdb", "md0"), ["it is a member of md0 (md)"]),
    "a partition of an md": (
        lambda m: (m.add("md0").add("md0p1", "md0").hold("sdb", "md0"), m.mount("md0p1", "/m")),
        ["it is a member of md0 (md)", "md0's partition md0p1 is mounted on /m"]),
    "device mapper above md": (
        lambda m: m.add("md0").add("dm-0").hold("sdb1", "md0").hold("md0", "dm-0"),
        ["its partition sdb1 is a member of md0 (md)", "md0 above it is a member of dm-0 (device mapper)"]),
    "LVM": (lambda m: m.add("dm-0", **{"dm/uuid": "LVM-abc"}).hold("sdb", "dm-0"), ["it is a member of dm-0 (LVM)"]),
    "an open encrypted container": (
        lambda m: m.add("dm-0", **{"dm/uuid": "CRYPT-LUKS2-abc"}).hold("sdb", "dm-0"),
        ["it is a member of dm-0 (an open encrypted container)"]),
    "a path of multipath": (
        lambda m: m.add("dm-0", **{"dm/uuid": "mpath-3600"}).hold("sdb", "dm-0"), ["it is a member of dm-0 (multipath)"]),
    "bcache": (lambda m: m.add("bcache0").hold("sdb", "bcache0"), ["it is a member of bcache0 (another device)"]),
    "a loop on it, with an offset": (
        lambda m: m.loop("loop3", f"{m.dev}/sdb", below="sdb", offset=1048576),
        ["it is the backing device of loop3 at byte 1048576"]),
    "a mounted loop on a partition": (
        lambda m: (m.loop("loop3", f"{m.dev}/sdb1", below="sdb1"), m.mount("loop3", "/l")),
        ["its partition sdb1 is the backing device of loop3", "loop3 above it is mounted on /l"]),
    "a loop on a file of it, unmounted lazily": (
        lambda m: m.loop("loop3", "/gone/disk.img", file="sdb1"),
        ["its partition sdb1 contains the file /gone/disk.img of loop3"]),
    "a mounted loop on a file of it": (
        lambda m: (m.loop("loop3", "/m/disk.img", file="sdb1"), m.mount("loop3", "/l")),
        ["its partition sdb1 contains the file /m/disk.img of loop3", "loop3 above it is mounted on /l"]),
    "a loop on a loop": (
        lambda m: m.loop("loop3", f"{m.dev}/sdb", below="sdb").loop("loop4", f"{m.dev}/loop3", below="loop3"),
        ["it is the backing device of loop3", "loop3 above it is the backing device of loop4"]),
    "open in a process": (
        lambda m: m.process(70, "qemu-system-x86", opens=[f"{m.dev}/sda", f"{m.dev}/sdb"]),
        ["it is open for writing in process 70 (qemu-system-x86)"]),
    "a partition is open in a process, write-only": (
        lambda m: m.process(70, "dd", opens=[f"{m.dev}/sdb1"], flags=0o100001),
        ["its partition sdb1 is open for writing in process 70 (dd)"]),
    "open in a thread with a table of its own": (
        lambda m: m.process(70, "vm", opens=[f"{m.dev}/sdb"], task=71), ["it is open for writing in process 70 (vm)"]),
    "what lies above it is open": (
        lambda m: m.add("md0").hold("sdb", "md0").process(70, "vm", opens=[f"{m.dev}/md0"]),
        ["it is a member of md0 (md)", "md0 above it is open for writing in process 70 (vm)"]),
    "mapped": (
        lambda m: m.process(70, "db").map(70, f"{m.dev}/sdb"),
        ["it is open for writing in process 70 (db), as a mapping"]),
    "mapped to be read, by a descriptor that could write": (
        lambda m: m.process(70, "db").map(70, f"{m.dev}/sdb", "r--s", "rd mr mw me"),
        ["it is open for writing in process 70 (db), as a mapping"]),
    "open as a SCSI generic device": (
        lambda m: m.generic("sdb", "sg1").process(70, "vm", opens=[f"{m.dev}/sg1"]),
        ["its sg1 (scsi_generic) is open for writing in process 70 (vm)"]),
    "served by nvmet": (
        lambda m: m.export("nvmet/subsystems/n/namespaces/1/device_path", f"{m.dev}/sdb1"),
        [
            "the kernel exports its partition sdb1 as a storage target "
            "(TOP/sys/kernel/config/nvmet/subsystems/n/namespaces/1/device_path)"
        ],
    ),
    "served by a target of files": (
        lambda m: m.export("target/core/fileio_0/x/info", f"Status: ACTIVATED\n TCM FILEIO ID: 0 File: {m.dev}/sdb Size: 9"),
        ["the kernel exports it as a storage target (TOP/sys/kernel/config/target/core/fileio_0/x/info)"],
    ),
    "a name of a process that is no text": (
        lambda m: m.process(70, "\x1b[2Jevil", opens=[f"{m.dev}/sdb"]),
        ["it is open for writing in process 70 (?[2Jevil)"]),
    "read-only": (lambda m: (m.sys / "block/sdb/ro").write_text("1\n"), ["it is read-only"]),
    "no medium": (lambda m: (m.sys / "block/sdb/size").write_text("0\n"), ["it has no sectors"]),
    "another path to it": (
        lambda m: [m.wide(name, "naa.5000") for name in ("sdb", "sdc")],
        ["sdc is another path to the same disk (naa.5000)"]),
    "suspended, as while it grows": (
        lambda m: m.write("sdb", "dm/suspended", 1), ["it is suspended, for example during a resize"]),
    "an md that is reshaped": (lambda m: m.write("sdb", "md/sync_action", "reshape"), ["md is working on it (reshape)"]),
    "what the kernel alone knows": (
        lambda m: m.busy.update(sdb=errno.EBUSY), ["in use, as the kernel reports, but it is open in no process"]),
    "claimed by a process that only reads": (
        lambda m: (m.busy.update(sdb=errno.EBUSY), m.process(70, "fsck", opens=[f"{m.dev}/sdb"], flags=0o100000)),
        ["in use, as the kernel reports; it is open in process 70 (fsck)"]),
    "locked by a partitioning tool": (
        lambda m: m.busy.update(sdb=errno.EAGAIN), ["another program has locked it (flock), as partitioning tools do"]),
    "left by a lazy umount with somebody in it": (
        lambda m: (m.busy.update(sdb=errno.EBUSY), m.process(70, "bash").enter(70, "sdb")),
        ["in use, as the kernel reports; process 70 (bash) uses files on it"]),
    "an I/O error": (lambda m: m.busy.update(sdb=errno.EIO), ["it cannot be opened: Input/output error"]),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_a_use_is_refused_and_named_whatever_is_forced(made, name):
    arrange, expected = USES[name]
    made.add("sda").add("sdb").add("sdb1", "sdb").add("sdc")
    arrange(made)
    assert [text.replace(str(made.top), "TOP") for text in reasons(made, "sdb")] == expected
    known = [made.machine().identity("sdb")]
    text = refused(made, ["sdc", "sdb"], known=known)
    assert all(f"sdb: {one} (" in text.replace(str(made.top), "TOP") for one in expected)
    assert all(line.startswith("  ") and line.endswith(")") for line in text.splitlines()[1:])  # what to do, on each


SIGNATURES = {
    "xfs": "a signature of xfs", "gpt": "a signature of gpt", "linux_raid_member": "the signature of a stopped md array",
    "LVM2_member": "a signature of LVM2_member", "zfs_member": "a signature of zfs_member", "btrfs": "a signature of btrfs",
    "crypto_LUKS": "an encrypted container (crypto_LUKS)", "BitLocker": "an encrypted container (BitLocker)",
    "swsuspend": "a signature of swsuspend",
}  # fmt: skip


@pytest.mark.parametrize("kind", SIGNATURES)
def test_a_signature_is_refused_unless_forced(made, kind):
    made.add("sdb").add("sdb1", "sdb")
    made.signatures["sdb1"] = [kind]
    assert reasons(made, "sdb") == [f"its partition sdb1 holds {SIGNATURES[kind]}"]
    assert "add --force-signature if its contents are no longer needed" in refused(made, ["sdb"], forced=False)
    with destruction.permit(made.machine(), ["sdb"], forced=True) as permit:
        (identity,) = permit.identities
    destruction.permit(made.machine(), ["sdb"], forced=False, known=[identity]).release(["sdb"])


@pytest.mark.parametrize(
    "arrange",
    [
        lambda m: m.process(70, "smartd", opens=[f"{m.dev}/sdb"], flags=0o100000),  # only reads
        lambda m: m.process(70, "systemd", opens=[f"{m.dev}/sdb"], flags=0o12000000),  # O_PATH: only names it
        lambda m: m.process(70, "vm", opens=[f"{m.dev}/sda"]),
        lambda m: m.process(70, "db").map(70, f"{m.dev}/sdb", "rw-p"),
        lambda m: m.process(70, "db").map(70, f"{m.dev}/sdb", "r--s"),
        lambda m: m.loop("loop3", f"{m.dev}/sda", below="sda"),
        lambda m: m.mount("sda", "/data"),
        lambda m: m.generic("sda", "sg0").process(70, "vm", opens=[f"{m.dev}/sg0"]),
        lambda m: [m.wide(name, name) for name in ("sda", "sdb")],
        lambda m: m.write("sdb", "md/sync_action", "idle"),
        lambda m: (m.add("sdc").loop("loop3", f"{m.dev}/sdc", below="sdc"), m.mount("loop3", "/l")),
        lambda m: (m.node("sdb", stat.S_IFBLK, m.machine().number("sdb")), m.mount("", "/n", source="sdb")),  # no path
    ],
)
def test_what_is_no_use_of_the_disk_is_no_reason(made, arrange):
    made.add("sda").add("sdb").add("sdb1", "sdb")
    arrange(made)
    assert reasons(made, "sdb") == []


def claiming(made, taken):
    """The machine; claimed disks are put into a list."""
    return dataclasses.replace(
        made.machine(), claim=lambda path, number: taken.append(path) or made.claim(path, number)
    )


def test_one_bad_disk_and_none_is_taken(made):
    taken = []
    made.add("sdb").add("sdc").add("sdd")
    made.mount("sdd", "/data")
    with pytest.raises(device.DeviceError, match="sdd: it is mounted"):
        destruction.permit(claiming(made, taken), ["sdb", "sdc", "sdd"], forced=True)
    assert f"{made.dev}/sdd" not in taken


def test_a_use_that_began_during_the_check_is_detected_once_the_disks_are_claimed(made):
    made.add("sdb")
    machine = made.machine()
    calls = []

    def claim(path, number):
        calls.append(made.claim(path, number))
        if len(calls) == 2:  # the first only tries
            made.process(70, "vm", opens=[f"{made.dev}/sdb"])
        return calls[-1]

    with pytest.raises(device.DeviceError, match="open for writing in process 70"):
        destruction.permit(dataclasses.replace(machine, claim=claim), ["sdb"], forced=True)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(calls[1])  # it is closed


def test_who_comes_later_is_detected_before_the_disk_is_handed_over(made):
    made.add("sdb").add("sdc")
    with destruction.permit(made.machine(), ["sdb"], forced=True) as permit:
        permit.hand_over(["sdb"])
        permit.hold(["sdb"])
        with pytest.raises(device.DeviceError, match="sdc: not named with --destroy-data"):
            permit.check(["sdc"])
        made.process(70, "vm", opens=[f"{made.dev}/sdb"])
        with pytest.raises(device.DeviceError, match="open for writing in process 70"):
            permit.hand_over(["sdb"])


@pytest.mark.parametrize("why", [errno.EBUSY, errno.EAGAIN])
def test_a_claim_of_a_moment_as_of_udev_is_waited_for(made, why):
    made.add("sdb")
    left = [why, why]

    def claim(path, number):
        made.busy = {"sdb": left.pop()} if left else {}
        return made.claim(path, number)

    destruction.permit(dataclasses.replace(made.machine(), claim=claim), ["sdb"], forced=True).release(["sdb"])
    assert not left


def test_a_released_disk_is_claimed_again_by_the_next_check(made):
    made.add("sdb")
    taken = []
    with destruction.permit(claiming(made, taken), ["sdb"], forced=True) as permit:
        kept = len(taken)
        permit.check(["sdb"])
        assert len(taken) == kept
        permit.release(["sdb"])
        permit.check(["sdb"])
        assert len(taken) == kept + 1


def test_another_disk_or_size_under_the_name_is_refused(made):
    made.add("sdb").add("sdc")
    with destruction.permit(made.machine(), ["sdb", "sdc"], forced=True) as permit:
        made.write("sdb", "size", 2000)
        with pytest.raises(device.DeviceError, match="sdb has 2000 sectors and had 1000: its size is being changed"):
            permit.check(["sdb"])
        made.write("sdc", "diskseq", 99)
        with pytest.raises(device.DeviceError, match="sdc is no longer the disk with which the sweep began"):
            permit.check(["sdc"])


def test_where_processes_cannot_be_observed_nothing_is_judged(made):
    made.add("sdb")
    (made.proc / "self/ns/pid").symlink_to(disk_users.INITIAL_PID_NAMESPACE)
    destruction.permit(made.machine(), ["sdb"], forced=True).release(["sdb"])
    (made.proc / "self/ns/pid").unlink()
    (made.proc / "self/ns/pid").symlink_to("pid:[4026532999]")
    assert "a container (a PID namespace) does not show" in refused(made, ["sdb"])
    (made.proc / "self/ns/pid").unlink()
    (made.proc / "1/fd").rmdir()
    assert "run this as root of the machine" in refused(made, ["sdb"])


def test_a_loop_on_an_unknown_disk_is_a_reason_not_to_go_on(made):
    made.add("sdb").loop("loop3", "/x")

    def unknown(path):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    machine = dataclasses.replace(made.machine(), loop_numbers=unknown)
    with pytest.raises(device.DeviceError, match="loop3 uses the file /x, which cannot be examined"):
        destruction.permit(machine, ["sdb"], forced=True)


def test_a_disk_in_use_that_cannot_be_read_is_refused_for_its_use(made):
    def unreadable(path):
        raise device.DeviceError(f"{path}: wipefs cannot search for signatures: not permitted")

    made.add("sda").add("sdb")
    made.mount("sda", "/")
    look = disk_users.Look.now(dataclasses.replace(made.machine(), signatures=unreadable))
    assert destruction.refusals(look, "sda")[0].reason == "the root file system is on it"
    with pytest.raises(device.DeviceError, match="cannot search for signatures"):
        destruction.refusals(look, "sdb")


@pytest.mark.parametrize(("destroy", "read", "arrays", "message"), [
    (["sdb,sdb"], [], [], "disk sdb is named twice; name each disk once"),
    (["sdb", "DEV/sdb"], [], [], "disk sdb is named twice"),
    ([], ["sdc,sdb,sdc"], [], "disk sdc is named twice"),
    (["sdb"], ["sdb"], [], "disk sdb is named twice"),
    ([], ["sdb,sdc"], ["one=sdb,DEV/sdb"], "disk sdb is named twice"),
    ([], ["sdb,sdc"], ["one=sdb", "one=sdc"], "--array one=sdc: one is named twice; name each array once"),
])  # fmt: skip
def test_each_disk_is_named_once(made, destroy, read, arrays, message):
    made.add("sdb").add("sdc")
    text = 'title = "x"\n[[matrix]]\narray = "one"\nfilesystem = "none"\nworkload = "dd"\ndata_size = "1 MiB"\n'
    destroy, arrays = ([word.replace("DEV", str(made.dev)) for word in words] for words in (destroy, arrays))
    with pytest.raises(UserError, match=message):
        sweep_disk.select(made.machine(), plan.parse(text, "p", "p.toml"), destroy, read, arrays, True)


def test_what_is_run_before_the_first_cell_is_reported(made):
    made.add("sdb").add("sdb1", "sdb").add("sdc")
    text = 'title = "x"\n[[matrix]]\narray = "one"\nfilesystem = "xfs"\nworkload = "ddt"\ndata_size = "1 MiB"\n'
    the_plan = plan.parse(text + 'md_level = "raid0"\nmd_members = 2\nmd_chunk_kib = 64\n', "p", "p.toml")
    selection = sweep_disk.select(made.machine(), the_plan, ["sdb,sdc"], [], [f"one={made.dev}/sdb,sdc"], True)
    first = selection.first(made.machine(), pathlib.Path("/bin/raidctl"), ())
    looked = [f"wipefs --json --no-act {made.dev}/{name}" for name in ("sdb", "sdb1", "sdc")]
    assert first == [*looked, "/bin/raidctl check --json --data-size 1048576 sdb sdc"]
    known = [made.machine().identity("sdb")]  # this sweep overwrote it
    assert selection.first(made.machine(), pathlib.Path("/bin/raidctl"), known)[:1] == looked[2:]
    made.signatures |= {"sdb": ["xfs"], "sdc": ["xfs"]}
    message, would_be = selection.destruction(made.machine(), False, known)
    assert would_be and [line for line in message if "refused" in line] == [
        "would be refused: sdc: it holds a signature of xfs (add --force-signature if its contents are no longer needed)"
    ]
    assert selection.destruction(made.machine(), True, known)[1] is False


def test_a_sweep_goes_on_on_its_own_disks_only(made):
    made.add("sdb", **{"device/wwid": "naa.5000"}).add("sdc", **{"device/wwid": "naa.6000"}).add("sdd")
    known = [made.machine().identity("sdb")]
    sweep_disk.same_disks(made.machine(), ["sdb", "sdd"], known)
    sweep_disk.same_disks(made.machine(), ["sdc"], ())  # it had none yet
    with pytest.raises(device.DeviceError, match="sdc is not one of the disks of this sweep .sdb."):
        sweep_disk.same_disks(made.machine(), ["sdc"], known)


@pytest.mark.parametrize(
    ("holder", "files", "remedy"),
    [
        ("md0", {}, "mdadm --stop /dev/md0"),
        (
            "dm-0",
            {"dm/uuid": "mpath-3600", "dm/name": "m"},
            "name dm-0, which combines its paths, if that disk is meant",
        ),
        ("dm-0", {"dm/uuid": "LVM-abc", "dm/name": "vg-lv"}, "dmsetup remove vg-lv"),
        ("dm-0", {"dm/uuid": "LVM-abc"}, "dmsetup remove dm-0"),
        ("bcache0", {}, "stop bcache0"),
    ],
)
def test_what_ends_a_use_is_reported(made, holder, files, remedy):
    made.add("sdb").add(holder, **files).hold("sdb", holder)
    look = disk_users.Look.now(made.machine())
    assert [refusal.remedy for refusal in destruction.refusals(look, "sdb")] == [remedy]


def test_only_what_was_requested_is_printed(made):
    made.add("sdb").add("sdc").generic("sdb", "sg0").generic("sdc", "sg1")
    made.process(70, "vm", opens=[f"{made.dev}/{name}" for name in ("sdb", "sdc", "sg0", "sg1")])
    made.mount("", "/b", source=f"/nonexist:{made.dev}/sdc")
    machine = made.machine()
    sdb, sg1 = machine.number("sdb"), made.nodes[f"{made.dev}/sg1"].st_rdev
    assert sorted(disk_users.writers(machine, {sdb, -sg1})) == [(-sg1, "70 (vm)"), (sdb, "70 (vm)")]
    assert [mount.number for mount in disk_users.mounts(machine)] == [os.makedev(0, 40), machine.number("sdc")]


def test_a_name_and_every_path_that_leads_to_the_disk(made):
    made.add("sdb")
    (made.top / "by-id").symlink_to(f"{made.dev}/sdb")
    made.node(made.top / "copy", stat.S_IFBLK, os.makedev(8, 1))
    for word in ("sdb", f"{made.dev}/sdb", str(made.top / "by-id"), str(made.top / "copy")):
        assert made.machine().whole(word) == "sdb"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("TOP/sdb", "TOP/sdb: TOP/sdb is an ordinary file, not a disk; to list the disks: lsblk"),
        ("TOP/folder/sdb", "is a directory, not a disk"),
        ("TOP/char/sdb", "is a character device, not a disk"),
        ("TOP/link", "is an ordinary file, not a disk"),  # its name ends with the disk's
        ("../nonexist/sdb", "is not a disk: give a name such as sdb, or a full path"),
        ("./sdb", "is not a disk: give"),
        ("nonexist/sdb", "is not a disk: give"),
        ("", "is not a disk: give"),
        ("TOP/nonexist/sdb", "no such disk .TOP/nonexist/sdb: No such file or directory.; to list the disks: lsblk"),
        ("TOP/dangling", "no such disk"),
        ("sdz", "no such disk"),
        ("sdb1", "sdb1 is a partition, but a sweep needs a whole disk; name its disk: sdb$"),
        ("TOP/elsewhere", "TOP/elsewhere names disk 9:77, which the kernel does not have"),
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
    with pytest.raises(device.DeviceError, match="sdb is not this disk, but another file of the same name"):
        made.machine().whole(str(made.top / "right"))
    made.node(f"{made.dev}/sdb", stat.S_IFCHR, os.makedev(8, 1))
    with pytest.raises(device.DeviceError, match="is not this disk"):
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
        (["sh", "-c", "echo no such >&2; exit 1"], "/dev/sdx: wipefs cannot search for signatures: no such"),
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
def test_the_kernel_reports_what_lies_below_a_loop(monkeypatch, tmp_path, encoded, number):
    def ioctl(handle, request, room):
        assert request == 0x4C05 and len(room) >= 24  # <linux/loop.h>
        os.fstat(handle)
        return struct.pack("=QQQ", 0x803, 12, encoded)

    monkeypatch.setattr(device.fcntl, "ioctl", ioctl)
    (tmp_path / "loop0").write_text("")
    assert device.Machine().loop_numbers(str(tmp_path / "loop0")) == (os.makedev(8, 3), os.makedev(*number))


@pytest.mark.parametrize(
    ("kind", "rdev", "expected", "taken"),
    [
        (stat.S_IFBLK, 7, 7, True),
        (stat.S_IFBLK, 7, 8, False),
        (stat.S_IFCHR, 7, 7, False),
        (stat.S_IFREG, 0, 7, False),
    ],
)
def test_only_the_disk_of_that_number_is_claimed(monkeypatch, tmp_path, kind, rdev, expected, taken):
    path = tmp_path / "sdb"
    path.write_text("")
    monkeypatch.setattr(device.os, "fstat", lambda handle: types.SimpleNamespace(st_mode=kind, st_rdev=rdev))
    before = os.listdir("/proc/self/fd")
    if not taken:
        with pytest.raises(OSError) as refused:
            device.Machine().claim(str(path), expected)
        assert refused.value.errno == errno.ENODEV
        assert os.listdir("/proc/self/fd") == before
        return
    handle = device.Machine().claim(str(path), expected)
    with open(path, "rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(handle)
