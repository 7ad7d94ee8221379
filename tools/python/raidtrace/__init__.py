# SPDX-License-Identifier: GPL-2.0-or-later
"""Read, verify and explain what raidtrace recorded. Nothing here talks to the kernel."""
