# SPDX-License-Identifier: GPL-2.0-or-later
"""raidtrace.client without a kernel: messages by the specification, readings and their differences."""

import os
import re
import struct
import subprocess
import sys

import pytest
import yaml
from conftest import TOP
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.client import Client, Counters, Refused, exchange
from raidtrace.client.specification import PATH, Specification

SPEC = Specification()
U32, U64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)


def values_of(name):
    """Values for some attributes of a set."""
    kinds = {}
    for one in SPEC.sets[name]:
        if one["type"] == "pad":
            continue
        if one["type"] == "nest":
            value = values_of(one["nested-attributes"])
        elif one.get("enum") in SPEC.flags:
            words = SPEC.flags[one["enum"]]
            value = st.sets(st.sampled_from(words)).map(lambda some, words=words: [w for w in words if w in some])
        elif "enum" in one:
            value = st.sampled_from(SPEC.enums[one["enum"]])
        else:
            text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
            value = {"u32": U32, "u64": U64, "string": text, "flag": st.just(True), "binary": st.lists(U64)}[
                one["type"]
            ]
        kinds[one["name"]] = st.lists(value, min_size=1, max_size=3) if one.get("multi-attr") else value
    return st.fixed_dictionaries({}, optional=kinds)


def packed(name, values):
    """The attributes of a set as the kernel writes them: an encoder of its own."""
    data = b""
    for number, one in enumerate(SPEC.sets[name], 1):
        value = values.get(one["name"], [])
        for each in value if one.get("multi-attr") else [value] if one["name"] in values else []:
            kind = number
            if one["type"] == "nest":
                kind, raw = number | 0x8000, packed(one["nested-attributes"], each)
            elif one.get("enum") in SPEC.flags:
                raw = struct.pack("I", sum(1 << SPEC.flags[one["enum"]].index(word) for word in each))
            elif "enum" in one:
                raw = struct.pack("I", SPEC.enums[one["enum"]].index(each))
            elif one["type"] == "string":
                raw = each.encode() + b"\0"
            elif one["type"] == "binary":
                raw = struct.pack(f"{len(each)}Q", *each)
            else:
                raw = {"u32": struct.Struct("I"), "u64": struct.Struct("Q"), "flag": struct.Struct("")}[one["type"]]
                raw = raw.pack(*([] if one["type"] == "flag" else [each]))
            data += struct.pack("HH", 4 + len(raw), kind) + raw + b"\0" * (-len(raw) % 4)
    return data


@pytest.mark.parametrize("operation", ["info-get", "target-get", "counters-get", "history-get"])
def test_replies_are_decoded(operation):
    name = SPEC.set_of(operation)

    @given(values_of(name))
    def holds(values):
        body = b"\1\1\0\0" + packed(name, values)
        message = SPEC.message(operation)(struct.pack("IHHII", 16 + len(body), 30, 0, 1, 0) + body)
        message.decode()
        assert SPEC.decode(name, message["attrs"]) == values

    holds()


@given(values_of("target"))
def test_requests_are_encoded(values):
    message = SPEC.message("target-add")()
    message["attrs"] = SPEC.encode("target", values)
    message.encode()
    assert bytes(message.data)[20:] == packed("target", values)


def test_unknown_names_are_errors():
    with pytest.raises(ValueError, match="target has no attribute speed"):
        SPEC.encode("target", {"speed": 1})
    with pytest.raises(ValueError, match="groups has no lat, but flow, size"):
        SPEC.encode("target", {"groups": ["flow", "lat"]})


def test_attributes_of_a_newer_module_are_left_out():
    body = b"\1\1\0\0" + packed("info", {"abi": 5}) + struct.pack("HHI", 8, 200, 7)
    message = SPEC.message("info-get")(struct.pack("IHHII", 16 + len(body), 30, 0, 1, 0) + body)
    message.decode()
    assert SPEC.decode("info", message["attrs"]) == {"abi": 5}


def reply(now=100, resets=0, groups=("flow", "size", "latency", "depth", "submitter"), **more):
    """A reading of a disk that had `more` requests of 8 sectors."""
    done = more.get("done", 0)
    row = {"issued": done, "completed": done, "d2c-sum-ns": 20 * done, "carried": 0, "in-flight": done % 3,
           "in-flight-max": 9, "depth-sum-ns": 0}  # fmt: skip
    flow = [{"direction": direction, **row} for direction in ("read", "write", "discard")]
    flow.append({"direction": "all", "in-flight": done % 3, "in-flight-max": 9, "depth-sum-ns": 0})
    histogram = [{"kind": "size", "direction": "read", "first-bin": 8, "counts": [done]}] if done else []
    return Counters({"id": 1, "since-ns": 0, "now-ns": now, "snapshot": now, "resets": resets, "state": "active",
                     "groups": list(groups), "flow": flow, "histogram": histogram + more.get("histogram", []),
                     "submitter": more.get("submitter", []), "streams-alive": done})  # fmt: skip


def test_difference():
    spent = reply(300, done=7) - reply(100, done=2)
    assert spent.span_ns == 200 and spent.groups >= {"flow"}
    assert spent.flow["read"] == {"issued": 5, "completed": 5, "d2c-sum-ns": 100, "in-flight": 1, "depth-sum-ns": 0}
    assert spent.disk["streams-alive"] == 7 and spent.disk["now-ns"] == 300
    assert spent.histogram("read", "size").bins() == [(8, 9, 5)]
    again = (reply(400, done=9) - reply(100, done=2)).histogram("read", "size") - spent.histogram("read", "size")
    assert again.bins() == [(8, 9, 2)]
    assert (reply(300, done=2) - reply(100, done=2)).histogram("read", "size").bins() == []


@pytest.mark.parametrize(("later", "earlier"), [(reply(200, 1), reply()), (reply(), reply(200))])
def test_no_difference_over_a_reset_or_backwards(later, earlier):
    with pytest.raises(ValueError, match="reset"):
        later - earlier  # pylint: disable=pointless-statement


@pytest.mark.parametrize(
    ("direction", "kind", "words"),
    [("read", "seek", "group seek: not counted"), ("all", "d2c", "no histogram d2c of direction all"),
     ("discard", "depth-time", "no histogram"), ("read", "depth-d2c", None), ("all", "depth-time", None),
     ("discard", "depth-d2c", "no histogram"), ("sideways", "size", "no histogram"), ("discard", "d2c", None),
     ("read", "q2c", "no histogram q2c")],  # fmt: skip
)  # this disk has no counter of q2c
def test_histograms_that_do_not_exist(direction, kind, words):
    if words is None:
        assert reply().histogram(direction, kind).bins() == []
    else:
        with pytest.raises(LookupError, match=words):
            reply().histogram(direction, kind)


@given(st.lists(st.integers(0, 10**11), min_size=1, max_size=60), st.floats(0.001, 1))
def test_a_quantile_is_within_its_bounds(times, part):
    """At least `part` of the values are below the upper bound; fewer are below the lower one."""
    numbered = {}
    for value in times:
        at = value if value < 16 else 16 + 16 * (value.bit_length() - 5) + (value >> value.bit_length() - 5 & 15)
        numbered[at] = numbered.get(at, 0) + 1
    counts = [numbered.get(at, 0) for at in range(max(numbered) + 1)]
    histogram = [{"kind": "d2c", "direction": "read", "first-bin": 0, "counts": counts}]
    low, above = reply(histogram=histogram).histogram("read", "d2c").quantile(part)
    assert sum(value < above for value in times) >= part * len(times)
    assert sum(value < low for value in times) < part * len(times)


def test_quantiles_of_nothing_and_of_a_matrix():
    latency = reply().histogram("read", "d2c")
    assert latency.quantile(0.5) is None and latency.total() == 0
    with pytest.raises(ValueError, match="not a part"):
        latency.quantile(99)
    with pytest.raises(ValueError, match="two dimensions"):
        reply().histogram("read", "depth-d2c").quantile(0.5)


def submitters(*rows):
    """Rows of the table: number, process or None for the rest, bios."""
    return [{"index": index, "queued": queued} | ({} if pid is None else {"pid": pid, "comm": f"c{pid}"})
            for index, pid, queued in rows]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now", "spent"),
    [
        ([(0, 7, 10)], [(0, 7, 14), (1, 8, 3)], {0: (7, 4), 1: (8, 3)}),
        # 7 queued 2 more, then 9 got its row
        ([(0, 7, 10)], [(0, 9, 5), (64, None, 12)], {0: (9, 5), 64: (None, 2)}),
        ([(0, 7, 10), (64, None, 4)], [(0, 9, 5), (64, None, 14)], {0: (9, 5), 64: (None, 0)}),
        # 7 lost its row, and has it again
        ([(0, 7, 10)], [(0, 7, 1), (64, None, 11)], {0: (7, 1), 64: (None, 1)}),
    ],
)
def test_processes_that_lose_their_row(before, now, spent):
    rows = (reply(200, submitter=submitters(*now)) - reply(submitter=submitters(*before))).submitter
    assert {at: (row.get("pid"), row["queued"]) for at, row in rows.items()} == spent


def test_every_number_is_counted_or_of_the_present():
    """All numbers of the specification that are not counts are named in reading.py: a difference does not subtract them."""
    text = (PATH.parents[3] / "tools/python/raidtrace/client/reading.py").read_text(encoding="utf-8")
    named = set(re.findall(r'"([a-z-]+)"', text[text.index("_PRESENT") : text.index("Row =")]))
    for name in ("flow", "origin", "submitter", "hwq", "counters"):
        small = {one["name"] for one in SPEC.sets[name] if one["type"] in ("u32", "string") and "enum" not in one}
        assert small <= named | {"index"}, name


def test_the_installed_specification_is_that_of_the_family():
    assert SPEC.text == yaml.safe_load((TOP / "Documentation/netlink/specs/raidtrace.yaml").read_text(encoding="utf-8"))
    header = (TOP / "kmod/include/uapi/linux/raidtrace.h").read_text(encoding="utf-8")
    for operation in SPEC.operations:
        assert f"RAIDTRACE_CMD_{operation.upper().replace('-', '_')}" in header
    assert re.search(rf"RAIDTRACE_ABI\s+{SPEC.constants['abi']}\b", header)


@pytest.mark.parametrize(("module", "package"), [("pyroute2", "python3-pyroute2"), ("yaml", "python3-yaml")])
def test_without_its_packages_only_the_client_fails(module, package):
    program = (
        f"import sys; sys.modules[{module!r}] = None; import raidtrace.report.page as page; import raidtrace.client"
    )
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(TOP / "tools/python")},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.stderr.splitlines()[-1].startswith(
        f"ModuleNotFoundError: raidtrace.client needs the package {package} "
    )


@pytest.mark.skipif(os.path.exists("/sys/module/raidtrace"), reason="the module is loaded")
def test_the_kernel_is_asked():
    with pytest.raises(Refused, match="raidtrace.ko is not loaded"):
        Client()


def answer(error, text="", kind=2, flags=0x200):
    """A closing message of the kernel, with the request that it answers."""
    note = text.encode() + b"\0"
    tail = struct.pack("HH", 4 + len(note), 1) + note if flags else b""
    body = struct.pack("i", -error) + (struct.pack("IHHII", 20, 30, 5, 1, 0) + b"\1\1\0\0" if kind == 2 else b"") + tail
    return struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body


@pytest.mark.parametrize(
    ("error", "text", "kind", "flags"), [(17, "sda is already", 2, 0x200), (1, "", 2, 0), (0, "", 2, 0)]
)
def test_refusals_have_the_text_of_the_module(error, text, kind, flags):
    if not error:
        exchange._raise_error(answer(error, text, kind, flags), flags)
        return
    with pytest.raises(Refused) as refusal:
        exchange._raise_error(answer(error, text, kind, flags), flags)
    assert (refusal.value.errno, refusal.value.text) == (error, text)
    assert refusal.value.strerror == (text or os.strerror(error))


class Dumps(exchange.Exchange):
    """A kernel whose list of targets changes during the first dumps."""

    def __init__(self, changes):  # pylint: disable=super-init-not-called
        self.specification, self.changes = SPEC, changes

    def send(self, operation, flags=0, raw=b"", **values):
        self.changes -= 1

    def messages(self, kind):
        body = b"\1\1\0\0" + packed("target", {"id": 7})
        message = kind(struct.pack("IHHII", 16 + len(body), 30, 0, 1, 0) + body)
        message.decode()
        yield 0x10 if self.changes >= 0 else 0, message


def test_a_dump_that_was_interrupted_is_repeated():
    assert Dumps(3).ask("target-get", dump=True) == [{"id": 7}]
    with pytest.raises(OSError, match="changed during each of 100 dumps"):
        Dumps(1000).ask("target-get", dump=True)


def test_frames_have_a_row_for_each_direction_or_bin():
    pandas = pytest.importorskip("pandas")
    frame = reply(done=3).to_pandas()
    assert [*frame.columns][0] == "direction" and frame.set_index("direction").loc["read", "completed"] == 3
    assert [*frame["direction"]] == [*reply().flow] and frame["completed"].dtype == "Int64"
    lacking = [name for name in frame.columns[1:] if frame[name].isna().any()]
    assert lacking == [name for name in frame.columns[1:] if any(name not in row for row in reply().flow.values())]
    assert [*reply().to_pandas("submitter")["index"]] == [*reply().submitter]
    assert reply().histogram("read", "size").to_pandas().values.tolist() == [
        [*row] for row in reply().histogram("read", "size").bins()
    ]
    assert pandas.isna(frame).dtypes.eq(bool).all()
    with pytest.raises(ValueError, match="disk: not one of flow, origin, submitter, hwq"):
        reply().to_pandas("disk")
