# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine of files, with disks, what lies on them and who uses them, for the tests of what may be overwritten."""

import os
import stat
import types

from raidtrace.sweep import device


class Made:
    """Disks are directories of a made-up sysfs, partitions below them; processes are directories of a made-up /proc."""

    def __init__(self, top):
        self.top = top
        self.sys, self.proc, self.dev = top / "sys", top / "proc", top / "dev"
        self.swaps, self.signatures, self.busy, self.loops, self.nodes = [], {}, {}, {}, {}
        self.mounts = {"self": [], "1": []}
        self.number = 0
        (self.sys / "class/block").mkdir(parents=True)
        self.process(1, "init")
        (self.proc / "self/ns").mkdir(parents=True)
        self.space("self", "mnt:[1]")

    def add(self, name, parent="", holders=(), size=1000, **files):
        path = self.sys / ("devices" if not parent else f"devices/{parent}") / name
        path.mkdir(parents=True)
        self.number += 1
        for key, value in ({"dev": f"8:{self.number}", "size": size, "diskseq": self.number, "ro": 0} | files).items():
            self.put(path / key, value)
        if parent:
            (path / "partition").write_text("1\n")
        else:
            (self.sys / "block").mkdir(exist_ok=True)
            (self.sys / "block" / name).symlink_to(path)
        (self.sys / "class/block" / name).symlink_to(path)
        self.node(f"{self.dev}/{name}", stat.S_IFBLK, os.makedev(8, self.number))
        for kind in ("holders", "slaves"):
            (path / kind).mkdir()
        for holder in holders:
            self.hold(name, holder)
        return self

    def put(self, path, value):
        """A file of the made-up /proc or /sys, named from the top, with the directories that it lies in."""
        whole = self.top / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(f"{value}\n")

    def node(self, path, kind, rdev=0):
        """The result of stat for a path."""
        self.nodes[str(path)] = types.SimpleNamespace(st_mode=kind | 0o600, st_rdev=rdev, st_dev=5)

    def hold(self, name, holder):
        (self.sys / "class/block" / name / "holders" / holder).write_text("")
        (self.sys / "class/block" / holder / "slaves" / name).write_text("")
        return self

    def loop(self, name, backing, below="", offset=0, file=""):
        """A loop device on a block device, or on a file of the file system on one."""
        self.add(name, **{"loop/backing_file": backing, "loop/offset": offset})
        number = self.machine().number
        self.loops[f"{self.dev}/{name}"] = (number(file) if file else 5, number(below) if below else 0)
        return self

    def mount(self, name, point, process="self", source=""):
        number = (self.sys / "class/block" / name / "dev").read_text().strip() if name else "0:40"
        source = source or f"{self.dev}/{name}"
        self.mounts[str(process)].append(f"36 35 {number} / {point} rw,noatime shared:1 - ext4 {source} rw")

    def write(self, name, key, value):
        self.put(self.sys / "class/block" / name / key, value)

    def wide(self, name, value):
        self.write(name, "device/wwid", value)

    def generic(self, name, other):
        """The character device for SCSI commands of a disk."""
        self.number += 1
        self.write(name, f"device/scsi_generic/{other}/dev", f"21:{self.number}")
        self.node(f"{self.dev}/{other}", stat.S_IFCHR, os.makedev(21, self.number))
        return self

    def export(self, where, value):
        self.put(self.sys / "kernel/config" / where, value)

    def enter(self, pid, name):
        """Put a process into a directory of the file system on a disk."""
        number = self.machine().number(name)
        self.nodes[f"{self.proc}/{pid}/cwd"] = types.SimpleNamespace(st_mode=stat.S_IFDIR, st_rdev=0, st_dev=number)

    def map(self, pid, what, kind="rw-s", flags="rd mr"):
        """A mapping, shared and to be written if kind does not say otherwise. flags: of smaps."""
        path = self.proc / str(pid)
        (path / "map_files").mkdir()
        (path / "maps").write_text(
            f"00400000-00500000 r-xp 0 fe:01 7 /x\n01000000-7f0000001000 {kind} 0 0:5 9 /dev/x\n"
        )
        (path / "smaps").write_text(
            "00400000-00500000 r-xp 0 fe:01 7 /x\nSize: 4 kB\nVmFlags: rd ex mr mw me \n"
            f"01000000-7f0000001000 {kind} 0 0:5 9 /dev/x\nSize: 4 kB\nVmFlags: {flags} \n"
        )
        (path / "map_files/400000-500000").symlink_to("/x")
        (path / "map_files/1000000-7f0000001000").symlink_to(what)

    def process(self, pid, comm, opens=(), space="mnt:[1]", flags=0o100002, task=0):
        """A process, and the paths that it has open."""
        path = self.proc / str(pid)
        (path / "fd").mkdir(parents=True, exist_ok=True)
        (path / "comm").write_text(f"{comm}\n")
        self.space(pid, space)
        self.mounts.setdefault(str(pid), [])
        tables = path / f"task/{task}" if task else path
        for kind in ("fd", "fdinfo"):
            (tables / kind).mkdir(parents=True, exist_ok=True)
        for number, what in enumerate(opens, 3):
            (tables / "fd" / str(number)).symlink_to(what)
            (tables / "fdinfo" / str(number)).write_text(f"pos:\t0\nflags:\t0{flags:o}\n")
        return self

    def space(self, pid, space):
        path = self.proc / str(pid) / "ns"
        path.mkdir(parents=True, exist_ok=True)
        (path / "mnt").unlink(missing_ok=True)
        (path / "mnt").symlink_to(space)

    def machine(self):
        for process, lines in self.mounts.items():
            (self.proc / process / "mountinfo").write_text("".join(f"{line}\n" for line in lines))
        lines = "".join(f"{self.dev}/{name} partition 1 0 -2\n" for name in self.swaps)
        (self.proc / "swaps").write_text(f"Filename Type Size Used Priority\n{lines}")
        self.put(self.proc / "sys/kernel/random/boot_id", "b00t")
        return device.Machine(
            self.sys, self.proc, str(self.dev), lambda path: self.signatures.get(path.rsplit("/", 1)[-1], []),
            self.stat, lambda path: self.loops[path], self.claim,
        )  # fmt: skip

    def stat(self, path):
        """The stat of the made-up nodes; links to them are followed, as those of /proc are."""
        if path in self.nodes:
            return self.nodes[path]
        target = os.readlink(path) if os.path.islink(path) else ""
        return self.nodes[target] if target in self.nodes else os.stat(path)

    def claim(self, path, number):
        """A descriptor, unless the disk is busy."""
        name = path.rsplit("/", 1)[-1]
        if name in self.busy:
            raise OSError(self.busy[name], os.strerror(self.busy[name]))
        assert self.nodes[path].st_rdev == number
        return os.open("/dev/null", os.O_RDONLY)
