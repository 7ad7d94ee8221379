# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of Documentation/sweep.rst hold what the CSV files beside it hold."""

import csv
import re

import pytest
from conftest import TOP

from raidtrace.sweep import plan

SWEEPS = TOP / "Documentation/sweeps"
TEXT = (TOP / "Documentation/sweep.rst").read_text(encoding="utf-8")


def rows(name):
    """Lines of a plan's CSV."""
    with (SWEEPS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(title):
    """Cells of the first table of a section, without its head."""
    lines = TEXT[TEXT.index(f"{title}\n----") :].splitlines()
    rules = [at for at, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line)]
    starts = [found.start() for found in re.finditer("=+", lines[rules[0]])] + [None]
    body = lines[rules[1] + 1 : rules[2]]
    return [[line[a:b].strip() for a, b in zip(starts, starts[1:])] for line in body]


def middle(found, column, **axes):
    """A figure of the one line that has these axes, / 1000; "-" where there is none."""
    lines = [row for row in found if all(row[key] == value for key, value in axes.items())]
    assert len(lines) <= 1, axes
    return f"{float(lines[0][column]) / 1000:.1f}" if lines and lines[0][column] else "-"


@pytest.mark.parametrize("path", sorted(SWEEPS.glob("*.csv")), ids=lambda path: path.stem)
def test_a_committed_table_has_every_cell_of_its_plan(path):
    name = path.stem.removesuffix("-stack")
    found = plan.load(plan.find(name))
    if path.stem == name:
        axes = {key for cell in found.cells for key, _ in cell.axes}
        there = {tuple(row[key] for key in sorted(axes)) for row in rows(name)}
        wanted = {
            tuple("" if cell.get(key) is None else str(cell.get(key)) for key in sorted(axes)) for cell in found.cells
        }
        assert there == wanted
        assert {row["simulated"] for row in rows(name)} == {"yes"}
    else:
        names = {row["cell"] for row in rows(path.stem)}
        # one trial of each is enough where all are alike
        assert len(names) == sum(cell.text("md_level", "none") != "none" and cell.trial == 1 for cell in found.cells)


def test_the_table_of_the_howto():
    found = rows("howto")
    lines = table("Software-RAID HOWTO: chunk and block size of ext2")
    assert len(lines) == 8
    for level, depth, chunk, *shown in lines:
        for at, (phase, column) in enumerate(
            (phase, column) for phase in ("read", "write") for column in ("published_middle", "median")
        ):
            axes = {"md_level": level, "queue_depth": depth, "md_chunk_kib": chunk.removesuffix(" KiB"), "phase": phase}
            values = [middle(found, column, fs_block_kib=block, **axes) for block in ("1", "2", "4")]
            assert shown[at] == " / ".join(values), (level, chunk, phase, column)


def test_the_table_of_caltech():
    found = [row for row in rows("caltech") if row["filesystem"] == "xfs"]
    lines = table("Caltech: chunk of md RAID 0 over two controllers")
    assert [line[0] for line in lines] == ["4 KiB", "64 KiB", "128 KiB", "256 KiB", "512 KiB", "1024 KiB"]
    for chunk, read, untuned, tuned, unmerged, write, written, written_unmerged in lines:
        one = {"md_chunk_kib": chunk.removesuffix(" KiB")}
        for shown, phase, setra, nomerges in (
            (untuned, "read", "256", ""),
            (tuned, "read", "2048", ""),
            (unmerged, "read", "2048", "2"),
            (written, "write", "2048", ""),
            (written_unmerged, "write", "2048", "2"),
        ):
            axes = {**one, "phase": phase, "readahead_sectors": setra, "nomerges": nomerges}
            assert shown == middle(found, "median", **axes), axes
        for shown, phase in ((read, "read"), (write, "write")):
            axes = {**one, "phase": phase, "readahead_sectors": "256", "nomerges": ""}
            ends = [middle(found, f"published_{end}", **axes).removesuffix(".0") for end in ("low", "high")]
            assert shown == "-".join(ends), axes


def test_the_table_of_coraid():
    found = rows("coraid")
    lines = table("Coraid: ddt on XFS")
    assert len(lines) == 7
    for array, level, disks, *shown in lines:
        md = level != "none"
        axes = {"array": array, "md_level": level if md else "", "md_members": disks if md else ""}
        values = [middle(found, column, phase=phase, **axes) for phase in ("read", "write")
                  for column in ("published_middle", "median")]  # fmt: skip
        assert shown == values, (array, level)


def test_the_figures_of_bnl():
    text = (SWEEPS.parent / "sweep.rst").read_text(encoding="utf-8")
    text = " ".join(text[text.index("BNL: what the surface") : text.index("Caltech: chunk")].split())

    def value(filesystem, setra, phase, where=""):
        return next(
            f"{float(row['median']):,.0f}"
            for row in rows("bnl")
            if (row["filesystem"], row["readahead_sectors"], row["phase"], row["file_and_record"])
            == (filesystem, setra, phase, where)
        )

    for filesystem in ("ext3", "xfs"):
        assert value(filesystem, "256", "read", "file_kib=65536 record_kib=256") in text
        for setra in ("256", "16384"):
            assert value(filesystem, setra, "fread") in text and value(filesystem, setra, "fwrite") in text


def test_the_figures_of_amcc():
    """The plan beside make reproduce, whose figures are committed too."""
    text = " ".join(TEXT[TEXT.index("AMCC: the 28 tests") : TEXT.index("BNL: what the surface")].split())
    scale = {"MiB/s": 1024, "KiB/s": 1, "1/s": 1}
    with (SWEEPS.parent / "reproduction.csv").open(encoding="utf-8", newline="") as file:
        paper = {
            (row["array"], row["filesystem"], row["setra_sectors"], row["tool"].split()[-1], row["metric"]): float(
                row["simulated"]
            )
            * scale[row["unit"]]
            for row in csv.DictReader(file)
        }
    ratios = {}
    for row in rows("amcc"):
        array = row["array"].removeprefix("9500s-12-")
        filesystem = row["filesystem"].replace("none", "")
        key = (array, filesystem, row["readahead_sectors"], row["benchmark"], row["phase"])
        ratios[key] = (float(row["median"]), paper[key])
        assert row["label"] == ("fio as iozone" if row["benchmark"] == "iozone" else "")
    assert len(ratios) == 100
    change = {key: 100 * (new / old - 1) for key, (new, old) in ratios.items()}
    for key, percent in change.items():
        if key[1] in ("", "xfs") or key[4] == "write":
            assert abs(percent) < 5 or (key[4] == "seeks" and -26.5 < percent < -23.5), key
    old_ext = {key: percent for key, percent in change.items() if key[1] in ("ext2", "ext3")}
    for phases, low, high in ((("read", "reread"), 4, 44), (("rewrite",), -6, 16), (("seeks",), 136, 336)):
        found = [percent for key, percent in old_ext.items() if key[4] in phases]
        assert (round(min(found)), round(max(found))) == (low, high), phases
    new, old = ratios["raid0", "ext2", "16384", "bonnie++", "read"]
    assert f"{new:,.0f} KiB/s instead of {old:,.0f}" in text
    assert f"{ratios['raid0', 'ext2', '16384', 'bonnie++', 'rewrite'][0]:,.0f}" in text
