/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KUnit's suites as a program: what kmod/tests uses of <kunit/test.h>, for a
 * process. The suites stay the kernel's; here they are run under gcov, and once
 * for every mutant of the code that they test.
 */
#ifndef RAIDTRACE_KUNIT_TEST_H
#define RAIDTRACE_KUNIT_TEST_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define GFP_KERNEL		0
#define __maybe_unused		__attribute__((unused))
#define S64_MAX			INT64_MAX
#define S64_MIN			INT64_MIN
#define U64_MAX			UINT64_MAX
#define S32_MAX			INT32_MAX
#define U32_MAX			UINT32_MAX
#define KUNIT_PARAM_DESC_SIZE	128
#define MODULE_LICENSE(text)	_Static_assert(1, text)
#define MODULE_DESCRIPTION(text) _Static_assert(1, text)
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#ifndef min
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#endif

#define KUNIT_MAX_ALLOCATIONS	64

/**
 * struct kunit - one case while it runs
 * @priv: the suite's
 * @param_value: of a case that has parameters
 * @failed: an expectation did not hold
 * @out: where an assertion that does not hold goes
 * @nr_allocated: entries of @allocated
 * @allocated: freed when the case ends
 */
struct kunit {
	void *priv;
	const void *param_value;
	bool failed;
	jmp_buf out;
	unsigned int nr_allocated;
	void *allocated[KUNIT_MAX_ALLOCATIONS];
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
	const void *(*generate)(const void *previous, char *desc);
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(function)			{ .run = function, .name = #function }
#define KUNIT_CASE_SLOW(function)		KUNIT_CASE(function)
#define KUNIT_CASE_PARAM(function, generator) \
	{ .run = function, .name = #function, .generate = generator }

#define KUNIT_ARRAY_PARAM(prefix, array, describe) \
	static const void *prefix##_gen_params(const void *previous, char *desc) \
	{ \
		const __typeof__((array)[0]) *next = previous ? \
			(const __typeof__((array)[0]) *)previous + 1 : (array); \
		void (*say)(__typeof__(next), char *) = describe; \
		\
		if (next >= (array) + ARRAY_SIZE(array)) \
			return NULL; \
		if (say) \
			say(next, desc); \
		return next; \
	}

#define KUNIT_CHECK(test, holds, then, ...) do { \
	if (!(holds)) { \
		printf("# %s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__); \
		putchar('\n'); \
		(test)->failed = true; \
		then; \
	} \
} while (0)

#define KUNIT_COMPARE(test, left, op, right, then) do { \
	__typeof__(left) left_ = (left); \
	__typeof__(right) right_ = (right); \
	\
	KUNIT_CHECK(test, left_ op right_, then, #left " " #op " " #right ": %lld, %lld", \
		    (long long)left_, (long long)right_); \
} while (0)

#define KUNIT_EXPECT_EQ(test, left, right)	KUNIT_COMPARE(test, left, ==, right, )
#define KUNIT_EXPECT_NE(test, left, right)	KUNIT_COMPARE(test, left, !=, right, )
#define KUNIT_EXPECT_LT(test, left, right)	KUNIT_COMPARE(test, left, <, right, )
#define KUNIT_EXPECT_LE(test, left, right)	KUNIT_COMPARE(test, left, <=, right, )
#define KUNIT_EXPECT_GT(test, left, right)	KUNIT_COMPARE(test, left, >, right, )
#define KUNIT_EXPECT_GE(test, left, right)	KUNIT_COMPARE(test, left, >=, right, )
#define KUNIT_ASSERT_EQ(test, left, right)	KUNIT_COMPARE(test, left, ==, right, longjmp((test)->out, 1))
#define KUNIT_ASSERT_NE(test, left, right)	KUNIT_COMPARE(test, left, !=, right, longjmp((test)->out, 1))
#define KUNIT_ASSERT_LT(test, left, right)	KUNIT_COMPARE(test, left, <, right, longjmp((test)->out, 1))
#define KUNIT_ASSERT_LE(test, left, right)	KUNIT_COMPARE(test, left, <=, right, longjmp((test)->out, 1))
#define KUNIT_ASSERT_GT(test, left, right)	KUNIT_COMPARE(test, left, >, right, longjmp((test)->out, 1))
#define KUNIT_ASSERT_GE(test, left, right)	KUNIT_COMPARE(test, left, >=, right, longjmp((test)->out, 1))
#define KUNIT_EXPECT_TRUE(test, what)		KUNIT_CHECK(test, what, , "%s", #what)
#define KUNIT_EXPECT_FALSE(test, what)		KUNIT_CHECK(test, !(what), , "not %s", #what)
#define KUNIT_ASSERT_TRUE(test, what)		KUNIT_CHECK(test, what, longjmp((test)->out, 1), "%s", #what)
#define KUNIT_EXPECT_NULL(test, what)		KUNIT_CHECK(test, !(what), , "%s is no NULL", #what)
#define KUNIT_EXPECT_NOT_NULL(test, what)	KUNIT_CHECK(test, what, , "%s is NULL", #what)
#define KUNIT_ASSERT_NOT_NULL(test, what)	KUNIT_CHECK(test, what, longjmp((test)->out, 1), "%s is NULL", #what)
#define KUNIT_EXPECT_STREQ(test, left, right) \
	KUNIT_CHECK(test, !strcmp(left, right), , "%s: \"%s\" and \"%s\"", #left, left, right)
#define KUNIT_EXPECT_MEMEQ(test, left, right, size) \
	KUNIT_CHECK(test, !memcmp(left, right, size), , "%s and %s differ", #left, #right)
#define KUNIT_FAIL(test, ...)			KUNIT_CHECK(test, false, , __VA_ARGS__)

static inline void *kunit_kzalloc(struct kunit *test, size_t size, int flags)
{
	void *memory = calloc(1, size);

	(void)flags;
	if (!memory || test->nr_allocated == KUNIT_MAX_ALLOCATIONS)
		abort();
	test->allocated[test->nr_allocated++] = memory;
	return memory;
}

#define kunit_kcalloc(test, n, size, flags)	kunit_kzalloc(test, (size_t)(n) * (size), flags)

static inline long strscpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
	return (long)strlen(to);
}

/* In main.c. */
void kunit_register(const struct kunit_suite *suite);

#define KUNIT_JOIN(a, b)		a##b
#define KUNIT_NAME(a, b)		KUNIT_JOIN(a, b)
#define kunit_test_suites(...) \
	static void __attribute__((constructor)) KUNIT_NAME(kunit_register_, __LINE__)(void) \
	{ \
		const struct kunit_suite *const all[] = { __VA_ARGS__ }; \
		\
		for (size_t i = 0; i < ARRAY_SIZE(all); i++) \
			kunit_register(all[i]); \
	} \
	_Static_assert(1, "")
#define kunit_test_suite(suite)		kunit_test_suites(&(suite))

#endif /* RAIDTRACE_KUNIT_TEST_H */
