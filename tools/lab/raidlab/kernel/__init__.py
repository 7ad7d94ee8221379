# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of User Mode Linux: Debian's, variants of them, and a tree of the user's own."""
