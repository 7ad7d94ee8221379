// SPDX-License-Identifier: GPL-2.0-only
/* The programs, one object: clang links nothing for this target. */
#include "probe-queue.c"
#include "probe-request.c"

char LICENSE[] SEC("license") = "GPL";
