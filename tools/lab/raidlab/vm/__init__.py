# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock Debian kernels in QEMU, software emulation only. See Documentation/vm.rst."""
