// SPDX-License-Identifier: GPL-2.0-or-later

/* Answers about the last requests of a disk, and how requests are printed. */

#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "exchange.h"
#include "raidtrace.h"
#include "report/requests.h"

static void put_ended(struct nl_msg *msg, uint64_t number, uint32_t class_, uint64_t completed_ns)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_HISTORY_ENDED);

	nla_put_u64(msg, RAIDTRACE_A_ENDED_NUMBER, number);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_QUEUED_NS, 1000000000);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_ISSUED_NS, 1002000000);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_COMPLETED_NS, completed_ns);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_SECTOR, 4096 * number);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_BYTES, 65536);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_DIRECTION, RAIDTRACE_DIRECTION_WRITE);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_CLASS, class_);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_DEPTH, 7);
	if (number & 1) {
		nla_put_u32(msg, RAIDTRACE_A_ENDED_PID, 42);
		nla_put_string(msg, RAIDTRACE_A_ENDED_COMM, "fio");
	} else {
		nla_put_flag(msg, RAIDTRACE_A_ENDED_ERROR);
		nla_put_flag(msg, RAIDTRACE_A_ENDED_AGAIN);
	}
	nla_nest_end(msg, nest);
}

static struct nl_msg *answer(void)
{
	struct nl_msg *msg = nlmsg_alloc_size(32768);

	assert_non_null(genlmsg_put(msg, 0, 0, 30, 0, 0, RAIDTRACE_CMD_HISTORY_GET, 1));
	nla_put_u64(msg, RAIDTRACE_A_HISTORY_NR, 9);
	return msg;
}

static int parse(struct nl_msg *msg, struct rt_history *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = rt_parse_history(nlmsg_hdr(msg), ret);
	nlmsg_free(msg);
	return err;
}

static void what_is_told(void **state)
{
	static struct rt_history history;
	struct nl_msg *msg = answer();

	(void)state;
	put_ended(msg, 5, RAIDTRACE_CLASS_JOURNAL, 1012000000);
	put_ended(msg, 8, RAIDTRACE_CLASS_DATA, 1502000000);
	assert_int_equal(parse(msg, &history), 0);
	assert_int_equal(history.total, 9);
	assert_int_equal(history.nr, 2);
	assert_int_equal(history.ended[0].sector, 4096 * 5);
	assert_int_equal(history.ended[0].inserted_ns, 0);
	assert_int_equal(history.ended[0].class_, RAIDTRACE_CLASS_JOURNAL);
	assert_string_equal(history.ended[0].comm, "fio");
	assert_true(history.ended[0].known && !history.ended[0].error && !history.ended[0].again);
	assert_true(!history.ended[1].known && history.ended[1].error && history.ended[1].again);
}

/* What no module says is not printed: a class that there is not, an end before the issue, more than fit. */
static void what_is_refused(void **state)
{
	static struct rt_history history;
	struct nl_msg *msg = answer();

	(void)state;
	put_ended(msg, 5, RT_CLASSES, 1012000000);
	assert_int_equal(parse(msg, &history), -EBADMSG);
	msg = answer();
	put_ended(msg, 5, 0, 1001000000);
	assert_int_equal(parse(msg, &history), -EBADMSG);
	msg = answer();
	put_ended(msg, 0, 0, 1012000000);
	assert_int_equal(parse(msg, &history), -EBADMSG);
	msg = answer();
	for (uint64_t i = 1; i <= RT_HISTORY_MOST + 1; i++)
		put_ended(msg, i, 0, 1012000000);
	assert_int_equal(parse(msg, &history), -EBADMSG);
	assert_int_equal(history.nr, RT_HISTORY_MOST);
}

static char *printed(int how, const struct requests *requests, size_t first)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (how == 't') {
		requests_text(to, requests, first, "sda");
	} else if (how == 'c') {
		requests_csv_names(to);
		requests_csv(to, requests, first);
	} else {
		requests_json(to, requests, first, "sda");
	}
	fclose(to);
	return text;
}

static void how_they_are_printed(void **state)
{
	static struct rt_history history;
	struct requests requests = { .found = true };
	struct nl_msg *msg = answer();
	char *text;

	(void)state;
	text = printed('t', &requests, 0);
	assert_string_equal(text, "sda: no request has ended since it was attached\n");
	free(text);
	put_ended(msg, 5, RAIDTRACE_CLASS_JOURNAL, 1012000000);
	put_ended(msg, 8, RAIDTRACE_CLASS_DATA, 1502000000);
	assert_int_equal(parse(msg, &history), 0);
	assert_int_equal(requests_add(&requests, history.ended, history.nr), 0);
	text = printed('t', &requests, 0);
	assert_string_equal(text,
			    " before     q2d     d2c depth           sector     data class        who\n"
			    " 490 ms 2.00 ms 10.0 ms     7 write      20480   64 KiB journal   -- fio\n"
			    "        2 requests were lost here\n"
			    "   0 ns 2.00 ms  500 ms     7 write      32768   64 KiB data      FA -\n"
			    "The last one is what was waited for.\n");
	free(text);
	text = printed('c', &requests, 1);
	assert_string_equal(text,
			    "number,queued_ns,inserted_ns,issued_ns,completed_ns,sector,bytes,direction,class,depth,pid,comm,error,again\r\n"
			    "8,1000000000,,1002000000,1502000000,32768,65536,write,data,7,,,1,1\r\n");
	free(text);
	text = printed('j', &requests, 0);
	assert_non_null(strstr(text, "\"lost\":2"));
	assert_non_null(strstr(text, "\"inserted_ns\":null"));
	assert_non_null(strstr(text, "\"ended\":true"));
	free(text);
	free(requests.ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_told),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(how_they_are_printed),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
