# SPDX-License-Identifier: GPL-2.0-or-later
"""The live counters of raidtrace.ko: Documentation/client.rst has examples, Documentation/counters.rst the definitions.

with Client() as client, client.attached("nvme0n1") as disk:
    before = disk.counters()
    ...
    spent = disk.counters() - before
    print(spent.flow["read"]["completed"], spent.histogram("read", "d2c").quantile(0.99))
"""

try:
    import pyroute2  # noqa: F401
    import yaml  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"raidtrace.client needs the package python3-{missing.name} (pip install pyroute2 pyyaml)", name=missing.name
    ) from None

from raidtrace.client.client import Client, Target
from raidtrace.client.exchange import Refused
from raidtrace.client.reading import Counters
from raidtrace.quantity.table import Histogram

__all__ = ["Client", "Counters", "Histogram", "Refused", "Target"]
