// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl exporter: the counters of disks over HTTP, for Prometheus: attached ones, or those that it counts by BPF. */

#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/source.h"
#include "base/base.h"
#include "cgroups.h"
#include "export/openmetrics.h"
#include "raidtrace.h"
#include "record/record.h"
#include "report/losses.h"
#include "version.h"

#define DEFAULT_LISTEN	"127.0.0.1:9809"
#define OPENMETRICS	"application/openmetrics-text; version=1.0.0; charset=utf-8"
#define PLAIN		"text/plain; charset=utf-8"

/* Scrapes at a time, and seconds of silence until a connection is closed. */
#define CONNECTIONS	16U
#define PATIENCE_S	10U

struct exporter {
	const char *listen;
	const char *source;
	struct words disks;
	bool cgroups;
	struct recorder own;	/* counts by BPF programs; without a client, each scrape asks the module */
};

const char *argp_program_version = "raidctl " RAIDTRACE_VERSION;
error_t argp_err_exit_status = EXIT_USAGE;

static const struct argp_option options[] = {
	{ "listen", 'l', "ADDRESS:PORT", 0, "Listen at this address (default " DEFAULT_LISTEN ")", 0 },
	{ "cgroups", 'g', NULL, 0,
	  "Also serve the I/O of each cgroup; needs CAP_PERFMON and CAP_DAC_READ_SEARCH", 0 },
	OPTION_SOURCE,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct exporter *given = state->input;

	switch (key) {
	case 'l':
		given->listen = arg;
		return 0;
	case 'g':
		given->cgroups = true;
		return 0;
	case KEY_SOURCE:
		given->source = source_parse(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&given->disks, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static void write_loaded(FILE *to, int loaded)
{
	metric_head(to, "module_loaded", "gauge", NULL,
		    "0: the module is not loaded, and nothing is counted");
	fprintf(to, "raidtrace_module_loaded %d\n", loaded);
}

/* Name the source, and the events of each disk that it lost: they are missing in the counters. */
static void write_source(FILE *to, struct rt_client *client)
{
	metric_head(to, "source_info", "gauge", NULL, "label source: module, or bpf for BPF programs of the exporter");
	fprintf(to, "raidtrace_source_info{source=\"%s\"} 1\n", rt_source_name(client));
}

static void write_lost(FILE *to, const struct span *span, const char *kind, uint64_t nr)
{
	fputs("raidtrace_lost_events_total", to);
	metric_labels(to, span->disk, "kind", kind);
	fprintf(to, "} %" PRIu64 "\n", nr);
}

/* With the module nothing is lost. */
static int write_losses(FILE *to, struct rt_client *client, const struct span *spans, size_t nr)
{
	struct losses losses = { 0 };

	if (!source_is_own(client))
		return 0;
	metric_head(to, "lost_events", "counter", "events",
		    "events that are missing in the counters: records without room by kind, undelivered ends of requests");
	for (size_t i = 0; i < nr; i++) {
		int err = losses_get(client, spans[i].counters.id, &spans[i].counters, &losses);

		if (err)
			return err;
		for (unsigned int kind = 0; kind < RT_RECORDS; kind++)
			write_lost(to, &spans[i], rt_record_name(kind), losses.lost.records[kind]);
		write_lost(to, &spans[i], "undelivered-end", losses.undelivered);
	}
	metric_head(to, "missed_events", "counter", "events",
		    "events of any disk that are missing in the counters: they interrupted another");
	fprintf(to, "raidtrace_missed_events_total %" PRIu64 "\n", losses.lost.missed);
	return 0;
}

/* Every attached disk as a span; one that is detached meanwhile is left out. */
static int read_spans(struct rt_client *client, const struct rt_target *targets,
		      size_t nr, bool cgroups, struct span *spans, size_t *nr_spans)
{
	for (size_t i = 0; i < nr; i++) {
		struct span *span = &spans[*nr_spans];
		int err = rt_counters_get(client, targets[i].id,
					  &span->counters);

		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		span->disk = targets[i].disk;
		(*nr_spans)++;
		if (cgroups && cgroups_follow(&span->counters))
			return -ENOMEM;
	}
	cgroups_scraped();
	return 0;
}

static int write_live(struct rt_client *client, bool cgroups, FILE *to)
{
	struct utsname machine = { 0 };
	struct metric_info info = {
		.hostname = machine.nodename, .kernel = machine.release,
		.tool_version = RAIDTRACE_VERSION,
	};
	struct rt_target *targets = NULL;
	size_t nr, nr_spans = 0;
	struct span *spans = NULL;
	int err;

	uname(&machine);
	err = rt_target_list(client, &nr, &targets);
	if (!err) {
		spans = calloc(nr + 1, sizeof(*spans));
		err = spans ? read_spans(client, targets, nr, cgroups, spans, &nr_spans) : -ENOMEM;
	}
	if (!err && !source_is_own(client))
		write_loaded(to, 1);
	if (!err) {
		write_source(to, client);
		err = write_losses(to, client, spans, nr_spans);
	}
	if (!err)
		err = openmetrics_write(to, &info, spans, nr_spans);
	for (size_t i = 0; i < nr_spans; i++)
		rt_counters_free(&spans[i].counters);
	free(spans);
	free(targets);
	return err;
}

/*
 * Each scrape connects again: the module can be unloaded, loaded again and replaced meanwhile. A connection needs no
 * privilege. A module that is not loaded is no failure. @why gets the reason of a failure.
 */
static int write_module(FILE *to, bool cgroups, char *why, size_t size)
{
	struct rt_client *client;
	struct rt_info info;
	int err = rt_open(&client);

	if (err == -ENOENT) {
		cgroups_scraped();
		write_loaded(to, 0);
		fputs("# EOF\n", to);
		return 0;
	}
	if (err) {
		snprintf(why, size, "netlink: %s", strerror(-err));
		return err;
	}
	err = rt_info_get(client, &info);
	if (!err && info.abi != RAIDTRACE_ABI) {
		err = -EPROTO;
		snprintf(why, size, "the loaded module has ABI %u, this raidctl has ABI %u; load the module of the same version: raidctl unload, then raidctl load FILE",
			 info.abi, RAIDTRACE_ABI);
	} else if (!err) {
		err = write_live(client, cgroups, to);
	}
	if (err && !why[0])
		snprintf(why, size, "the module: %s", rt_reason(client, err));
	rt_close(client);
	return err;
}

static int write_metrics(FILE *to, const struct exporter *exporter, char *why, size_t size)
{
	int err;

	if (!exporter->own.client)
		return write_module(to, exporter->cgroups, why, size);
	err = write_live(exporter->own.client, exporter->cgroups, to);
	if (err)
		snprintf(why, size, "BPF programs: %s", rt_reason(exporter->own.client, err));
	return err;
}

/* Return: text to free(); NULL after a failure. */
static char *metrics_text(const struct exporter *exporter, size_t *size,
			  char *why, size_t why_size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);
	int err;

	why[0] = '\0';
	if (!to) {
		snprintf(why, why_size, "%s", strerror(errno));
		return NULL;
	}
	err = write_metrics(to, exporter, why, why_size);
	if (fclose(to) && !err)
		err = -errno;
	if (!err)
		return text;
	if (!why[0])
		snprintf(why, why_size, "%s", strerror(-err));
	free(text);
	return NULL;
}

static enum MHD_Result answer(struct MHD_Connection *connection,
			      unsigned int status, const char *type,
			      char *text, size_t size, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection,
			      unsigned int status, const char *text)
{
	return answer(connection, status, PLAIN, (char *)text, strlen(text),
		      MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result handle(void *data, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	const struct exporter *exporter = data;
	char why[256], message[300], *text;
	size_t size;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "this server answers only GET and HEAD\n");
	if (strcmp(url, "/metrics"))
		return refuse(connection, MHD_HTTP_NOT_FOUND,
			      "raidtrace's counters are at /metrics\n");
	text = metrics_text(exporter, &size, why, sizeof(why));
	if (!text) {
		fail("exporter: %s", why);
		snprintf(message, sizeof(message), "%s\n", why);
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, message);
	}
	return answer(connection, MHD_HTTP_OK, OPENMETRICS, text, size,
		      MHD_RESPMEM_MUST_FREE);
}

/* ADDRESS:PORT or [ADDRESS]:PORT of numbers; the address of a name may change. */
static int find_address(const char *listen, struct addrinfo **ret)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(listen, ':');
	char address[INET6_ADDRSTRLEN + 2];
	size_t len = colon ? (size_t)(colon - listen) : 0;
	int err = EAI_NONAME;

	if (len && listen[0] == '[' && colon[-1] == ']') {
		listen++;
		len -= 2;
	}
	if (len && len < sizeof(address) && atoi(colon + 1) <= 0xffff) {
		snprintf(address, sizeof(address), "%.*s", (int)len, listen);
		err = getaddrinfo(address, colon + 1, &hints, ret);
	}
	return err ? -EINVAL : 0;
}

/* Return: a listening socket, or -1. MHD could open it, but does not always report the reason of a failure. */
static int listening(const struct addrinfo *address)
{
	int one = 1;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (!bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, CONNECTIONS))
		return fd;
	one = errno;
	close(fd);
	errno = one;
	return -1;
}

/* The server's own thread inherits that signals are blocked. */
static int serve(const struct addrinfo *address, struct exporter *exporter)
{
	const char *listen = exporter->listen;
	unsigned int flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD |
		(address->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	struct MHD_Daemon *daemon;
	sigset_t ends;
	int got, fd;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	fd = listening(address);
	if (fd < 0)
		return fail("exporter: %s: %s%s", listen, strerror(errno),
			    errno == EADDRINUSE ?
			    "; another exporter may be running; to use another port: --listen" : "");
	daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, exporter,
				  MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				  MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE_S,
				  MHD_OPTION_END);
	if (!daemon)
		return fail("exporter: %s: the server cannot start", listen);
	terminal_print(stdout, "http://%s/metrics\n", listen);
	/* The address is only information: continue to serve the counters without it. */
	if (fflush(stdout) || ferror(stdout))
		fail("exporter: standard output: %s; the exporter continues",
		     strerror(errno));
	sigwait(&ends, &got);
	MHD_stop_daemon(daemon);
	return EXIT_DONE;
}

/*
 * Count disks by BPF programs if they are chosen. Without a name of a disk this needs --source, because an exporter
 * that waits for the module needs no privilege. Return: 0 or an exit status.
 */
static int count_disks(struct exporter *exporter)
{
	const char *chosen = source_chosen(exporter->source);
	struct rt_info info;
	int status;

	if (!strcmp(chosen, SOURCE_MODULE) && exporter->disks.nr)
		return usage_error("exporter: %s: the module serves all attached disks; leave out the name, or count the disk by BPF programs: --source bpf",
				   exporter->disks.word[0]);
	if (!strcmp(chosen, SOURCE_MODULE))
		return 0;
	if (!exporter->source && !exporter->disks.nr) {
		note("raidtrace is not loaded, and nothing is counted until it is; to count by BPF programs: raidctl exporter DISK");
		return 0;
	}
	status = source_open(exporter->source, &exporter->own.client, &info);
	return status ? status : recorder_attach_words(&exporter->own, &exporter->disks, "exporter");
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[DISK...]",
		"Serve the counters of disks to Prometheus at http://" DEFAULT_LISTEN "/metrics, until Ctrl-C: those of all attached disks, or each DISK by BPF programs where the module is not loaded. The exporter changes nothing. With the module and without CAP_PERFMON it serves only the counter group flow.\v"
		"There is no password: anyone who can reach the address can read the names of the disks and their counters.",
		NULL, NULL, NULL,
	};
	struct exporter exporter = { .listen = DEFAULT_LISTEN, .own.owner = -1 };
	struct addrinfo *address = NULL;
	char name[] = "raidctl exporter";
	int status = EXIT_DONE;

	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &exporter))
		return EXIT_USAGE;
	if (find_address(exporter.listen, &address))
		return usage_error("exporter: --listen %s: not an ADDRESS:PORT of numbers, as " DEFAULT_LISTEN,
				   exporter.listen);
	/* Without the privilege the module gives one row for all processes. */
	if (exporter.cgroups && !may_observe())
		status = fail("exporter: --cgroups needs CAP_PERFMON: others may not read the processes and their bios");
	if (!status)
		status = count_disks(&exporter);
	if (!status)
		status = serve(address, &exporter);
	recorder_detach(&exporter.own);
	recorder_free(&exporter.own);
	rt_close(exporter.own.client);
	free(exporter.disks.word);
	freeaddrinfo(address);
	return status;
}
