# SPDX-License-Identifier: GPL-2.0-or-later
"""pip install . gives the reader: one wheel, built and installed without network, reads a recording as the checkout does."""

import re
import shutil
import subprocess
import sys

import pytest
from conftest import TOP, unpacked

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--no-input")
FILES = ("pyproject.toml", "README.md", "Documentation/counters.rst", "Documentation/netlink", "tools/python")
VERBS = (["report"], ["report", "-v"], ["report", "--json"], ["report", "--explain", "seeks"], ["explain"],
         ["explain", "--json"], ["compare"], ["export", "--json"])  # fmt: skip
OPENED = """
import raidtrace, sys
run = raidtrace.open(sys.argv[1])
print(raidtrace.__file__, run.phases[8].figures["read"]["requests"], len(run.explanation().limits), sep="\\n")
"""


def done(*command, **more):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True, **more).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of an environment that has this wheel and nothing else."""
    place = tmp_path_factory.mktemp("wheel")
    for name in FILES:
        (place / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        if (TOP / name).is_dir():
            shutil.copytree(
                TOP / name, place / "tree" / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            shutil.copy(TOP / name, place / "tree" / name)
    done(*PIP, "wheel", "--no-index", "--no-build-isolation", "--no-deps", "-q", "-w", place, place / "tree")
    (wheel,) = place.glob("*.whl")
    done(sys.executable, "-m", "venv", "--without-pip", place / "venv")
    python = place / "venv/bin/python3"
    done(*PIP, "--python", python, "install", "--no-index", "--no-deps", "-q", wheel)
    shutil.rmtree(place / "tree")
    return python


@pytest.mark.slow
def test_one_wheel_in_a_bare_environment_reads_a_recording(installed, tmp_path):
    path = unpacked("tests/compat/1.0.0/all.rtdb.xz", tmp_path / "run.rtdb")
    found, requests, limits = done(installed, "-I", "-c", OPENED, path, cwd="/").splitlines()
    assert found.startswith(str(installed.parents[1])) and requests == "300" and int(limits) > 20
    for words in VERBS:
        words = [*words, *([] if "seeks" in words else [path]), *([path] if words == ["compare"] else [])]
        there = done(installed, "-I", "-m", "raidtrace", *words, cwd="/")
        assert there == done(TOP / f"tools/bin/raidctl-{words[0]}", *words[1:], cwd="/") != "", words
    words = [installed, "-I", "-m", "raidtrace", "report", "--html", tmp_path / "page", path]
    lacks = subprocess.run([*map(str, words)], capture_output=True, text=True)
    assert lacks.returncode == 1 and "which is not installed" in lacks.stderr
    wrong = subprocess.run([installed, "-I", "-m", "raidtrace", "record"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith(
        "usage: python3 -m raidtrace {compare,explain,export,report}"
    )


@pytest.mark.slow
def test_each_file_that_the_packages_read_is_in_the_wheel(installed):
    """The packages are named in pyproject.toml, and so are their files."""
    (place,) = installed.parents[1].glob("lib/python3.*/site-packages/raidtrace")
    text = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search('"(.*)"', (TOP / "kmod/version.h").read_text())[1]
    assert f'\nversion = "{version}"\n' in text
    for name in re.findall(r'"raidtrace\.(\w+)",', text):
        if name != "pages":
            there = {
                str(file.relative_to(place)) for file in (place / name).rglob("*") if "__pycache__" not in file.parts
            }
            here = TOP / "tools/python/raidtrace"
            kept = {str(file.relative_to(here)) for file in (here / name).rglob("*") if "__pycache__" not in file.parts}
            assert there == {file for file in kept if not file.startswith("sweep/run")}, name
    needed = (place / "pages/counters.rst", place / "pages/netlink/specs/raidtrace.yaml", place / "pytest_plugin.py")
    assert all(file.is_file() for file in needed)
