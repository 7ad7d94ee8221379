# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures: how all of them look, and a module for each."""
