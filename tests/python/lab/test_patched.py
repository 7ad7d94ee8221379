# SPDX-License-Identifier: GPL-2.0-or-later
"""A source with patches over it: what is refused, what is written, what is left alone."""

import os
import subprocess

import pytest
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux, patched, tree
from raidlab.kernel.linux import Added
from raidlab.userland import compiler

ONE = """--- a/mm/one.c
+++ b/mm/one.c
@@ -1,3 +1,3 @@
 first
-second
+SECOND
 third
"""
TWO = ONE.replace("SECOND", "Second").replace("-second", "-SECOND")
NEW = "--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+made\n"
GONE = "--- a/mm/one.c\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-first\n-second\n-third\n"
FAR = "--- a/drivers/infiniband/host/core.c\n+++ b/drivers/infiniband/host/core.c\n@@ -1 +1 @@\n-a\n+b\n"
MAIL = "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH {}/2] mm: one\n\nText.\n---\n{}-- \n2.39.5\n\n"


@pytest.fixture
def source(tmp_path):
    top = tmp_path / "source"
    (top / "mm").mkdir(parents=True)
    (top / "Makefile").write_text("VERSION = 6\n")
    (top / "mm/one.c").write_text("first\nsecond\nthird\n")
    (top / "mm/other.c").write_text("other\n")
    (top / "sound").mkdir()
    (top / "sound/pci.c").write_text("nothing that the lab compiles\n")
    return top


@pytest.fixture
def apply(source, tmp_path):
    def act(*texts):
        paths = []
        for number, text in enumerate(texts):
            paths.append(tmp_path / f"{number}.patch")
            paths[-1].write_text(text)
        overlay = tmp_path / "overlay"
        overlay.mkdir(exist_ok=True)
        return patched._applied("applying", source, paths, overlay)

    return act


PATCHED = "first\nSECOND\nthird\n"


@pytest.mark.parametrize(
    "texts, after, left",
    [
        ([ONE], {"mm/one.c": PATCHED}, []),
        ([ONE, TWO], {"mm/one.c": "first\nSecond\nthird\n"}, []),  # they follow each other
        ([MAIL.format(1, ONE) + MAIL.format(2, TWO)], {"mm/one.c": "first\nSecond\nthird\n"}, []),
        ([NEW, GONE], {"mm/new.c": "made\n", "mm/one.c": None}, []),
        ([FAR + ONE], {"mm/one.c": PATCHED}, ["drivers/infiniband/host/core.c"]),  # which the lab does not have
    ],
)
def test_patches_change_a_copy(apply, source, texts, after, left):
    changes, elsewhere = apply(*texts)
    assert {name: path and path.read_text() for name, path in changes.items()} == after and elsewhere == left
    assert (source / "mm/one.c").read_text() == "first\nsecond\nthird\n"


@pytest.mark.parametrize(
    "text, why",
    [
        (FAR, "the lab's kernel has none of the files"),
        (TWO, "does not apply"),
        ("only words\n", "changes no file"),
        (ONE.replace("mm/one.c", "../../one.c"), "outside of the source"),
        ("diff --git a/mm/one.c b/mm/two.c\nrename from mm/one.c\nrename to mm/two.c\n" + ONE, "renames"),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 1\n", "binary"),
    ],
)
def test_refused(apply, text, why):
    with pytest.raises(LabError) as error:
        apply(text)
    assert why in str(error.value)


def test_nothing_is_patched_through_a_link(apply, source, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("first\nsecond\nthird\n")
    (source / "mm/one.c").unlink()
    (source / "mm/one.c").symlink_to(victim)
    with pytest.raises(LabError):
        apply(ONE)
    assert victim.read_text() == "first\nsecond\nthird\n"


def test_only_what_differs_is_written(apply, source, tmp_path):
    to = tmp_path / "tree/linux"
    patched._bring(source, {}, to)
    assert not (to / "sound").exists()
    for path in (to / "mm/one.c", to / "mm/other.c"):
        os.utime(path, (1, 1))
    changes, _ = apply(ONE, NEW)
    patched._bring(source, changes, to)
    assert (to / "mm/one.c").read_text() == "first\nSECOND\nthird\n" and (to / "mm/one.c").stat().st_mtime > 1
    assert (to / "mm/other.c").stat().st_mtime == 1 and (to / "mm/new.c").exists()
    patched._bring(source, {}, to)
    assert (to / "mm/one.c").read_text() == "first\nsecond\nthird\n" and not (to / "mm/new.c").exists()
    patched._bring(source, {"mm/one.c": None}, to)
    assert not (to / "mm/one.c").exists()


def test_links_to_directories_stay(source, tmp_path):
    (source / "scripts").mkdir()
    (source / "scripts/mm").symlink_to("../mm")
    patched._bring(source, {}, tmp_path / "to")
    patched._bring(source, {}, tmp_path / "to")
    assert os.readlink(tmp_path / "to/scripts/mm") == "../mm"


def test_the_order_of_a_series(tmp_path):
    for name in ("b.patch", "a.patch", "README"):
        (tmp_path / name).write_text(ONE)
    assert [path.name for path in patched.listed([], [str(tmp_path)])] == ["a.patch", "b.patch"]
    (tmp_path / "series").write_text("# first\nb.patch -p1\n\na.patch\n")
    assert [path.name for path in patched.listed([], [str(tmp_path)])] == ["b.patch", "a.patch"]


def test_a_missing_patch_is_named(tmp_path):
    with pytest.raises(LabError, match="no such file"):
        str(patched.listed([str(tmp_path / "none")], []))
    with pytest.raises(LabError):
        patched.listed([], [str(tmp_path)])


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository like a kernel's, with two commits; neither of them is checked out."""
    top = tmp_path / "linux"
    (top / "arch/um").mkdir(parents=True)
    (top / "mm").mkdir()
    (top / "drivers/infiniband").mkdir(parents=True)

    def git(*words):
        subprocess.run(["git", "-C", str(top), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)

    def commit(tag, **files):
        for name, text in {"mm/one.c": None, **files}.items():
            path = top / name.replace("__", "/").replace("_c", ".c")
            if text is not None:
                path.write_text(text)
        git("add", "-A")
        git("commit", "-qm", tag)
        git("tag", tag)

    (top / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    (top / "arch/um/Makefile").write_text("")
    git("init", "-q")
    commit("first", mm__one_c="1", mm__gone_c="2", drivers__infiniband__core_c="3")
    (top / "mm/gone.c").unlink()
    commit("second", mm__one_c="one", mm__new_c="4", drivers__infiniband__core_c="5")
    (top / "mm/one.c").write_text("being edited")
    calls = {}

    def built(source, changes, elsewhere, names, _progress, _added, origin, _kernel):
        calls.update(
            before={path.name: path.read_text() for path in (source / "mm").iterdir()},
            changes={name: path and path.read_text() for name, path in changes.items()},
            elsewhere=elsewhere, names=names, origin=origin,
        )  # fmt: skip

    monkeypatch.setattr(patched, "_built", built)
    return top, calls


def test_a_range_is_two_commits_whatever_is_checked_out(repository):
    top, calls = repository
    patched.between(str(top), "first..second", None)
    assert calls["before"] == {"one.c": "1", "gone.c": "2"}
    assert calls["changes"] == {"mm/gone.c": None, "mm/new.c": "4", "mm/one.c": "one"}
    assert calls["elsewhere"] == ["drivers/infiniband/core.c"] and calls["origin"] == top
    assert calls["names"] == (f"{top} first", f"{top} second")


def test_a_tree_as_it_stands_is_compared_with_its_last_commit(repository, monkeypatch):
    top, calls = repository
    patched.with_tree(None, str(top), None)
    assert calls["before"] == {"one.c": "one", "new.c": "4"} and calls["changes"] == {"mm/one.c": "being edited"}
    assert calls["names"] == (f"{top} HEAD", f"{top} as it is") and calls["origin"] == top


def test_a_tree_without_a_change_is_refused(repository):
    (repository[0] / "mm/one.c").write_text("one")
    with pytest.raises(LabError, match="nothing differs from .* HEAD"):
        patched.with_tree(None, str(repository[0]), None)


def test_a_tree_is_compared_with_another_kernel(repository, source, monkeypatch):
    top, calls = repository
    monkeypatch.setattr(patched, "_source", lambda base, _progress: (source, base))
    monkeypatch.setattr(patched, "_of_series", lambda *_: None)
    patched.with_tree("6.12", str(top), None)
    assert calls["changes"] == {
        "Makefile": "VERSION = 6\nPATCHLEVEL = 12\n", "arch/um/Makefile": "",
        "mm/new.c": "4", "mm/one.c": "being edited", "mm/other.c": None,
    }  # fmt: skip
    assert calls["names"] == ("6.12", f"{top} as it is") and calls["origin"] is None


@pytest.mark.parametrize("commits", ["first", "first..", "..second", "first...second", "first..none", "--all..first"])
def test_what_is_no_range_is_refused(repository, commits):
    with pytest.raises(LabError, match="range"):
        patched.between(str(repository[0]), commits, None)


def test_more_options_are_asked_of_a_kernel(source, monkeypatch, tmp_path):
    """The first kernel is the one that others of the series run; the one with the fragment begins as its copy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    calls, begun, picked = [], [], []
    series = linux.Kernel("7.2", "7.2.1", tmp_path / "cache/kernels/7.2.1")
    series.entry.mkdir(parents=True)
    series.source.symlink_to(source)
    monkeypatch.setattr(patched, "_source", lambda base, _progress: (source, base))
    monkeypatch.setattr(patched.tree, "pick", lambda *words, kind, objects: picked.append((words[0], kind)) or series)
    monkeypatch.setattr(patched.tree, "obtain", lambda *words: calls.append(words))
    monkeypatch.setattr(patched.tree, "begin_as", lambda *words, **_: begun.append(words))
    added = (Added(), Added("smp", "CONFIG_HZ=1000\n"))
    plain = patched.place(source) / "base" / "linux"
    patched._bring(source, {}, plain)
    kernels = patched.configured("7.2", Progress(quiet=True), added)
    assert kernels[0] is series and picked == [("7.2", ""), ("7.2", "smp")]
    assert [(words[0], words[2]) for words in calls] == [(plain, "7.2 with smp the fragment")]
    assert [(*words[:3], words[4]) for words in begun] == [(source.resolve(), series.build, plain, added[1])]
    plain, more = (linux.requested_options("7.2", one.text("7.2")).options for one in added)
    assert {name: more[name] for name in more if plain.get(name) != more[name]} == {
        "LOCALVERSION": '"-lab-smp"', "UML_TIME_TRAVEL_SUPPORT": "n", "SMP": "y", "NR_CPUS": "2", "HZ": "1000",
    }  # fmt: skip
    with pytest.raises(LabError, match="6.12 does not support this variant"):
        calls[0][3].text("6.12")


def test_a_build_begins_as_a_copy_of_another(source, monkeypatch, tmp_path):
    """Objects and dates stay; names of places do not; what is there already is left alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (source / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    (source / "arch/um").mkdir(parents=True)
    quiet, added = Progress(quiet=True), Added("", "CONFIG_HZ=1000\n")
    first = tree._entry(source.resolve(), Added(), compiler.get(quiet))
    (first / "build").mkdir(parents=True)
    (first / "build/linux").write_text("built")
    (first / "build/one.cmd").write_text(f"cc {source.resolve()}/mm/one.c -o {first}/build/one.o")
    os.utime(first / "build/one.cmd", (1, 1))
    tree.begin(source, source, quiet, Added(), added)
    then = tree._entry(source.resolve(), added, compiler.get(quiet))
    assert then != first and (source / "mm/one.c").exists()
    command = (then / "build/one.cmd").read_text()
    assert command == f"cc {source.resolve()}/mm/one.c -o {then}/build/one.o"
    assert (then / "build/one.cmd").stat().st_mtime == 1
    (then / "build/linux").write_text("built by make")
    tree.begin(source, source, quiet, Added(), added)
    assert (then / "build/linux").read_text() == "built by make"
    other = tmp_path / "others"
    tree.begin(source, other, quiet, Added(), Added())
    there = tree._entry(other, Added(), compiler.get(quiet))
    assert (other / "mm/one.c").read_text() == "first\nsecond\nthird\n"
    assert str(other) in (there / "build/one.cmd").read_text()


@pytest.mark.parametrize("patchlevel, begun", [(12, True), (1, False)])
def test_a_first_build_begins_as_one_of_the_same_series(source, monkeypatch, tmp_path, patchlevel, begun):
    """Only files that differ between two sources are written, and so compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (source / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    (source / "arch/um").mkdir(parents=True)
    (source / "arch/um/Makefile").touch()
    base, plain = (tmp_path / "cache/raidtrace/patched" / name / "base/linux" for name in ("a" * 12, "b" * 12))
    patched._bring(source, {}, base)
    (base / "Makefile").write_text(f"VERSION = 6\nPATCHLEVEL = {patchlevel}\n")
    (base / "mm/one.c").write_text("another\n")
    os.utime(base / "mm/other.c", (1, 1))
    entry = tree._entry(base, Added(), compiler.get(Progress(quiet=True)))
    (entry / "build").mkdir(parents=True)
    (entry / "build/linux").write_text("built")
    patched._begin(plain, source, Progress(quiet=True), Added())
    assert (plain / "mm/one.c").read_text() == "first\nsecond\nthird\n"
    assert ((plain / "mm/other.c").stat().st_mtime == 1) == begun
    assert (tree._entry(plain, Added(), compiler.get(Progress(quiet=True))) / "build/linux").exists() == begun


def test_of_a_series_only_the_source_is_had(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    top = tmp_path / "raidtrace" / "sources" / f"6.12.1-1-{cache.digest([linux.FILES.read_bytes()])}"
    (top / "source").mkdir(parents=True)
    (top / "complete").touch()

    def make(*_):
        raise AssertionError("a kernel that nobody runs was built")

    monkeypatch.setattr(linux, "make", make)
    assert patched._source("6.12", Progress(quiet=True)) == (top / "source", "linux-source 6.12.1-1")
    with pytest.raises(AssertionError):
        linux.obtain("6.12", Progress(quiet=True))


def test_the_state_of_a_tree_is_what_make_goes_by(source):
    before = patched._state(source)
    assert patched._state(source) == before
    facts = os.stat(source / "mm/one.c")
    os.utime(source / "mm/one.c", ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    assert patched._state(source) != before
    os.utime(source / "mm/one.c", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert patched._state(source) == before
    (source / "mm/other.c").unlink()
    assert patched._state(source) != before
