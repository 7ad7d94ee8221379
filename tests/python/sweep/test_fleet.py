# SPDX-License-Identifier: GPL-2.0-or-later
"""Many sweeps and hosts as one: merge, Parquet, and the Ansible example with a raidctl that only pretends."""

import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
import test_sweep
from conftest import TOP
from made_sweep import create
from test_sweep import PLAN, rate

from raidtrace.quantity.shown import UserError
from raidtrace.sweep import index as sweep_index

index = test_sweep.index  # the fixture
PLAYBOOK = TOP / "Documentation/examples/sweep.yml"


def test_merge_keeps_hosts_apart_and_merging_again_replaces(index, tmp_path):
    index.end(1, rate(100.0))
    other = tmp_path / "other"
    create(other, PLAN, hostname="elsewhere").end(1, rate(200.0))
    into = tmp_path / "all.sqlite"
    assert sweep_index.merge(into, [tmp_path, other]) == 2 and sweep_index.merge(into, [other]) == 2
    query = "SELECT hostname, value FROM figure JOIN sweep USING(sweep) ORDER BY value"
    rows = sqlite3.connect(into).execute(query).fetchall()
    assert [value for _, value in rows] == [100.0, 200.0] and rows[1][0] == "elsewhere"
    with pytest.raises(UserError, match="not made by"):
        sweep_index.merge(tmp_path / sweep_index.NAME, [other])


def test_hosts_of_one_name_that_began_in_the_same_second_are_two(index, tmp_path):
    index.end(1, rate(100.0))
    other = tmp_path / "other"
    create(other, PLAN, started_utc=index.meta()["started_utc"]).end(1, rate(200.0))
    assert sweep_index.merge(tmp_path / "all.sqlite", [tmp_path, other]) == 2
    assert sweep_index.merge(tmp_path / "all.sqlite", [other, tmp_path]) == 2


def test_a_merged_file_of_an_earlier_raidctl_gets_the_new_columns(index, tmp_path):
    into = tmp_path / "all.sqlite"
    sweep_index.merge(into, [tmp_path])
    with sqlite3.connect(into) as db:
        db.execute("ALTER TABLE queue DROP COLUMN held_share")
    index.end(
        1, rate(100.0, (("sda", "run", "read", 1, 5, None, 0, 5, 9, 9, 4, 1.9, 256, None, None, 0.5, 0.25, 0.0),))
    )
    assert sweep_index.merge(into, [tmp_path]) == 1
    assert sqlite3.connect(into).execute("SELECT held_share FROM queue").fetchall() == [(0.25,)]


def test_a_merged_file_of_another_version_is_refused(index, tmp_path):
    into = tmp_path / "all.sqlite"
    sweep_index.merge(into, [tmp_path])
    sqlite3.connect(into, isolation_level=None).execute("PRAGMA user_version=1")
    with pytest.raises(UserError, match="of version 1, but this raidctl writes version 2; merge into a new file"):
        sweep_index.merge(into, [tmp_path])


def test_parquet_without_pyarrow_says_so(index, tmp_path, monkeypatch):
    sweep_index.merge(tmp_path / "all.sqlite", [tmp_path])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match="pyarrow"):  # the front door says what to install
        sweep_index.parquet(tmp_path / "all.sqlite", tmp_path / "parquet")


def merged(index, tmp_path):
    """The tables of three cells, one of them failed, as Parquet: name -> path."""
    index.end(
        1,
        rate(
            100.0, (("sda", "run", "read", 1.5, 5, None, 0, 5, 1 << 40, 999, 4, 1.9, 256, None, None, 0.5, None, None),)
        ),
    )
    index.end(2, rate(200.0))
    index.end(4, sweep_index.Outcome("broken"))
    sweep_index.merge(tmp_path / "all.sqlite", [tmp_path])
    return {path.stem: path for path in sweep_index.parquet(tmp_path / "all.sqlite", tmp_path / "parquet")}


def test_parquet_holds_what_the_merged_file_holds(index, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: Debian has no package of it, pip has")
    import pyarrow
    import pyarrow.parquet

    files = merged(index, tmp_path)
    assert set(files) == {"sweep", *sweep_index.TABLES}
    db = sqlite3.connect(tmp_path / "all.sqlite")
    for table, path in files.items():
        result = pyarrow.parquet.read_table(path)
        rows = [tuple(row.values()) for row in result.to_pylist()]
        assert result.column_names == [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        if table in ("axis", "parameter"):  # their values are of several kinds
            rows = [row for row in rows if isinstance(row[-1], str) or row[-1] is None]
            assert rows == [(*row[:-1], str(row[-1])) for row in db.execute(f"SELECT * FROM {table}")]
        else:
            assert rows == db.execute(f"SELECT * FROM {table}").fetchall()
    schema = pyarrow.parquet.read_table(files["queue"]).schema
    assert schema.field("bytes_queued").type == pyarrow.int64() and schema.field("seconds").type == pyarrow.float64()
    assert schema.field("disk").type == pyarrow.string()


def test_the_documented_query_runs(index, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: Debian has no package of it, pip has")
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: Debian has no package of it, pip has")
    text = (TOP / "Documentation/sweep.rst").read_text(encoding="utf-8")
    query = next(line for line in text.splitlines() if "figure.parquet" in line)
    monkeypatch.chdir(merged(index, tmp_path)["sweep"].parent)
    ((_, phase, median),) = duckdb.sql(query).fetchall()
    assert (phase, median) == ("read", 150.0)


PRETENDER = f"""#!{sys.executable}
import os, pathlib, sys
sys.path[:0] = [{str(TOP / 'tools/python')!r}, {str(TOP / 'tests/python')!r}, {str(TOP / 'tests/python/sweep')!r}]
with open({{log!r}}, "a") as log:
    print(*sys.argv[1:], file=log)
if sys.argv[2] == "merge":
    os.execv({str(TOP / 'tools/bin/raidctl-sweep')!r}, ["raidctl-sweep", *sys.argv[2:]])
if "--dry-run" not in sys.argv:
    from made_sweep import create
    from test_sweep import PLAN, rate
    path = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
    if not path.exists():
        create(path, PLAN).end(1, rate(100.0))
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not shutil.which("ansible-playbook"), reason="ansible-playbook is not installed")
def test_the_playbook_runs_a_plan_and_merges_what_comes_back(tmp_path):
    shutil.copy(PLAYBOOK, tmp_path / "sweep.yml")
    (tmp_path / "results").mkdir()
    program = tmp_path / "raidctl"
    program.write_text(PRETENDER.format(log=str(tmp_path / "log")))
    program.chmod(0o755)
    (tmp_path / "hosts").write_text("store1 ansible_connection=local sweep_disks=sdy,sdz\n")
    command = ["ansible-playbook", "-i", "hosts", "sweep.yml", "-e", "plan=howto", "-e", f"out={tmp_path}/store1"]
    for setting in ("ansible_become=false", "poll_s=1", f"ansible_async_dir={tmp_path}",
                    f"ansible_python_interpreter={sys.executable}"):  # fmt: skip
        command += ["-e", setting]
    environment = dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    out = f"--out {tmp_path}/store1"
    for text in (
        f"sweep --destroy-data sdy,sdz {out} howto",
        f"sweep --destroy-data sdy,sdz {out} --resume --retry-failed",
    ):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = (tmp_path / "log").read_text().splitlines()[-3:]
        assert lines[0] == f"sweep --dry-run --destroy-data sdy,sdz {out} howto"
        assert lines[1] == text and lines[2].startswith("sweep merge results/all.sqlite results/store1.rtsw")
    assert sqlite3.connect(tmp_path / "results/all.sqlite").execute("SELECT value FROM figure").fetchall() == [(100.0,)]
    (tmp_path / "hosts").write_text("store1 ansible_connection=local\n")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "sweep_disks is defined" in done.stdout
