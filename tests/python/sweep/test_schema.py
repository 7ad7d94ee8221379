# SPDX-License-Identifier: GPL-2.0-or-later
"""The check of plans agrees with jsonschema, which is not needed to run them, on what is right and where it is wrong."""

import copy
import json

import jsonschema
import pytest
import tomllib
from hypothesis import given, settings
from hypothesis import strategies as st

from raidtrace.sweep import plan, schema

SCHEMA = json.loads(plan.SCHEMA.read_text(encoding="utf-8"))
WITNESS = jsonschema.Draft202012Validator(SCHEMA)
PLANS = [plan._listed(tomllib.loads(plan.find(name).read_text(encoding="utf-8"))) for name in plan.ready()]
VALUES = (None, True, False, 0, 1, -1, 3, 4096, 0.5, 2.0, -0.5, 10**30, "", "x", "dd", "none", "1G", [], [1], ["xfs"], [0],
          [1, 2], {}, {"kind": "dd"}, {"kind": 1}, {"x": []})  # fmt: skip
KEYS = ("trials", "seed", "matrix", "lab", "workload", "kind", "memory", "set", "store", "published", "filesystem", "x")


def places(value, path=()):
    """Where a document can be changed: each of its values by path."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


def agreed(document):
    """Whether anything is wrong; where is the same."""
    ours = {(error.path, error.kind) for error in schema.errors(document, SCHEMA)}
    theirs = {(tuple(error.absolute_path), error.validator) for error in WITNESS.iter_errors(document)}
    assert ours == theirs
    return bool(ours)


@pytest.mark.parametrize("document", PLANS)
def test_plans_that_come_with_raidtrace_are_right(document):
    assert not agreed(document)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("key", SCHEMA["properties"]["matrix"]["items"]["properties"])
def test_each_value_of_each_axis_is_judged_as_jsonschema_judges_it(key, value):
    document = copy.deepcopy(PLANS[0])
    document["matrix"][0][key] = [value]
    agreed(document)
    document["matrix"][0][key] = value
    agreed(document)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_a_plan_of_which_a_value_is_another_is_judged_as_jsonschema_judges_it(data):
    document = copy.deepcopy(data.draw(st.sampled_from(PLANS)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(document))[1:]))
        inner = document
        for step in path[:-1]:
            inner = inner[step]
        act = data.draw(st.sampled_from(("change", "remove", "add")))
        if act == "remove":
            del inner[path[-1]]
        elif act == "add" and isinstance(inner, dict):
            inner[data.draw(st.sampled_from(KEYS))] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
        else:
            inner[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    agreed(document)


@pytest.mark.parametrize("part", list(places(SCHEMA)))
def test_no_keyword_of_the_schema_is_left_out(part):
    """A keyword that is not known here is an error, not a check that passes."""
    inner = SCHEMA
    for step in part:
        inner = inner[step]
    if isinstance(inner, dict) and "type" in inner and isinstance(inner["type"], str):
        with pytest.raises(schema.UnknownKeyword):
            list(
                schema._errors(
                    {"object": {}, "array": [], "string": ""}.get(inner["type"], 1), {**inner, "not": 1}, SCHEMA, ()
                )
            )
