# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's cache: what a guest runs from stays while it runs, whatever others build."""

import argparse
import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import TOP
from raidlab.apt import packages, sources_list
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux, tree
from raidlab.uml import modules
from raidlab.verbs import cli

LAB = TOP / "tools" / "lab"


@pytest.fixture
def entries(tmp_path):
    """Builds of a module, the oldest first, more than are kept."""
    made = []
    for number in range(modules._KEEP + 2):
        entry = tmp_path / f"raidtrace-{number}"
        entry.mkdir()
        (entry / "complete").touch()
        os.utime(entry, (number, number))
        made.append(entry)
    return made


def forget(entries):
    cache.keep_newest(entries[-1], "raidtrace", modules._KEEP)
    return [entry.exists() for entry in entries]


def test_what_was_not_used_for_longest_is_forgotten(entries):
    assert forget(entries) == [False, False] + [True] * modules._KEEP


def test_what_another_process_runs_from_stays_as_long_as_that_lives(entries):
    code = "import pathlib, sys; from raidlab.base import cache; cache.hold(pathlib.Path(sys.argv[1])); print(flush=1); input()"
    holder = subprocess.Popen([sys.executable, "-B", "-c", code, entries[0]], env=dict(os.environ, PYTHONPATH=str(LAB)),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    holder.stdout.readline()
    assert forget(entries) == [True, False] + [True] * modules._KEEP
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert forget(entries) == [False, False] + [True] * modules._KEEP


def test_lists_of_packages_are_fetched_anew_when_apt_has_other_sources(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(packages._Apt, "run", lambda apt, *words: fetched.append(words))
    monkeypatch.setattr(packages._Apt, "offered", lambda apt: {"6.1": "1"})
    for suite in ("bookworm", "bookworm", "trixie", "trixie"):
        entry = sources_list.Entry((), "ftp://m.example/debian", (suite,), ("main",))
        monkeypatch.setattr(sources_list, "configured", lambda entry=entry: iter([entry]))
        for derived in (False, True):
            packages._private(derived, Progress(quiet=True))
    assert len(fetched) == 4


def test_an_interrupted_build_is_continued_where_that_is_asked_for(tmp_path):
    quiet = Progress(quiet=True)
    for resume, kept in ((True, ["object", "second"]), (False, ["second"])):
        entry = tmp_path / f"kernel-{resume}"
        with pytest.raises(KeyboardInterrupt), cache.entry(entry, quiet, resume):
            (entry / "object").touch()
            raise KeyboardInterrupt
        assert not cache.is_complete(entry)
        with cache.entry(entry, quiet, resume) as is_new:
            assert is_new
            (entry / "second").touch()
        assert sorted(path.name for path in entry.iterdir() if path.name != "complete") == kept
        with cache.entry(entry, quiet, resume) as is_new:
            assert not is_new


def test_a_run_that_waits_for_a_build_shows_how_far_that_is(tmp_path):
    """Also when the run that builds is quiet. Nothing of it is left for the next one that waits."""
    code = """if True:
        import pathlib, sys
        from raidlab.base import cache, progress
        progress._SILENT = progress._LOG_INTERVAL = 0.0
        with cache.locked(pathlib.Path(sys.argv[1]), progress.Progress()):
            print("mine", file=sys.stderr, flush=True)
    """
    path, quiet = tmp_path / "6.1.1-a", Progress(quiet=True)
    lock = tmp_path / ".6.1.1-a.lock"
    lock.write_text("left by a run that was killed")
    with cache.locked(path, quiet):
        assert not lock.read_text()
        quiet.begin("building kernel 6.1.1")
        quiet.update(0.05)
        waits = subprocess.Popen([sys.executable, "-B", "-c", code, path], env=dict(os.environ, PYTHONPATH=str(LAB)),
                                 stderr=subprocess.PIPE, text=True)  # fmt: skip
        assert waits.stderr.readline() == "lab: waiting for another run that builds 6.1.1-a\n"
        assert waits.stderr.readline() == "lab: waiting for another run: building kernel 6.1.1: 5%\n"
        quiet.update(0.43)
        lines = iter(waits.stderr.readline, "")
        assert next(line for line in lines if "43%" in line).rstrip().endswith("building kernel 6.1.1: 43%, 0 s left")
    rest = waits.communicate()[1].splitlines()
    assert waits.returncode == 0 and rest[-1] == "mine"
    assert rest[-2].startswith("lab: waiting for another run: ") and not lock.read_text()


def test_what_was_not_used_for_a_month_is_offered_and_removed_when_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    top, now = cache.root(), time.time()
    for days, name in (
        (40, "kernels/6.1-a"),
        (31, "root-b"),
        (29, "kernels-smp/7.2-c"),
        (50, "patched/d"),
        (90, "trees/e"),
    ):
        path = top / name
        path.mkdir(parents=True)
        (path / "complete").touch()
        os.utime(path / "complete", (now - days * 86400,) * 2)
    assert (top / "trees/e/complete").stat().st_mtime < now - 89 * 86400
    with cache.entry(top / "trees/e", Progress(quiet=True)):  # in use again
        pass
    words = argparse.Namespace(days=30, remove=False)
    assert cli.clean(words) == 0
    output = capsys.readouterr().out
    assert [line.split()[-1] for line in output.splitlines()[:-1]] == ["patched/d", "kernels/6.1-a", "root-b"]
    assert output.endswith("To remove them: raidctl lab clean --remove\n") and (top / "root-b").exists()
    descriptor = os.open(top / "root-b", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)  # as a guest that runs from it
    words.remove = True
    assert cli.clean(words) == 0
    os.close(descriptor)
    left = sorted(str(path.parent.relative_to(top)) for path in top.glob("**/complete"))
    assert left == ["kernels-smp/7.2-c", "root-b", "trees/e"]


def test_all_modules_are_built_once_and_links_to_the_build_are_not_kept(tmp_path, monkeypatch):
    output = []

    def run_logged(what, command, log, *_, **__):
        output.append(command[-1])
        if command[-1] == "modules_install":
            there = tmp_path / "modroot/lib/modules/6.1-lab"
            there.mkdir(parents=True)
            (there / "build").symlink_to("/nowhere")

    monkeypatch.setattr(linux.toolchain, "run_logged", run_logged)
    monkeypatch.setattr(linux, "_make_movable", lambda _kernel: None)
    kernel = linux.Kernel("6.1", "6.1.1", tmp_path)
    (tmp_path / "build").mkdir()
    compiler = argparse.Namespace(environment=dict)
    assert not kernel.has_modules
    for _ in range(2):
        linux.add_modules(kernel, compiler, Progress(quiet=True))
    assert kernel.has_modules and output == ["modules", "modules_install"]
    assert not list(tmp_path.glob("modroot/lib/modules/*/*"))


def test_modules_of_a_tree_that_was_built_again_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tree.compiler, "get", lambda _progress: None)
    entry = tmp_path / "trees/linux-a"
    built = entry / "built/one"
    (entry / "build").mkdir(parents=True)
    built.mkdir(parents=True)
    (built / "build").symlink_to("../../build")
    (entry / "last").write_text("state two")
    kernel = linux.Kernel("linux", "6.1.1", built, tmp_path)
    with pytest.raises(LabError, match="built again in the meantime"):
        tree.add_modules(kernel, Progress(quiet=True))


def test_an_installed_kernel_is_used_without_a_compiler_if_it_is_of_this_configuration(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "INSTALLED", tmp_path / "lab-kernel")
    monkeypatch.setattr(linux.compiler, "get", lambda _progress: pytest.fail("a compiler was requested"))
    kernel = tmp_path / "lab-kernel/kernel"
    kernel.mkdir(parents=True)
    (kernel / "of").write_text(f"6.1.192-2 {linux.configuration_name('6.1')}\n")
    (kernel / "modules-complete").touch()
    quiet = Progress(quiet=True)
    obtained = linux.obtain(None, quiet)
    assert (obtained.series, obtained.version, obtained.entry) == ("6.1", "6.1.192-2", kernel) and obtained.has_modules
    programs = modules.installed_programs()
    programs.mkdir()
    assert modules.build_programs(quiet).entry == programs
    for words in (
        ("7.2", quiet),
        (None, quiet, True),
        (None, quiet, False, True),
    ):  # another; the newest; one with objects
        with pytest.raises(pytest.fail.Exception, match="a compiler"):
            linux.obtain(*words)
    (kernel / "of").write_text("6.1.192-2 000000000000\n")
    with pytest.raises(pytest.fail.Exception, match="a compiler"):
        linux.obtain(None, quiet)
