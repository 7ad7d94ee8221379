/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The suites include it; a process has all they need of it in kunit/test.h. */
#include <kunit/test.h>
