# SPDX-License-Identifier: GPL-2.0-or-later
"""What every part of the lab needs: failures and progress in words, the cache, compilers, the terminal."""
