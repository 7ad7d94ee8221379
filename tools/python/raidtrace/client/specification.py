# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of the netlink family as classes of pyroute2, made from the specification that is installed with this package.

No name, number, type or nesting of an attribute is repeated here: Documentation/netlink/specs/raidtrace.yaml has them.
"""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Iterable
from typing import Any

import yaml
from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla

from raidtrace.quantity import pages

PATH = pages.DIRECTORY / "netlink/specs/raidtrace.yaml"

_KINDS = {"string": "asciiz", "flag": "flag", "binary": "cdata", "pad": "none", "u32": "uint32", "u64": "uint64"}
_U64 = struct.calcsize("=Q")


class Specification:
    """The family: `sets` of attributes, `operations`, words of `enums` and `flags`, each by name."""

    def __init__(self, path: pathlib.Path = PATH) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self.text = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506
        self.name: str = self.text["name"]
        self.sets: dict[str, list[dict[str, Any]]] = {
            one["name"]: one["attributes"] for one in self.text["attribute-sets"]
        }
        self.operations: dict[str, dict[str, Any]] = {one["name"]: one for one in self.text["operations"]["list"]}
        self.numbers = {name: number for number, name in enumerate(self.operations, 1)}
        words = {"enum": dict[str, list[str]](), "flags": dict[str, list[str]](), "const": dict[str, list[str]]()}
        for one in self.text["definitions"]:
            words[one["type"]][one["name"]] = [entry["name"] for entry in one.get("entries", ())]
        self.enums, self.flags = words["enum"], words["flags"]
        self.constants: dict[str, int] = {
            one["name"]: one["value"] for one in self.text["definitions"] if "value" in one
        }
        self._nests: dict[str, type[nla]] = {}
        self._messages: dict[str, type[genlmsg]] = {}

    def message(self, operation: str) -> type[genlmsg]:
        """The class of an operation's requests and replies."""
        name = self.set_of(operation)
        if name not in self._messages:
            self._messages[name] = type(name, (genlmsg,), self._members(name))
        return self._messages[name]

    def set_of(self, operation: str) -> str:
        """Name of the set of attributes of an operation."""
        return str(self.operations[operation]["attribute-set"])

    def number(self, name: str, attribute: str) -> int:
        """Number of an attribute in its set."""
        return 1 + [one["name"] for one in self.sets[name]].index(attribute)

    def _members(self, name: str) -> dict[str, Any]:
        inner = {one["nested-attributes"] for one in self.sets[name] if one["type"] == "nest"}
        kinds = [(one["name"], _KINDS.get(one["type"]) or f"set_{one['nested-attributes']}") for one in self.sets[name]]
        return {f"set_{one}": self._nest(one) for one in inner} | {"nla_map": (("", "none"), *kinds), "prefix": ""}

    def _nest(self, name: str) -> type[nla]:
        if name not in self._nests:
            self._nests[name] = type(name, (nla,), self._members(name) | {"nla_flags": NLA_F_NESTED})
        return self._nests[name]

    def encode(self, name: str, values: dict[str, Any]) -> list[list[Any]]:
        """Attributes of a set for a message, from values by name; a list of values for a repeated one.

        Raises ValueError for a name or word that the set does not have.
        """
        known = {one["name"]: one for one in self.sets[name]}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(f"{name} has no attribute {', '.join(unknown)}")
        return [
            [key, self._encoded(attribute, one)]
            for key, attribute in known.items()
            if key in values
            for one in (values[key] if attribute.get("multi-attr") else [values[key]])
        ]

    def _encoded(self, attribute: dict[str, Any], value: Any) -> Any:
        if attribute["type"] == "nest":
            return {"attrs": self.encode(attribute["nested-attributes"], value)}
        if "enum" not in attribute or isinstance(value, int):
            return value
        flags = attribute["enum"] in self.flags
        names = (self.flags if flags else self.enums)[attribute["enum"]]
        words = set(value) if flags else {value}
        if not words <= set(names):
            raise ValueError(
                f"{attribute['name']} has no {', '.join(sorted(words - set(names)))}, but {', '.join(names)}"
            )
        return sum(1 << names.index(word) for word in words) if flags else names.index(value)

    def decode(self, name: str, attributes: Iterable[Any]) -> dict[str, Any]:
        """Attributes of a set by name; a repeated one becomes a list, bits become a list of words.

        Attributes that a newer module sends, and this specification does not have, are left out.
        """
        known = {one["name"]: one for one in self.sets[name]}
        result: dict[str, Any] = {}
        for slot in attributes:
            one = known.get(slot[0])
            if one is None or one["type"] == "pad":
                continue
            value = self._decoded(one, slot[1])
            if one.get("multi-attr"):
                result.setdefault(slot[0], []).append(value)
            else:
                result[slot[0]] = value
        return result

    def _decoded(self, attribute: dict[str, Any], value: Any) -> Any:
        kind = attribute["type"]
        if kind == "nest":
            return self.decode(attribute["nested-attributes"], value["attrs"])
        if kind == "flag":
            return True
        if kind == "binary":
            return list(struct.unpack(f"={len(value) // _U64}Q", value))
        if attribute.get("enum") in self.flags:
            return [word for bit, word in enumerate(self.flags[attribute["enum"]]) if value >> bit & 1]
        if "enum" in attribute:
            words = self.enums[attribute["enum"]]
            return words[value] if value < len(words) else value
        return value
