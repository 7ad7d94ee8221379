# SPDX-License-Identifier: GPL-2.0-or-later
"""The library that is preloaded into the measured program observes its calls, and leaves out only those it must."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import PRELOADED, STRICT, TOP, compiled

# what each does: a pipe cannot be synced or advised, so a call that was not left out is an error
DOES = {
    "direct": "import os, fcntl, sys; h = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT);"
    "fcntl.fcntl(h, fcntl.F_SETFL, os.O_DIRECT); sys.exit(bool(fcntl.fcntl(h, fcntl.F_GETFL) & os.O_DIRECT))",
    "sync": "import os; os.fsync(os.pipe()[0])",
    "sleep": "import time; time.sleep(100000)",
    "fadvise": "import os; os.posix_fadvise(os.pipe()[0], 0, 0, os.POSIX_FADV_RANDOM)",
    # the flag rr of a mapping is MADV_RANDOM; what the program advises afterwards does not take it away
    "mapping": "import mmap, sys; f = open(sys.argv[1], 'w+b'); f.truncate(2 << 20); m = mmap.mmap(f.fileno(), 0);"
    "m.madvise(mmap.MADV_SEQUENTIAL); t = open('/proc/self/smaps').read().split('/file')[1];"
    "sys.exit('rr' not in t.split('VmFlags:')[1].splitlines()[0].split())",
}


@pytest.fixture(scope="module", name="library")
def _library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Built as strictly as can be."""
    made = tmp_path_factory.mktemp("preload") / "why-preload.so"
    return compiled(TOP / "tools/workload/why-preload.c", made, "-D_GNU_SOURCE", "-std=c11", *PRELOADED, *STRICT)


def run(library: pathlib.Path, text: str, directory: pathlib.Path, omit: str = "") -> tuple[int, set[str]]:
    """Exit status of a program, and its observed calls."""
    observed = directory / "seen"
    observed.unlink(missing_ok=True)
    own = {"LD_PRELOAD": str(library), "RAIDTRACE_WHY_SEEN": str(observed), "RAIDTRACE_WHY_OMIT": omit}
    done = subprocess.run([sys.executable, "-c", text, directory / "file"], env={**os.environ, **own}, check=False, timeout=600,
                          stderr=subprocess.DEVNULL)  # fmt: skip
    return done.returncode, set(observed.read_text().split()) if observed.exists() else set()


@pytest.mark.parametrize("kind", DOES)
def test_left_out(library: pathlib.Path, tmp_path: pathlib.Path, kind: str) -> None:
    """Told to, it leaves it out, and says that it was there."""
    assert run(library, DOES[kind], tmp_path, kind) == (0, {kind})


@pytest.mark.parametrize("kind", ["sync", "fadvise", "mapping"])
def test_only_what_is_named_is_left_out(library: pathlib.Path, tmp_path: pathlib.Path, kind: str) -> None:
    """Without a word, or with another, the program does what it does."""
    for omit in ("", "sleep", "direct"):
        assert run(library, DOES[kind], tmp_path, omit) == (1, {kind})


def test_a_program_without_calls_is_observed_to_make_none(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """An open, a read, a wait for a file are none of them."""
    text = "import os, select, sys; open(sys.argv[0] or '/dev/null').read(1); a, b = os.pipe(); select.select([], [b], [], 1)"
    assert run(library, text.replace("sys.argv[0] or ", ""), tmp_path)[1] == set()


def test_small_mappings_are_of_libraries(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = DOES["mapping"].replace("2 << 20", "(1 << 20) - 4096")
    assert run(library, text, tmp_path, "mapping") == (1, set())


def test_flags_and_modes_are_passed_on(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    run(library, "import os, sys; os.umask(0); os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY, 0o640)", tmp_path)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
