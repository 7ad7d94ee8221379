// SPDX-License-Identifier: GPL-2.0-or-later

/* Netlink to raidtrace.ko: the socket, requests and what became of them. */

#include "raidtrace.h"
#include "reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

/* More than a snapshot can have: twice the module's account of one disk. */
#define MESSAGE_BYTES	(256 << 10)

/**
 * struct rt_client - one generic netlink socket
 * @socket: connected
 * @family: id of the raidtrace family
 * @error: the kernel's extack text for the last request
 */
struct rt_client {
	struct nl_sock *socket;
	int family;
	char error[256];
};

/**
 * struct request - one request under way
 * @client: the socket, takes the extack text
 * @parse: called for each reply, NULL when none is expected
 * @ret: where @parse stores
 * @sequence: of its messages; others answer a request that was given up
 * @single: the first reply is the last message; no acknowledgement was asked for
 * @err: -errno so far
 * @done: the last message came
 */
struct request {
	struct rt_client *client;
	int (*parse)(struct nlmsghdr *nlh, void *ret);
	void *ret;
	uint32_t sequence;
	bool single;
	int err;
	bool done;
};

/* libnl has its own error numbers; only those that a request can meet. */
static int errno_of(int nle)
{
	switch (nle < 0 ? -nle : nle) {
	case NLE_SUCCESS: return 0;
	case NLE_NOMEM: return -ENOMEM;
	case NLE_PERM: return -EPERM;
	case NLE_NOACCESS: return -EACCES;
	case NLE_OBJ_NOTFOUND: return -ENOENT;
	case NLE_NODEV: return -ENODEV;
	case NLE_EXIST: return -EEXIST;
	case NLE_BUSY: return -EBUSY;
	case NLE_AGAIN: return -EAGAIN;
	case NLE_INVAL: return -EINVAL;
	case NLE_PROTO_MISMATCH: return -EPROTONOSUPPORT;
	case NLE_AF_NOSUPPORT: return -EAFNOSUPPORT;
	case NLE_MSG_TRUNC: return -EMSGSIZE;
	case NLE_DUMP_INTR: return -EINTR;
	default: return -EIO;
	}
}

int rt_open(struct rt_client **ret)
{
	struct rt_client *client = calloc(1, sizeof(*client));
	int one = 1, err, fd;

	if (!client)
		return -ENOMEM;
	client->socket = nl_socket_alloc();
	if (!client->socket) {
		free(client);
		return -ENOMEM;
	}
	err = genl_connect(client->socket);
	if (err)
		goto close;
	client->family = genl_ctrl_resolve(client->socket,
					   RAIDTRACE_FAMILY_NAME);
	if (client->family < 0) {
		err = client->family;
		goto close;
	}
	/* A snapshot with all its bins is larger than libnl's buffer; to ask for its length first takes a copy more. */
	nl_socket_disable_msg_peek(client->socket);
	nl_socket_set_msg_buf_size(client->socket, MESSAGE_BYTES);
	nl_socket_set_buffer_size(client->socket, 1 << 20, 0);
	nl_socket_disable_auto_ack(client->socket);
	fd = nl_socket_get_fd(client->socket);
	/* Without them the kernel's reasons are lost, but all else works. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	*ret = client;
	return 0;

close:
	rt_close(client);
	return errno_of(err);
}

void rt_close(struct rt_client *client)
{
	if (!client)
		return;
	nl_socket_free(client->socket);
	free(client);
}

const char *rt_error(const struct rt_client *client)
{
	return client->error;
}

static int on_valid(struct nl_msg *msg, void *data)
{
	struct request *request = data;

	if (nlmsg_hdr(msg)->nlmsg_seq != request->sequence)
		return NL_SKIP;
	if (request->parse && !request->err)
		request->err = request->parse(nlmsg_hdr(msg), request->ret);
	request->done |= request->single;
	return request->single ? NL_STOP : NL_SKIP;
}

static int on_done(struct nl_msg *msg, void *data)
{
	struct request *request = data;

	if (nlmsg_hdr(msg)->nlmsg_seq != request->sequence)
		return NL_SKIP;
	request->done = true;
	return NL_STOP;
}

/* The text of an NLMSG_ERROR, which follows the request's own header. */
static void take_extack(struct rt_client *client, struct nlmsgerr *nlerr)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)nlerr - NLMSG_HDRLEN);
	size_t skip = NLMSG_ALIGN(sizeof(*nlerr));
	struct nlattr *attr;
	int rest;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += nlerr->msg.nlmsg_len - NLMSG_HDRLEN;
	if (NLMSG_HDRLEN + skip > nlh->nlmsg_len)
		return;
	rest = (int)(nlh->nlmsg_len - NLMSG_HDRLEN - skip);
	nla_for_each_attr(attr, (struct nlattr *)((char *)nlerr + skip),
			  rest, rest)
		if (nla_type(attr) == NLMSGERR_ATTR_MSG)
			nla_strlcpy(client->error, attr,
				    sizeof(client->error));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *nlerr,
		    void *data)
{
	struct request *request = data;

	(void)from;
	if (nlerr->msg.nlmsg_seq != request->sequence)
		return NL_SKIP;
	request->err = nlerr->error;
	request->done = true;
	take_extack(request->client, nlerr);
	return NL_STOP;
}

static struct nl_msg *new_request(struct rt_client *client, uint8_t command,
				  int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, client->family, 0,
			 flags, command, RAIDTRACE_FAMILY_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Send @msg, which is consumed, and take every reply up to the last. */
static int exchange(struct rt_client *client, struct nl_msg *msg,
		    int (*parse)(struct nlmsghdr *, void *), void *ret)
{
	struct request request = {
		.client = client, .parse = parse, .ret = ret,
		.single = !(nlmsg_hdr(msg)->nlmsg_flags &
			    (NLM_F_ACK | NLM_F_DUMP)),
	};
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	client->error[0] = '\0';
	if (!cb) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &request);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_done, &request);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, &request);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &request);
	err = nl_send_auto(client->socket, msg);
	request.sequence = nlmsg_hdr(msg)->nlmsg_seq;
	nlmsg_free(msg);
	while (err >= 0 && !request.done)
		err = nl_recvmsgs(client->socket, cb);
	nl_cb_put(cb);
	if (request.err)
		return request.err;
	return err < 0 ? errno_of(err) : 0;
}

int rt_info_get(struct rt_client *client, struct rt_info *ret)
{
	struct nl_msg *msg = new_request(client, RAIDTRACE_CMD_INFO_GET,
					 NLM_F_ACK);

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	return exchange(client, msg, rt_parse_info, ret);
}

static int put_extent(struct nl_msg *msg, const struct rt_extent *extent)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_TARGET_JOURNAL);

	if (!nest ||
	    nla_put_u64(msg, RAIDTRACE_A_EXTENT_SECTOR, extent->sector) ||
	    nla_put_u64(msg, RAIDTRACE_A_EXTENT_NR_SECTORS, extent->nr_sectors))
		return -ENOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_options(struct nl_msg *msg, const struct rt_options *options)
{
	if (options->groups &&
	    nla_put_u32(msg, RAIDTRACE_A_TARGET_GROUPS, options->groups))
		return -ENOMEM;
	if (options->streams &&
	    nla_put_u32(msg, RAIDTRACE_A_TARGET_STREAMS, options->streams))
		return -ENOMEM;
	for (size_t i = 0; i < options->nr_journal; i++)
		if (put_extent(msg, &options->journal[i]))
			return -ENOMEM;
	return 0;
}

int rt_target_add(struct rt_client *client, uint32_t major, uint32_t minor,
		  const struct rt_options *options, struct rt_target *ret)
{
	struct nl_msg *msg = new_request(client, RAIDTRACE_CMD_TARGET_ADD,
					 NLM_F_ACK);

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	if (nla_put_u32(msg, RAIDTRACE_A_TARGET_MAJOR, major) ||
	    nla_put_u32(msg, RAIDTRACE_A_TARGET_MINOR, minor) ||
	    (options && put_options(msg, options))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return exchange(client, msg, rt_parse_target, ret);
}

/* A request whose only attribute is the target's id. */
static struct nl_msg *new_id_request(struct rt_client *client, uint8_t command,
				     int flags, int attribute, uint32_t id)
{
	struct nl_msg *msg = new_request(client, command, flags);

	if (msg && nla_put_u32(msg, attribute, id)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int rt_target_del(struct rt_client *client, uint32_t id)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_TARGET_DEL, NLM_F_ACK,
					    RAIDTRACE_A_TARGET_ID, id);

	return msg ? exchange(client, msg, NULL, NULL) : -ENOMEM;
}

int rt_target_set_journal(struct rt_client *client, uint32_t id,
			  const struct rt_extent *journal, size_t nr)
{
	struct rt_options options = { .journal = journal, .nr_journal = nr };
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_TARGET_SET, NLM_F_ACK,
					    RAIDTRACE_A_TARGET_ID, id);

	if (msg && put_options(msg, &options)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg ? exchange(client, msg, NULL, NULL) : -ENOMEM;
}

int rt_target_reset(struct rt_client *client, uint32_t id)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_TARGET_RESET, NLM_F_ACK,
					    RAIDTRACE_A_TARGET_ID, id);

	return msg ? exchange(client, msg, NULL, NULL) : -ENOMEM;
}

/* Targets of a dump so far. */
struct target_array {
	struct rt_target *targets;
	size_t nr;
};

static int parse_target_of_dump(struct nlmsghdr *nlh, void *ret)
{
	struct target_array *array = ret;
	struct rt_target *more = reallocarray(array->targets, array->nr + 1,
					      sizeof(*more));

	if (!more)
		return -ENOMEM;
	array->targets = more;
	memset(&more[array->nr], 0, sizeof(*more));
	return rt_parse_target(nlh, &more[array->nr++]);
}

static int compare_targets(const void *a, const void *b)
{
	uint32_t x = ((const struct rt_target *)a)->id;
	uint32_t y = ((const struct rt_target *)b)->id;

	return (x > y) - (x < y);
}

int rt_target_list(struct rt_client *client, size_t *nr,
		   struct rt_target **ret)
{
	struct target_array array;
	struct nl_msg *msg;
	int err;

	/* A dump that a change cut in two is taken again. */
	do {
		memset(&array, 0, sizeof(array));
		msg = new_request(client, RAIDTRACE_CMD_TARGET_GET,
				  NLM_F_DUMP);
		if (!msg)
			return -ENOMEM;
		err = exchange(client, msg, parse_target_of_dump, &array);
		if (err)
			free(array.targets);
	} while (err == -EINTR);
	if (err)
		return err;
	if (array.nr)
		qsort(array.targets, array.nr, sizeof(*array.targets),
		      compare_targets);
	*nr = array.nr;
	*ret = array.targets;
	return 0;
}

int rt_counters_get(struct rt_client *client, uint32_t id,
		    struct rt_counters *ret)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_COUNTERS_GET, 0,
					    RAIDTRACE_A_COUNTERS_ID, id);
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	err = exchange(client, msg, rt_parse_counters, ret);
	if (err)
		rt_counters_free(ret);
	return err;
}
