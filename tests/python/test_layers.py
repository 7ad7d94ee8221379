# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/lint/layers finds what it is there to find."""

import subprocess
import types

import pytest
from conftest import TOP, script

PROGRAM = TOP / "tests" / "lint" / "layers"

GOOD = {
    "kmod/histogram.h": "",
    "kmod/account.h": '#include "histogram.h"\n#include <linux/types.h>\n',
    "kmod/account.c": '#include "account.h"\n',
    "kmod/probe.h": '#include "account.h"\n',
    "tools/libraidtrace/raidtrace.h": "",
    "tools/raidctl/store/open.c": '#include "store/store.h"\n#include "raidtrace.h"\n',
    "tools/raidctl/store/store.h": "",
    "tools/raidctl/cmd/show.c": '#include "store/store.h"\n',
    "tools/raidctl/raidctl.c": '#include "store/store.h"\n',
    "tools/raidctl/record/recorder.h": "",
    "tools/models/base/types.h": "#include <stdint.h>\n",
    "tools/models/media/store.c": '#include "base/types.h"\n',
    "tools/models/3w-9xxx/controller/model.c": '#include "base/types.h"\n',
    "tools/models/host/kinds/kinds.c": '#include "base/types.h"\n',
    "tools/models/host/uml/uml.c": '#include "base/types.h"\n#include <linux/module.h>\n',
    "tools/models/Kbuild": "$(wildcard $(src)/base/*.c $(src)/media/*.c $(src)/3w-9xxx/*/*.c "
    "$(src)/ahci/*.c $(src)/nvme/*.c $(src)/virtio-blk/*.c $(src)/host/kinds/*.c)\n",
    "tools/lab/guest/init.h": "",
    "tools/lab/guest/init.c": '#include "init.h"\n',
    "tools/lab/raidctl-lab": "from raidlab.vm.controller import main\n",
    "tools/lab/raidlab/__init__.py": "",
    "tools/lab/raidlab/base/__init__.py": "",
    "tools/lab/raidlab/base/cache.py": "import profile\n"
    'MODEL_PARTS = ("base", "media", "3w-9xxx", "ahci", "nvme", "virtio-blk", "host/kinds")\n',
    "tools/lab/raidlab/vm/__init__.py": "",
    "tools/lab/raidlab/vm/controller.py": "from raidlab.base import cache\n",
    "tests/model/Makefile": "$(wildcard base/*.c media/*.c 3w-9xxx/*/*.c ahci/*.c nvme/*.c virtio-blk/*.c host/kinds/*.c)\n",
    "tools/python/raidtrace/__init__.py": "",
    "tools/python/raidtrace/client/__init__.py": "from raidtrace.quantity import bins\n",
    "tools/python/raidtrace/quantity/bins.py": "",
    "tools/python/raidtrace/recording/__init__.py": "",
    "tools/python/raidtrace/recording/database.py": "import sqlite3\n",
    "tools/python/raidtrace/demo/__init__.py": "",
    "tools/python/raidtrace/demo/demo.py": "from raidtrace.recording import database\n",
    "tools/python/raidctl-demo": "#!/usr/bin/python3\nfrom raidtrace.demo import demo\n",
    "tools/paper-2004/paper2004/__init__.py": "",
    "tools/paper-2004/paper2004/fit.py": "from raidtrace.demo.demo import run\nfrom . import plan\n",
    "tools/paper-2004/paper2004/plan.py": "",
    "tools/paper-2004/fit": "#!/usr/bin/python3\nfrom paper2004 import fit\n",
}


READER = "tools/python/raidtrace/recording/database.py"


@pytest.fixture(scope="module")
def layers():
    return script(PROGRAM)


@pytest.fixture
def check(tmp_path, layers, capsys):
    def run(**changes):
        for name, content in (GOOD | {k.replace("__", "/"): v for k, v in changes.items()}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return types.SimpleNamespace(returncode=layers.main(tmp_path), stdout=capsys.readouterr().out)

    return run


def test_a_clean_tree_passes(check):
    done = check()
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("kmod/account.c", '#include "probe.h"\n', "stands above it"),
        ("kmod/histogram.h", '#include "account.h"\n', "stands above it"),
        ("kmod/surprise.c", "", "on no rung"),
        ("kmod/histogram.h", "#include <linux/slab.h>\n", "without kernel services"),
        ("tools/libraidtrace/raidtrace.h", '#include "../raidctl/store/store.h"\n', "stands above it"),
        ("tools/raidctl/store/store.h", '#include "cmd/show.c"\n', "stands above it"),
        ("tools/raidctl/format/csv.c", '#include "record/recorder.h"\n', "stands above it"),
        ("tools/raidctl/store/open.c", '#include "store.h"\n', "say its room"),
        ("tools/raidctl/store/open.c", '#include "../store/store.h"\n', "say its room"),
        ("tools/raidctl/surprise.c", "", "on no rung"),
        ("tools/raidctl/surprise/open.c", "", "on no rung"),
        ("tools/surprise/open.c", "", "on no rung"),
        ("tools/workload/ddt.c", '#include "raidtrace.h"\n', "stands above it"),
        ("tools/models/base/types.h", '#include "media/store.c"\n', "stands above it"),
        ("tools/models/media/store.c", '#include "3w-9xxx/controller/model.c"\n', "stands above it"),
        ("tools/models/3w-9xxx/controller/model.c", "#include <stdio.h>\n", "without kernel services"),
        ("tools/models/surprise.c", "", "on no rung"),
        ("tools/models/media/deep/surprise.c", "", "nothing would build it"),
        ("tools/models/host/surprise.c", "", "on no rung"),
        ("tools/models/host/uml/model.c", "/* tw_ */", "has the name of a part"),
        ("tools/models/Kbuild", "raidlab-y := base/types.o\n", "does not build every part"),
        ("tools/lab/raidlab/base/cache.py", "import profile\n", "does not build every part"),
        ("tests/model/Makefile", "", "does not build every part"),
        ("tools/lab/raidlab/base/cache.py", "from raidlab.vm import controller\n", "stands above it"),
        ("tools/lab/raidlab/base/cache.py", "from raidlab.vm.controller import main\n", "stands above it"),
        ("tools/lab/raidlab/base/cache.py", "import raidlab.vm.controller\n", "stands above it"),
        ("tools/lab/raidlab/base/cache.py", "from ..vm import controller\n", "stands above it"),
        ("tools/lab/raidlab/base/cache.py", "from raidlab.base import gone\n", "does not belong"),
        ("tools/lab/raidlab/surprise.py", "", "on no rung"),
        ("tools/lab/surprise/surprise.py", "", "on no rung"),
        ("tools/lab/surprise.c", "", "on no rung"),
        (READER, "from raidtrace import demo\n", "stands above it"),
        (READER, "from raidtrace.demo import demo\n", "demo/demo.py, which stands above it"),
        (READER, "from raidtrace.demo.demo import run\n", "demo/demo.py, which stands above it"),
        (READER, "import raidtrace.demo.demo\n", "stands above it"),
        (READER, "def late():\n    from ..demo import demo\n", "demo/demo.py, which stands above it"),
        (READER, "from raidtrace import client\n", "client/__init__.py, which stands above it"),
        ("tools/paper-2004/fit", "#!/usr/bin/python3\nimport raidtrace.client\n", "which stands above it"),
        ("tools/python/raidtrace/client/__init__.py", "from raidtrace.recording import database\n", "does not belong"),
        (READER, "from raidtrace.records import x\n", "does not belong"),
        (READER, "from raidtrace.demo import gone\n", "does not belong"),
        (READER, "from paper2004 import plan\n", "paper2004/plan.py, which stands above it"),
        ("tools/python/raidtrace/surprise.py", "", "on no rung"),
        ("tools/python/surprise.py", "", "on no rung"),
        ("tools/python/surprise", "#!/usr/bin/python3\n", "on no rung"),
        ("tools/python/raidctl-demo", "#!/usr/bin/python3\nfrom paper2004 import fit\n", "stands above it"),
        ("tools/paper-2004/paper2004/plan.py", "from . import fit\n", "circle"),
    ],
)
def test_each_wrong_dependency_is_detected(check, name, content, message):
    done = check(**{name: content})
    assert done.returncode == 1
    assert message in done.stdout, done.stdout


@pytest.mark.parametrize(
    "above",
    ["store/db.h", "store/db.c"],  # what a .c includes counts for its .h too
)
def test_a_circle_on_one_rung_is_detected(check, above):
    done = check(
        **{
            f"tools/raidctl/{above}": '#include "store/store.h"\n',
            "tools/raidctl/store/store.h": '#include "store/db.h"\n',
            **({"tools/raidctl/store/db.h": ""} if above.endswith(".c") else {}),
        }
    )
    assert "circle" in done.stdout and done.returncode == 1, done.stdout


def test_an_empty_tree_does_not_pass(tmp_path):
    assert subprocess.run([PROGRAM, tmp_path], capture_output=True).returncode == 1
