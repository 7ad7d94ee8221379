# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/setup: silent when nothing is missing, and clear when it cannot help."""

import os
import re
import subprocess

import pytest
from conftest import TOP


@pytest.fixture
def machine(tmp_path):
    """A PATH with only what setup uses, where programs can be replaced."""
    for name in ("sh", "env", "dirname", "awk", "tr", "mktemp", "rm", "tail", "echo", "tee", "grep", "sed"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")

    def put(name, script):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    def run(*arguments, **more):
        return subprocess.run(
            [TOP / "tools" / "setup", *arguments], env={"PATH": str(tmp_path)} | more, capture_output=True, text=True
        )

    run.put = put
    run.log = tmp_path / "apt.log"
    run.commands = lambda: run.log.read_text().splitlines()
    put("apt-get", f'echo "$@" >>{run.log}')
    put("dpkg-query", 'shift 3; for p; do echo "ii  $p"; done')
    put("apt-cache", 'echo "$2:"; echo "  Candidate: 1"')
    put("id", "echo 0")
    return run


OPTIONAL = "reiserfsprogs"
NONE = "exit 1"  # of dpkg-query: no package is installed
NO_CANDIDATE = f'case $2 in {OPTIONAL} | gcc) echo "  Candidate: (none)" ;; *) echo "  Candidate: 1" ;; esac'
WITHOUT_OPTIONAL = f'shift 3; for p; do [ $p = {OPTIONAL} ] || echo "ii  $p"; done'
CANNOT_SIMULATE = 'echo "$@" >>$log; [ "$1" != -s ]'
# apt closes the descriptor that it tells its progress on before it starts dpkg
SCRIPT = 'for w; do case $w in APT::Status-Fd=*) eval "echo pmstatus:gcc:50:x >&${w#*=}; exec ${w#*=}>&-" ;; esac; done'

# other programs, the group, the status, words of the output, and the end of the last command of apt
RUNS = {
    "root installs what is missing and says why": (
        {"dpkg-query": 'shift 3; for p; do [ $p = gcc ] && echo "rc  gcc" || echo "ii  $p"; done'}, "build", 0,
        ["gcc                  compiles the tools"], "--no-install-recommends -y install gcc"),
    "what a release offers is installed": ({"dpkg-query": WITHOUT_OPTIONAL}, "check", 0, [], f" {OPTIONAL}"),
    # gcc has no candidate either, and is requested all the same: apt's refusal is the answer there
    "what a release need not offer is left out by name and the rest is not": (
        {"dpkg-query": f'shift 3; for p; do case $p in {OPTIONAL} | gcc) ;; *) echo "ii  $p" ;; esac; done',
         "apt-cache": NO_CANDIDATE, "apt-get": CANNOT_SIMULATE}, "check", 0,
        [f"setup: {OPTIONAL} is not offered by this release: left out"], "-y install gcc"),
    "neither root nor sudo gets the command to run": (
        {"dpkg-query": NONE, "id": "echo 1000"}, "demo", 1, ["neither root nor sudo", "bonnie++", "gcc"], None),
    "a failed installation prints the error of apt": (
        {"dpkg-query": NONE, "apt-get": 'echo "E: no space left on device"; [ "$1" = -s ]'}, "build", 1,
        ["no space left", "apt-get install failed"], None),
    "scripts of packages can print": (
        {"dpkg-query": NONE, "apt-get": f"{SCRIPT}; echo a script of a package || exit 100"}, "build", 0,
        ["installed 50 %"], None),
    "an unknown group is a usage error": ({}, "everything", 2, [], None),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_what_setup_does(machine, name):
    programs, group, status, words, last = RUNS[name]
    for program, text in programs.items():
        machine.put(program, text.replace("$log", str(machine.log)))
    done = machine(group)
    assert done.returncode == status and all(one in (done.stderr if status else done.stdout) for one in words), done
    assert machine.log.exists() == bool(last) and (not last or machine.commands()[-1].endswith(last))


@pytest.mark.parametrize("programs", [{}, {"dpkg-query": WITHOUT_OPTIONAL, "apt-cache": NO_CANDIDATE}])
def test_nothing_missing_is_silent_and_uses_no_apt(machine, programs):
    """Optional packages that the release does not offer are not missing."""
    for program, text in programs.items():
        machine.put(program, text)
    done = machine("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.log.exists()


@pytest.mark.parametrize(
    ("apt", "commands"),
    [(CANNOT_SIMULATE, ["install", "update", "install"]), ('echo "$@" >>$log', ["install", "install"])],
)
def test_lists_are_fetched_only_when_they_lack_a_package(machine, apt, commands):
    machine.put("dpkg-query", NONE)
    machine.put("apt-get", apt.replace("$log", str(machine.log)))
    assert machine("build").returncode == 0
    assert ["update" if "update" in line else "install" for line in machine.commands()] == commands


def test_root_of_a_user_namespace_is_no_root(machine, tmp_path, monkeypatch):
    machine.put("dpkg-query", NONE)
    for users, message in (("0 0 1", True), ("0 1000 1\n1 100000 65536", False), ("0 0 4294967295", False)):
        (tmp_path / "uid_map").write_text(f"{users}\n")
        done = machine("demo", SETUP_UID_MAP=str(tmp_path / "uid_map"))
        assert ("user namespace (unshare -r)" in done.stderr) == message and bool(done.returncode) == message
    assert machine.log.exists()


def test_every_package_has_a_group_and_a_reason():
    groups = re.findall(r"^(\w+)\) +groups=", (TOP / "tools" / "setup").read_text(), re.MULTILINE)
    assert "build" in groups
    for line in (TOP / "tools" / "packages").read_text().splitlines():
        if line and not line.startswith("#"):
            group, _, *reason = line.split()
            assert group in groups and reason, line
    assert os.access(TOP / "tools" / "setup", os.X_OK)


def test_a_package_of_several_groups_is_listed_once_with_the_reason_of_a_requested_group(machine):
    machine.put("dpkg-query", NONE)
    listed = machine("check").stdout.splitlines()
    assert [line.split()[0] for line in listed if line.split()[:1] in (["mdadm"], ["fio"])] == ["fio", "mdadm"]
    assert any(line.split()[0] == "fio" and "module comes and goes" not in line for line in listed if line.strip())
