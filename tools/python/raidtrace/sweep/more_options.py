# SPDX-License-Identifier: GPL-2.0-or-later
"""Which more options of mkfs and mount a plan may give: none that names another disk or file.

Both can be told to put a journal or a log elsewhere, and would overwrite what is there. A plan may come from anybody, and only
--destroy-data says what is overwritten. The commands run in the cell's own directory, so what has no / in it leads to no disk,
unless by a label or by one of these words.
"""

import re
import shlex

WORD = re.compile(r"[A-Za-z0-9_,=.^+:-]+")
ELSEWHERE = {
    "dev", "device", "file", "logdev", "name", "rtdev", "journal_dev", "journal_path",  # where else to write
    "label", "uuid", "partlabel", "partuuid", "id",  # a disk by what it holds
    "bind", "rbind", "move", "remount", "loop", "offset", "helper", "uhelper",  # another mount than that of the disk
}  # fmt: skip


def wrong(text: str) -> str:
    """Why these options are refused; empty when they are not."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return f"{text!r} is no list of words: {error}"
    for word in words:
        if not WORD.fullmatch(word):
            return f"{word!r} could name a disk or file; options here are words of letters, digits and _ , = . ^ + : -"
        parts = re.split(r"[,=:]", word.lower())
        # --device=...; -Jdevice=...: option and key in one word
        parts += [parts[0].lstrip("-"), re.sub(r"^-.", "", parts[0])]
        found = [part for part in parts if part in ELSEWHERE]
        if found:
            return f"{word!r}: {found[0]} could name another disk; what is overwritten is said by --destroy-data alone"
    return ""
