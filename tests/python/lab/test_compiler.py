# SPDX-License-Identifier: GPL-2.0-or-later
"""Which compiler builds what runs in a guest."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from raidlab.base import cache, toolchain
from raidlab.base.progress import Progress
from raidlab.kernel import linux
from raidlab.userland import compiler
from raidlab.userland.compiler import Sysroot

QUIET = Progress(quiet=True)
LOCKED = compiler.locked("compiler")


@pytest.fixture(name="host")
def _host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Versions that a host's programs print; its cache has a sysroot with a compiler that prints its arguments."""
    versions = {"gcc": LOCKED, "ld": compiler.locked("linker")}
    real = toolchain.first_line

    def first_line(*command: str) -> str:
        return versions[command[0]] if command[0] in versions else real(*command)

    def unpacked(_: Progress) -> Sysroot:
        made = Sysroot(tmp_path / "sysroot/root", "made")
        (made.path / "usr/bin").mkdir(parents=True, exist_ok=True)
        (made.path / compiler.LIBRARIES).mkdir(parents=True, exist_ok=True)
        (made.path / compiler.LIBRARIES / "libisl.so.23").touch()
        (made.path / compiler.LIBRARIES / "libc.so.6").touch()
        program = made.path / "usr/bin/gcc"
        program.write_text('#!/bin/sh\necho "mine $LD_LIBRARY_PATH $*"\n', encoding="ascii")
        program.chmod(0o755)
        return made

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(toolchain, "first_line", first_line)
    monkeypatch.setattr(compiler, "get_sysroot", unpacked)
    return versions


def test_of_a_host_that_has_the_very_same_its_own(host: dict[str, str]) -> None:
    assert compiler.get(QUIET) == compiler.Compiler(host["gcc"])
    assert not compiler.get(QUIET).environment()


@pytest.mark.parametrize("program", ["gcc", "ld"])
def test_of_another_host_that_of_the_root(host: dict[str, str], program: str) -> None:
    host[program] = "another 14.2.0"
    programs = compiler.get(QUIET)
    assert programs.programs and programs.name.startswith("mine ")
    assert programs.environment()["PATH"].startswith(f"{programs.programs}:")
    words = subprocess.run([programs.programs / "gcc", "-c", "a b"], capture_output=True, text=True, check=True).stdout
    library, *rest = words.removeprefix("mine ").split(" ", 1)
    assert {path.name for path in Path(library).iterdir()} == {"libisl.so.23"}  # of no other C library
    top = (programs.programs / "../root").resolve()
    options = [f"--sysroot={top}", f"-B{programs.programs}/", f"-ffile-prefix-map={top}="]
    assert rest[0].split() == [*options, "-c", "a", "b"]
    assert programs.programs.is_relative_to(cache.root())


def test_of_a_host_whose_c_library_is_older_its_own_and_said(
    host: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host["gcc"] = "gcc (Another) 11.4.0"
    monkeypatch.setattr(os, "confstr", lambda _: "glibc 2.35")
    assert compiler.get(Progress()) == compiler.Compiler("gcc (Another) 11.4.0")
    assert "glibc 2.35 is too old" in capsys.readouterr().err


def test_a_compiler_of_another_version_builds_what_is_called_otherwise(host: dict[str, str]) -> None:
    one = linux.identity(linux.requested_options("6.1"), compiler.get(QUIET))
    host["gcc"] = "another"
    assert linux.identity(linux.requested_options("6.1"), compiler.get(QUIET)) != one
