# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab: a simulated array under a real kernel. A folder may use those before it in this list (tests/lint/layers).

base/    messages of failures, progress, the cache, compilers, the terminal
apt/     the configured package sources; kernel sources and packages, unpacked instead of installed
array/   profiles of simulated devices, checked against the model's list of keys
kernel/  kernels of User Mode Linux: Debian's, their variants, and source trees of the user
uml/     a guest of User Mode Linux: its modules, its run in simulated time, and its verdict
vm/      stock Debian kernels in QEMU, software emulation only (Documentation/lab.rst)
verbs/   the verbs of raidctl lab, their options, and the comparisons of ab and expect
"""
