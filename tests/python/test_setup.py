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
    put("apt-get", f'echo "$@" >>{run.log}')
    put("dpkg-query", 'shift 3; for p; do echo "ii  $p"; done')
    put("apt-cache", 'echo "$2:"; echo "  Candidate: 1"')
    put("id", "echo 0")
    return run


def test_nothing_missing_is_silent_and_uses_no_apt(machine):
    done = machine("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.log.exists()


def test_root_installs_what_is_missing_and_says_why_first(machine):
    machine.put("dpkg-query", 'shift 3; for p; do [ $p = gcc ] && echo "rc  gcc" || echo "ii  $p"; done')
    done = machine("build")
    assert done.returncode == 0
    assert "gcc                  compiles the tools" in done.stdout
    assert machine.log.read_text().splitlines()[-1].endswith("--no-install-recommends -y install gcc")
    assert "update" not in machine.log.read_text()


def test_lists_are_fetched_only_when_they_lack_a_package(machine):
    machine.put("dpkg-query", "exit 1")
    machine.put("apt-get", f'echo "$@" >>{machine.log}; [ "$1" != -s ]')
    assert machine("build").returncode == 0
    words = [line.split()[-1] if "update" in line else "install" for line in machine.log.read_text().splitlines()]
    assert words == ["install", "update", "install"]


OPTIONAL = "reiserfsprogs"
NO_CANDIDATE = f'case $2 in {OPTIONAL} | gcc) echo "  Candidate: (none)" ;; *) echo "  Candidate: 1" ;; esac'


def test_what_a_release_need_not_offer_and_does_not_is_no_reason_to_ask_apt(machine):
    machine.put("dpkg-query", f'shift 3; for p; do [ $p = {OPTIONAL} ] || echo "ii  $p"; done')
    machine.put("apt-cache", NO_CANDIDATE)
    done = machine("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.log.exists()
    machine.put("apt-cache", 'echo "  Candidate: 1"')
    assert machine("check").returncode == 0
    assert machine.log.read_text().splitlines()[-1].endswith(f" {OPTIONAL}")


def test_what_a_release_need_not_offer_is_left_out_by_name_and_the_rest_is_not(machine):
    """gcc has no candidate either, and is requested all the same: apt's refusal is the answer there."""
    machine.put("dpkg-query", f'shift 3; for p; do case $p in {OPTIONAL} | gcc) ;; *) echo "ii  $p" ;; esac; done')
    machine.put("apt-cache", NO_CANDIDATE)
    machine.put("apt-get", f'echo "$@" >>{machine.log}; [ "$1" != -s ]')
    done = machine("check")
    assert done.returncode == 0
    assert f"setup: {OPTIONAL} is not offered by this release: left out" in done.stdout
    assert machine.log.read_text().splitlines()[-1].endswith("-y install gcc")


def test_root_of_a_user_namespace_is_no_root(machine, tmp_path, monkeypatch):
    machine.put("dpkg-query", "exit 1")
    for users, message in (("0 0 1", True), ("0 1000 1\n1 100000 65536", False), ("0 0 4294967295", False)):
        (tmp_path / "uid_map").write_text(f"{users}\n")
        done = machine("demo", SETUP_UID_MAP=str(tmp_path / "uid_map"))
        assert ("user namespace (unshare -r)" in done.stderr) == message and bool(done.returncode) == message
    assert machine.log.exists()


def test_neither_root_nor_sudo_gets_the_command_to_run(machine):
    machine.put("dpkg-query", "exit 1")
    machine.put("id", "echo 1000")
    done = machine("demo")
    assert done.returncode == 1
    assert "neither root nor sudo" in done.stderr
    assert "bonnie++" in done.stderr and "gcc" in done.stderr
    assert not machine.log.exists()


def test_a_failed_installation_prints_the_error_of_apt(machine):
    machine.put("dpkg-query", "exit 1")
    machine.put("apt-get", 'echo "E: no space left on device"; [ "$1" = -s ]')
    done = machine("build")
    assert done.returncode == 1
    assert "no space left" in done.stderr and "apt-get install failed" in done.stderr


def test_scripts_of_packages_can_print(machine):
    """apt closes the descriptor that it tells its progress on before it starts dpkg."""
    machine.put("dpkg-query", "exit 1")
    script = (
        'for w; do case $w in APT::Status-Fd=*) eval "echo pmstatus:gcc:50:x >&${w#*=}; exec ${w#*=}>&-" ;; esac; done'
    )
    machine.put("apt-get", f"{script}; echo a script of a package || exit 100")
    done = machine("build")
    assert done.returncode == 0, done.stderr
    assert "installed 50 %" in done.stdout


def test_an_unknown_group_is_a_usage_error(machine):
    assert machine("everything").returncode == 2


def test_every_package_has_a_group_and_a_reason():
    groups = re.findall(r"^(\w+)\) +groups=", (TOP / "tools" / "setup").read_text(), re.MULTILINE)
    assert "build" in groups
    for line in (TOP / "tools" / "packages").read_text().splitlines():
        if line and not line.startswith("#"):
            group, _, *reason = line.split()
            assert group in groups and reason, line
    assert os.access(TOP / "tools" / "setup", os.X_OK)


def test_a_package_of_several_groups_is_listed_once_with_the_reason_of_a_requested_group(machine):
    machine.put("dpkg-query", "exit 1")
    listed = machine("check").stdout.splitlines()
    assert [line.split()[0] for line in listed if line.split()[:1] in (["mdadm"], ["fio"])] == ["fio", "mdadm"]
    assert any(line.split()[0] == "fio" and "module comes and goes" not in line for line in listed if line.strip())
