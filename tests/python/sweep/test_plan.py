# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans are checked with line and key, and expand to exactly the cells they state."""

import os
import re

import pytest
import tomllib
from conftest import TOP
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.published import tables as published
from raidtrace.quantity import units
from raidtrace.quantity.shown import UserError
from raidtrace.sweep import plan, steps

GOOD = """title = "x"
trials = 2

[workload.seq]
kind = "bonnie++"
chunk_kib = 64

[[matrix]]
array = "one"
filesystem = ["xfs", "ext2"]
readahead_kib = [128, 8192]
workload = "seq"
data_size = "1 GiB"
"""


def parse(text):
    return plan.parse(text, "p", "p.toml")


def steps_of(text, disks=("sda",), lab=False):
    """The steps of the first cell of a plan."""
    the_plan = parse(text)
    return steps.steps(the_plan.cells[0], the_plan, steps.Place(tuple(disks), "/mnt", 1 << 30, lab=lab))


def test_a_matrix_is_the_product_of_its_axes_times_trials():
    the_plan = parse(GOOD)
    assert len(the_plan.cells) == 2 * 2 * 2
    assert [(c.text("filesystem"), c.number("readahead_sectors"), c.trial) for c in the_plan.cells[:3]] == [
        ("xfs", 256, 1), ("xfs", 256, 2), ("xfs", 16384, 1),
    ]  # fmt: skip
    assert the_plan.varying() == ["filesystem", "readahead_sectors"]
    assert the_plan.workload("seq") == ("bonnie++", {"chunk_kib": 64})


def test_random_order_is_fixed_by_its_seed():
    stated = [c.identity() for c in parse(GOOD).cells]
    shuffled = [c.identity() for c in parse('order = "random"\n' + GOOD).cells]
    assert shuffled != stated and sorted(shuffled) == sorted(stated)
    assert shuffled == [c.identity() for c in parse('order = "random"\nseed = 1\n' + GOOD).cells]
    assert shuffled != [c.identity() for c in parse('order = "random"\nseed = 2\n' + GOOD).cells]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("filesystem =", "filesystems =", "p.toml:10: matrix.filesystems: there is no such key; did you mean filesystem?"),
        ('"ext2"]', '"ext5"]', "p.toml:10: matrix.filesystem: 'ext5' is not one of none, ext2"),
        ('"seq"\ndata', '"sequ"\ndata', "p.toml:12: matrix.workload: 'sequ' is not defined; known workloads: bonnie"),
        ("8192]", "8190]", "p.toml:11: matrix.readahead_kib: 8190 is not a multiple of 4"),
        ("8192]", "128]", "p.toml:8: matrix: a cell is twice in this matrix"),
        ('data_size = "1 GiB"\n', "", "p.toml:8: matrix: data_size is missing"),
        ('kind = "bonnie++"', 'kind = "hdparm"', "p.toml:5: workload.seq.kind: 'hdparm' is not one of"),
        ("trials = 2", "trials = 0", "p.toml:2: trials: 0 is less than 1"),
        ("trials = 2", 'trials = "2"', "p.toml:2: trials: '2' is not a whole number"),
        ("title =", "titles =", "p.toml:1: titles: there is no such key; did you mean title?"),
        ("trials = 2", "trials = 1001", "p.toml:2: trials: 1001 is more than 1000"),
        ("trials = 2", 'lab.set = ["x"]', "p.toml:2: lab.set: 'x' does not match"),
        ("trials = 2", "lab.wall_s_per_gib = 0", "p.toml:2: lab.wall_s_per_gib: 0 is not more than 0"),
        ("trials = 2", 'lab.wall_s_per_gib = "x"', "p.toml:2: lab.wall_s_per_gib: 'x' is not a number"),
        ("trials = 2", "lab = 1", "p.toml:2: lab: 1 is not a table"),
        ("trials = 2", "lab.set = 1", "p.toml:2: lab.set: 1 is not a list"),
        ("chunk_kib = 64", "chunk_kib = 0.5", "p.toml:6: workload.seq.chunk_kib: 0.5 is not a text or a whole number or true"),
        ('"one"', "[]", "p.toml:9: matrix.array: 0 values are less than 1"),
        ('"one"', '""', "p.toml:9: matrix.array: it is empty"),
        ('"one"', '"one"\ntrials = [1, 2]', "p.toml:10: matrix.trials: 2 values are more than 1"),
        ("[workload.seq]", "[workload.seq", "p.toml: not TOML: .*line 4"),
        ('data_size = "1 GiB"', 'data_size = "1 GiB"\nmd_chunk_kib = 64', "p.toml:14: matrix.md_chunk_kib: it needs md_level"),
        ('data_size = "1 GiB"', 'data_size = "1 GiB"\nmd_level = "raid0"', "p.toml:14: matrix.md_level: md_members is missing"),
        ('data_size = "1 GiB"', 'data_size = "1 GiB"\nmd_level = "raid5"\nmd_members = 2\nmd_chunk_kib = 64',
         "p.toml:15: matrix.md_members: raid5 needs at least 3, not 2"),
        ('data_size = "1 GiB"', 'data_size = "1 GiB"\nmd_level = "raid5"\nmd_members = 3\nmd_chunk_kib = 12',
         "p.toml:16: matrix.md_chunk_kib: raid5 needs"),
        ('data_size = "1 GiB"', 'data_size = "1 GiB"\nmd_level = "raid1"\nmd_members = 2\nmd_chunk_kib = 64',
         "p.toml:14: matrix.md_level: raid1 has no chunks"),
        ('data_size = "1 GiB"', 'data_size = "1 GiB"\nreadahead_sectors = 256',
         "p.toml:11: matrix.readahead_kib: readahead_sectors is given, too"),
        ('["xfs", "ext2"]', '"none"\nmount_options = "noatime"', "p.toml:11: matrix.mount_options: there is no file system"),
        ('["xfs", "ext2"]', '"jfs"\nfs_block_kib = 1', "p.toml:11: matrix.fs_block_kib: jfs has blocks of 4 KiB, not 1"),
    ],
)  # fmt: skip
def test_every_error_names_line_and_key(old, new, message):
    assert GOOD.count(old) == 1
    with pytest.raises(UserError, match=message.replace("[", r"\[").replace("?", r"\?").replace("(", r"\(")):
        parse(GOOD.replace(old, new))


ELSEWHERE = ["-Jdevice=sda", "-rrtdev=sda", "--device=sda", "--uuid=1",
             "-l logdev=/dev/sda", "-J device=LABEL=x", "/dev/sda", "-d name=sda", "-l logdev=sda,size=4096b", "-j ../sda",
             "noatime,logdev=/dev/sda", "journal_path=sda", "journal_dev=2064", "-J device:UUID=1", "helper=x", "bind",
             "LABEL=a", "a'", "$(x)", "`x`", "x;y"]  # fmt: skip


@pytest.mark.parametrize("key", ["mkfs_options", "mount_options"])
@pytest.mark.parametrize("options", ELSEWHERE)
def test_no_option_of_a_plan_names_another_disk(key, options):
    text = GOOD.replace('workload = "seq"', f'workload = "seq"\n{key} = "{options}"')
    message = rf"p.toml:\d+: matrix.{key}: .*({re.escape(options.split()[-1])}|cannot be divided into words)"
    with pytest.raises(UserError, match=message):
        plan.parse(text, "p", "p.toml")


def test_options_that_name_nothing_are_taken():
    taken = (
        "-O ^has_journal -m 0",
        "-i size=512 -m crc=1,finobt=0",
        "--unsupported",
        "noatime,data=writeback,logbufs=8",
    )
    for options in taken:
        assert parse(GOOD.replace('workload = "seq"', f'workload = "seq"\nmkfs_options = "{options}"'))


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 3000 + "]" * 3000,
        "x = " + "[" * 400 + "]" * 400,
        "a." * 3000 + "b = 1",
        pytest.param(f"[[{'a.' * 5000}b]]", id="a table"),
        pytest.param("x = " + "9" * 5000, id="digits"),
        'title = "x"\n[[matrix]]\narray = ' + "[" * 300 + "]" * 300,
        'title = "x"\nlab = ' + "{a = " * 300 + "1" + "}" * 300,
    ],
)
def test_a_plan_without_end_is_an_error_of_one_line(text):
    with pytest.raises(UserError) as caught:
        plan.parse(text, "p", "p.toml")
    assert str(caught.value).startswith("p.toml") and len(str(caught.value)) < 500


def test_plans_that_come_with_raidtrace_are_good_and_every_step_can_be_made():
    rows = re.findall(
        r"^([a-z]+) +(\d+) +\S", (TOP / "Documentation/sweep.rst").read_text(encoding="utf-8"), re.MULTILINE
    )
    for name in plan.ready():
        the_plan = plan.load(plan.find(name))
        for cell in the_plan.cells:
            done = steps.steps(cell, the_plan, steps.Place(tuple("abcd"), "/mnt", 512 << 20, lab=True))
            assert sum(step.measured for step in done) == 1, cell
        row = (name, str(len(the_plan.cells)))
        assert row in rows, f"Documentation/sweep.rst has no row of {name} with {len(the_plan.cells)} cells"
    with pytest.raises(UserError, match="did you mean howto"):
        plan.find("howtoo")


@pytest.mark.parametrize(
    ("name", "rates"),
    [("howto", 34), ("caltech", 2 * 6 * 2 + 2 + 2), ("amcc", 4 + 2 * 6 * 4 + 2 * 6 * 4), ("coraid", 42)],
)
def test_every_published_rate_has_a_cell(name, rates):
    """Not one row of the published tables is without its counterpart in the plan, but for those the plan says it leaves out."""
    the_plan = plan.load(plan.find(name))
    phases = ("read", "write", "rewrite", "reread", "seeks")
    matched = set()
    for cell in the_plan.cells:
        axes = dict(cell.axes)
        kind, parameters = the_plan.workload(cell.text("workload"))
        for phase in [parameters.get("direction", "read")] if kind == "dd" else phases:
            if published.find(name, axes, kind, phase):
                matched.add((cell.identity(), phase))
    assert len(matched) == rates


def test_published_units():
    cell = {"array": "9500s-12-raid0", "filesystem": "none", "readahead_sectors": 256}
    published_range = published.find("amcc", cell, "dd", "read")
    assert (published_range.low, published_range.high) == (pytest.approx(112.114 * 1024), pytest.approx(116.472 * 1024))
    published_range = published.find("caltech", {"md_chunk_kib": 512, "filesystem": "xfs"}, "bonnie++", "read")
    assert (published_range.low, published_range.middle, published_range.high) == (224000, 239500, 255000)
    assert published_range.values == (224000, 255000)  # no trial is in the middle
    published_range = published.find(
        "howto", {"md_level": "raid0", "md_chunk_kib": 16, "fs_block_kib": 2, "queue_depth": 1}, "", "read"
    )
    assert published_range.middle == 28161
    assert published.find("amcc", cell, "dd", "rewrite") is None and published.find("", cell, "dd", "read") is None


def test_steps_say_what_they_destroy():
    text = GOOD.replace('array = "one"', 'array = "one"\nmd_level = "raid5"\nmd_members = 3\nmd_chunk_kib = 64')
    done = steps_of(text, ("sda", "sdb", "sdc"))
    assert steps.destroyed(done) == ["sda", "sdb", "sdc"]
    assert [s.argv[0] for s in done if s.argv][:4] == ["modprobe", "mdadm", "mkfs.xfs", "mount"]
    assert "--assume-clean" in done[1].argv and done[1].undo[-1] == "/dev/md127"
    (measured,) = [s for s in done if s.measured]
    counted = [measured.argv[at + 1] for at, word in enumerate(measured.argv) if word == "-d"]
    assert counted[:4] == ["md127", "sda", "sdb", "sdc"]
    with pytest.raises(UserError, match="3 disks are needed, but only 2 are named"):
        steps_of(text, ("sda", "sdb"))


@pytest.mark.parametrize("disk", ["nvme0n1", "vda"])
def test_a_disk_without_a_queue_depth_is_refused_by_name(disk):
    with pytest.raises(UserError, match=f"{disk} has no queue_depth, .*set nr_requests instead"):
        steps_of(GOOD.replace('array = "one"', 'array = "one"\nqueue_depth = 1'), (disk,))


def test_a_cell_begins_fresh_synced_uncached_and_cooled_down_in_this_order():
    settings = 'scheduler = "none"\nnomerges = 2\nmax_sectors_kib = 64\nqueue_depth = 1\ndirty_bytes = 65536'
    text = "cool_down_s = 90\n" + GOOD.replace('array = "one"', f'array = "one"\n{settings}')
    done = [step.text() for step in steps_of(text)]
    assert done[:6] == [
        "echo none >/sys/block/sda/queue/scheduler",
        "echo 64 >/sys/block/sda/queue/max_sectors_kb",
        "echo 2 >/sys/block/sda/queue/nomerges",
        "echo 1 >/sys/block/sda/device/queue_depth",
        "echo 128 >/sys/block/sda/queue/read_ahead_kb",
        "echo 65536 >/proc/sys/vm/dirty_bytes",
    ]
    assert [text.split()[0] for text in done[6:8]] == ["mkfs.xfs", "mount"]
    assert done[8:11] == ["sync", "echo 3 >/proc/sys/vm/drop_caches", "sleep 90"]
    assert done[11].startswith("raidctl record ") and done[12:] == ["umount /mnt"]


@pytest.mark.parametrize("kind", ["ext2", "ext3", "ext4"])
def test_only_a_disk_of_the_lab_is_taken_for_zeroed(kind):
    for lab in (True, False):
        done = steps_of(GOOD.replace('["xfs", "ext2"]', f'"{kind}"'), "abcdef", lab)
        (mkfs,) = [step.text() for step in done if "mkfs" in step.text()]
        assert ("assume_storage_prezeroed=1" in mkfs) is lab and ("lazy_itable_init=0" in mkfs) is not lab


def test_reading_a_raw_disk_destroys_nothing_and_writing_does():
    text = GOOD.replace('["xfs", "ext2"]', '"none"').replace('"bonnie++"\nchunk_kib = 64', '"dd"')
    assert steps.destroyed(steps_of(text, lab=True)) == []
    assert steps.destroyed(steps_of(text.replace('"dd"', '"dd"\ndirection = "write"'), lab=True)) == ["sda"]


def test_sizes():
    assert units.parse_size("20480 MiB") == 20 << 30 and units.parse_size("20 GB") == 20 * 10**9
    assert units.parse_size("1.5k") == 1536
    assert units.parse_size("40 x RAM", 512 << 20) == 20 << 30
    for text in ("", "x RAM", "0", "-1 G", "1 XB", "1 G G", "40 x RAM"):
        with pytest.raises(UserError):
            units.parse_size(text)
    assert units.exact_size(3 << 29) == "1536 MiB" and units.exact_size(1000) == "1000 bytes"


@given(st.integers(1, 1 << 60))
def test_sizes_read_back(value):
    assert units.parse_size(units.exact_size(value).replace(" bytes", "")) == pytest.approx(value, rel=1e-15)


AXES = st.fixed_dictionaries(
    {"filesystem": st.lists(st.sampled_from(["ext2", "ext3", "xfs"]), min_size=1, max_size=3, unique=True)},
    optional={
        "readahead_sectors": st.lists(st.integers(0, 100).map(lambda n: 8 * n), min_size=1, max_size=4, unique=True),
        "nr_requests": st.lists(st.integers(4, 9), min_size=1, max_size=3, unique=True),
        "data_size": st.just(["1 GiB"]),
    },
)


@pytest.mark.slow
@given(st.lists(AXES, min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 99))
def test_any_plan_expands_to_the_sum_of_its_products(matrices, trials, seed):
    """Each matrix has an array of its own, so no cell is twice; order changes the order alone."""
    text = f'title = "x"\ntrials = {trials}\nseed = {seed}\n'
    expected = 0
    for number, axes in enumerate(matrices):
        axes = {"array": f"a{number}", "workload": "ddt", "data_size": "1 MiB"} | axes
        text += "[[matrix]]\n" + "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in axes.items())
        count = trials
        for value in axes.values():
            count *= len(value) if isinstance(value, list) else 1
        expected += count
    stated, shuffled = parse(text), parse('order = "random"\n' + text)
    assert len(stated.cells) == expected == len({c.identity() for c in stated.cells})
    assert sorted(c.identity() for c in shuffled.cells) == sorted(c.identity() for c in stated.cells)


KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
VALUES = st.sampled_from(
    ["1", '"a # [b"', "[1, 2]", "[\n  1,  # one ]\n  2,\n]", '"""x = 1\n[y]\n"""', "{ a = 1 }", "'[['"]
)


@given(
    st.lists(st.tuples(KEYS, VALUES), unique_by=lambda pair: pair[0], max_size=6),
    st.lists(KEYS, max_size=3, unique=True),
)
def test_lines_of_any_toml(pairs, tables):
    text, expected = "", {}
    for prefix in [None, *tables]:
        text += f"\n# comment [x]\n[[t.{prefix}]]\n" if prefix else ""
        for key, value in pairs:
            path = (key,) if prefix is None else ("t", prefix, 0, key)
            if prefix is None and key == "t":
                continue
            expected[path] = text.count("\n") + 1
            text += f"{key} = {value}\n"
    tomllib.loads(text)
    lines = plan.lines_of_keys(text)
    assert {path: lines[path] for path in expected} == expected


@pytest.mark.parametrize("name", ["/dev/null", "pipe", "."])
def test_what_is_no_file_is_no_plan(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="not a regular file"):
        plan.load(tmp_path / name)


ODD_VALUES = (True, 0, 3, -1, 0.5, 10**30, "", "x", [], {}, ["x", 1])


@pytest.mark.parametrize("axis", plan.AXES)
def test_each_axis_takes_its_own_values_alone(axis):
    """A value that no rule of an axis allows is refused by name of the axis; a fraction is allowed nowhere."""
    document = tomllib.loads(GOOD)
    taken = []
    for value in ODD_VALUES:
        document["matrix"] = [
            {"array": ["one"], "workload": ["x"], "filesystem": ["xfs"], "data_size": ["1 GiB"], axis: [value]}
        ]
        error = plan.first_error(document)
        taken += [] if error else [value]
        assert error is None or (error.path == ("matrix", 0, axis, 0) and error.text)
    assert 0.5 not in taken and len(taken) < 5
