# SPDX-License-Identifier: GPL-2.0-or-later
"""The package sources of apt's configuration, and derived sources for other suites."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.base.failure import LabError

# Suites with kernels and the guest's programs, oldest first. apt skips suites that a mirror lacks, with a warning.
_SUITES = ("bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid")
# Names in sources of Debian's own archive. A source with one of them is a mirror of Debian.
_DEBIAN = {"bookworm", "trixie", "forky", "sid", "oldstable", "stable", "testing", "unstable"}
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "LAB_DEBIAN_MIRROR"  # environment variable with a mirror, for systems other than Debian


@dataclass(frozen=True)
class Entry:
    """One binary source. `options` are those of one-line syntax, e.g. signed-by=/usr/share/keyrings/x.gpg."""

    options: tuple[str, ...]
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


def other_suites() -> list[str]:
    """Lines of sources.list for suites that are not configured, from the configured mirrors of Debian."""
    return derive(_entries())


def suites(names: Sequence[str]) -> list[str]:
    """Lines of sources.list for these suites of each mirror of Debian. LabError if there is no mirror."""
    lines = [f"{line} {name} main" for line in _mirrors(_entries()) for name in names]
    if not lines:
        raise no_mirror()
    return lines


def is_debian() -> bool:
    """Whether any source is a mirror of Debian."""
    return bool(_mirrors(_entries()))


def no_mirror() -> LabError:
    """The error for a system other than Debian, or one without sources."""
    return LabError(
        "finding Debian's packages",
        "none of apt's sources is a mirror of Debian",
        f"Name one, and install its keys: {MIRROR}=URL, apt-get install debian-archive-keyring",
    )


def derive(entries: list[Entry]) -> list[str]:
    """The result of other_suites() for these entries; empty if none of them is a mirror of Debian."""
    have = {(entry.uri, suite) for entry in entries if "main" in entry.components for suite in entry.suites}
    # For the release of the default kernel, add the suite with updates: the main suite has only the kernel of the last
    # point release.
    mended = [
        f"deb {_options(entry)}{entry.uri} {_SUITES[0]}-security main"
        for entry in entries
        if any(suite.endswith("-security") for suite in entry.suites)
        and (entry.uri, f"{_SUITES[0]}-security") not in have
        and {suite.removesuffix("-security") for suite in entry.suites} & _DEBIAN
    ]
    return mended + [
        f"{line} {suite} main"
        for line, uri in _mirrors(entries).items()
        for suite in _SUITES
        if (uri, suite) not in have
    ]


def _mirrors(entries: list[Entry]) -> dict[str, str]:
    """Address of each mirror, by the part of its line before the suite."""
    by_line: dict[str, str] = {}
    for entry in entries:
        if "main" in entry.components and _DEBIAN & set(entry.suites):
            options = _options(entry)
            if entry.uri not in by_line.values():
                by_line[f"deb {options}{entry.uri}"] = entry.uri
    return by_line


def _options(entry: Entry) -> str:
    return f"[{' '.join(entry.options)}] " if entry.options else ""


def _entries() -> list[Entry]:
    named = os.environ.get(MIRROR)
    mine = [Entry((f"signed-by={_KEYS}",), named, ("stable",), ("main",))] if named else []
    return [*configured(), *mine]


def configured() -> Iterator[Entry]:
    """The sources from which apt takes packages."""
    one_line = ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list")]
    for name in sorted(one_line):
        yield from one_line_entries(_text(name))
    for name in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        yield from deb822_entries(_text(name))


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError:
        return ""


def one_line_entries(text: str) -> Iterator[Entry]:
    """The binary sources of a sources.list."""
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if match:
            options, uri, suite, components = match.groups()
            yield Entry(tuple((options or "").split()), uri, (suite,), tuple(components.split()))


def deb822_entries(text: str) -> Iterator[Entry]:
    """The enabled binary sources of a *.sources file."""
    for stanza in re.split(r"\n\s*\n", text):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes") == "no":
            continue
        options = tuple(
            f"{name}={','.join(fields[name].split())}"
            for name in ("signed-by", "architectures", "trusted")
            # A one-line source cannot contain a key as text. Skip it: apt's own keyring has Debian's key.
            if name in fields and "BEGIN PGP" not in fields[name]
        )
        options = tuple(option.replace("architectures=", "arch=") for option in options)
        for uri in fields.get("uris", "").split():
            yield Entry(
                options,
                uri,
                tuple(fields.get("suites", "").split()),
                tuple(fields.get("components", "").split()),
            )


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    last = ""
    for line in stanza.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] in " \t":
            fields[last] = f"{fields.get(last, '')}\n{line.strip()}"
        else:
            last, _, value = line.partition(":")
            last = last.strip().lower()
            fields[last] = value.strip()
    return fields
