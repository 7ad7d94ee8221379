# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab: a simulated array under a real kernel. Each folder uses those before it in this list (tests/lint/layers).

base/    what every part needs: failures and progress in words, the cache, compilers, the terminal
apt/     Debian's packages without installing them: which sources there are, kernel sources, unpacked packages
array/   profiles: the simulated arrays that there are, checked against the model's own list of keys
kernel/  kernels of User Mode Linux: Debian's, variants of them, and a tree of the user's own
uml/     a guest of User Mode Linux: its modules, its run in simulated time, and how that is judged
vm/      stock Debian kernels in QEMU, software emulation only (Documentation/vm.rst)
verbs/   raidctl lab's verbs, their options, and what ab and expect compare
"""
