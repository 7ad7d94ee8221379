// SPDX-License-Identifier: GPL-2.0-or-later

/* A source of counters: calls of its kind. */

#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rt_close(struct rt_client *client)
{
	if (!client)
		return;
	client->source->close(client);
	free(client);
}

const char *rt_source_name(const struct rt_client *client)
{
	return client->source->name;
}

const char *rt_error(const struct rt_client *client)
{
	return client->error;
}

const char *rt_reason(const struct rt_client *client, int err)
{
	return client->error[0] ? client->error : strerror(-err);
}

int rt_info_get(struct rt_client *client, struct rt_info *ret)
{
	return client->source->info_get(client, ret);
}

int rt_target_add(struct rt_client *client, int fd, const struct rt_options *options, struct rt_target *ret)
{
	return client->source->target_add(client, fd, options, ret);
}

int rt_target_add_number(struct rt_client *client, unsigned int major, unsigned int minor,
			 const struct rt_options *options, struct rt_target *ret)
{
	if (!client->source->target_add_number)
		return -EOPNOTSUPP;
	return client->source->target_add_number(client, major, minor, options, ret);
}

int rt_target_del(struct rt_client *client, uint32_t id)
{
	return client->source->target_del(client, id);
}

int rt_target_reset(struct rt_client *client, uint32_t id)
{
	return client->source->target_reset(client, id);
}

int rt_target_set_journal(struct rt_client *client, uint32_t id, const struct rt_extent *journal, size_t nr)
{
	return client->source->target_set_journal(client, id, journal, nr);
}

int rt_target_list(struct rt_client *client, size_t *nr, struct rt_target **ret)
{
	return client->source->target_list(client, nr, ret);
}

int rt_counters_get(struct rt_client *client, uint32_t id, struct rt_counters *ret)
{
	return client->source->counters_get(client, id, ret);
}

int rt_counters_advance(struct rt_client *client, uint32_t id, struct rt_counters *last, struct rt_counters *span)
{
	return client->source->counters_advance(client, id, last, span);
}

int rt_history_get(struct rt_client *client, uint32_t id, uint64_t after, struct rt_history *ret)
{
	return client->source->history_get(client, id, after, ret);
}

int rt_lost_get(struct rt_client *client, uint32_t id, struct rt_lost *ret)
{
	memset(ret, 0, sizeof(*ret));
	return client->source->lost_get ? client->source->lost_get(client, id, ret) : 0;
}
