# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/lint/layers finds what it is there to find."""

import subprocess

import pytest
from conftest import TOP

GOOD = {
    "kmod/histogram.h": "",
    "kmod/histogram.c": '#include "histogram.h"\n#include <linux/types.h>\n',
    "kmod/account.h": '#include "histogram.h"\n',
    "kmod/account.c": '#include "account.h"\n',
    "kmod/probe.h": '#include "account.h"\n',
    "tools/libraidtrace/raidtrace.h": "",
    "tools/raidctl/store.c": '#include "store.h"\n#include "raidtrace.h"\n',
    "tools/raidctl/store.h": "",
    "tools/raidctl/cmd-show.c": '#include "store.h"\n',
    "tools/lab/tw9000/wire.h": "#include <stdint.h>\n",
    "tools/lab/tw9000/model.c": '#include "wire.h"\n',
    "tools/lab/tw9000/Kbuild": "tw9000-y := model.o uml.o\n",
    "tools/lab/vm/controller.py": 'model.glob("*.c")) if not path.name.startswith("uml")\n',
    "tests/model/Makefile": "$(filter-out $(MODEL)/uml%,$(wildcard $(MODEL)/*.c))\n",
    "tools/python/raidtrace/__init__.py": "",
    "tools/python/raidtrace/recording/__init__.py": "",
    "tools/python/raidtrace/recording/recording.py": "import sqlite3\n",
    "tools/python/raidtrace/demo/__init__.py": "",
    "tools/python/raidtrace/demo/demo.py": "from raidtrace.recording import recording\n",
    "tools/python/raidctl-demo": "#!/usr/bin/python3\nfrom raidtrace.demo import demo\n",
    "tools/paper-2004/paper2004/__init__.py": "",
    "tools/paper-2004/paper2004/fit.py": "from raidtrace.demo.demo import run\nfrom . import plan\n",
    "tools/paper-2004/paper2004/plan.py": "",
    "tools/paper-2004/fit": "#!/usr/bin/python3\nfrom paper2004 import fit\n",
}


READER = "tools/python/raidtrace/recording/recording.py"


@pytest.fixture
def check(tmp_path):
    def run(**changes):
        for name, content in (GOOD | {k.replace("__", "/"): v for k, v in changes.items()}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return subprocess.run([TOP / "tests" / "lint" / "layers", tmp_path], capture_output=True, text=True)

    return run


def test_a_clean_tree_passes(check):
    done = check()
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("kmod/account.c", '#include "probe.h"\n', "stands above it"),
        ("kmod/histogram.h", '#include "account.h"\n', "stands above it"),
        ("kmod/surprise.c", "", "on no rung"),
        ("kmod/histogram.c", "#include <linux/slab.h>\n", "without kernel services"),
        ("tools/libraidtrace/raidtrace.h", '#include "../raidctl/store.h"\n', "stands above it"),
        ("tools/raidctl/store.h", '#include "cmd-show.c"\n', "stands above it"),
        ("tools/lab/tw9000/wire.h", '#include "model.c"\n', "stands above it"),
        ("tools/lab/tw9000/model.c", "#include <stdio.h>\n", "without kernel services"),
        (READER, "from raidtrace import demo\n", "stands above it"),
        (READER, "from raidtrace.demo import demo\n", "demo/demo.py, which stands above it"),
        (READER, "from raidtrace.demo.demo import run\n", "demo/demo.py, which stands above it"),
        (READER, "import raidtrace.demo.demo\n", "stands above it"),
        (READER, "def late():\n    from ..demo import demo\n", "demo/demo.py, which stands above it"),
        (READER, "from raidtrace.records import x\n", "does not belong"),
        (READER, "from paper2004 import plan\n", "paper2004/plan.py, which stands above it"),
        ("tools/python/raidtrace/surprise.py", "", "on no rung"),
        ("tools/python/surprise.py", "", "on no rung"),
        ("tools/python/surprise", "#!/usr/bin/python3\n", "on no rung"),
        ("tools/python/raidctl-demo", "#!/usr/bin/python3\nfrom paper2004 import fit\n", "stands above it"),
        ("tools/paper-2004/paper2004/plan.py", "from . import fit\n", "circle"),
    ],
)
def test_each_wrong_dependency_is_found(check, name, content, said):
    done = check(**{name: content})
    assert done.returncode == 1
    assert said in done.stdout, done.stdout


def test_a_circle_on_one_rung_is_found(check):
    done = check(**{"tools/raidctl/units.h": '#include "store.h"\n', "tools/raidctl/store.h": '#include "units.h"\n'})
    assert "circle" in done.stdout and done.returncode == 1


def test_an_empty_tree_does_not_pass(tmp_path):
    assert subprocess.run([TOP / "tests" / "lint" / "layers", tmp_path], capture_output=True).returncode == 1
