// SPDX-License-Identifier: GPL-2.0-or-later

/* Netlink to raidtrace.ko: the socket, requests and their replies. */

#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

/* Upper limit of a snapshot: twice the module's account of one disk. */
#define MESSAGE_BYTES	(256 << 10)

/* Room for a request that changes nothing: its headers and a few numbers. */
#define QUERY_BYTES	256

/* One request and its replies. */
struct request {
	struct rt_client *client;	/* the socket, takes the extack text */
	/* called for each reply, NULL when none is expected */
	int (*parse)(struct nlmsghdr *nlh, void *ret);
	void *ret;	/* destination of @parse */
	uint32_t sequence;	/* of its messages; others belong to an abandoned request */
	bool single;	/* the first reply is the last message; no acknowledgment was requested */
	int err;	/* -errno so far */
	bool done;	/* the last message was received */
};

/* Convert the error numbers of libnl that a request can cause. */
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
	client->source = &rt_module_source;
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
	nl_socket_set_buffer_size(client->socket, 1 << 20, 0);
	nl_socket_disable_auto_ack(client->socket);
	fd = nl_socket_get_fd(client->socket);
	/* Without these options, only the kernel's reasons are lost. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	*ret = client;
	return 0;

close:
	rt_close(client);
	return errno_of(err);
}

void rt_exchange_close(struct rt_client *client)
{
	nl_socket_free(client->socket);
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

struct nl_msg *rt_request(struct rt_client *client, uint8_t command, int flags)
{
	/* Only a request that changes something can be long. libnl clears the memory. */
	struct nl_msg *msg = flags & NLM_F_ACK ? nlmsg_alloc() : nlmsg_alloc_size(QUERY_BYTES);

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, client->family, 0,
			 flags, command, RAIDTRACE_FAMILY_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/*
 * A snapshot with all its bins is larger than libnl's buffer, which is cleared each time. Most messages are short; when
 * memory of the full size is freed, malloc() merges all free memory.
 */
static int receive(struct nl_sock *socket, struct sockaddr_nl *from,
		   unsigned char **ret, struct ucred **credentials)
{
	unsigned char message[MESSAGE_BYTES];
	struct iovec iov = { .iov_base = message, .iov_len = sizeof(message) };
	struct msghdr msg = {
		.msg_name = from, .msg_namelen = sizeof(*from),
		.msg_iov = &iov, .msg_iovlen = 1,
	};
	ssize_t len;

	(void)credentials;
	do
		len = recvmsg(nl_socket_get_fd(socket), &msg, 0);
	while (len < 0 && errno == EINTR);
	if (len > 0 && !(msg.msg_flags & MSG_TRUNC)) {
		*ret = malloc((size_t)len);
		if (!*ret)
			return -NLE_NOMEM;
		memcpy(*ret, message, (size_t)len);
		return (int)len;
	}
	return len < 0 ? -nl_syserr2nlerr(errno) : len ? -NLE_MSG_TRUNC : 0;
}

int rt_exchange(struct rt_client *client, struct nl_msg *msg,
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
	nl_cb_overwrite_recv(cb, receive);
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
