// SPDX-License-Identifier: GPL-2.0-or-later

/* raidtrace.ko itself: its state, insert and remove, with libkmod. */

#include "raidtrace.h"

#include <errno.h>
#include <libkmod.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define MODULE_NAME "raidtrace"

/* Failures are returned with our own text; libkmod prints nothing. */
static void silent(void *data, int priority, const char *file, int line,
		   const char *fn, const char *format, va_list args)
{
	(void)data;
	(void)priority;
	(void)file;
	(void)line;
	(void)fn;
	(void)format;
	(void)args;
}

static struct kmod_ctx *new_context(void)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);

	if (ctx)
		kmod_set_log_fn(ctx, silent, NULL);
	return ctx;
}

int rt_module_loaded(void)
{
	struct kmod_ctx *ctx = new_context();
	struct kmod_module *module;
	int ret;

	if (!ctx)
		return -ENOMEM;
	ret = kmod_module_new_from_name(ctx, MODULE_NAME, &module);
	if (!ret) {
		ret = kmod_module_get_initstate(module);
		if (ret == -ENOENT)
			ret = 0;
		else if (ret >= 0)
			ret = 1;
		kmod_module_unref(module);
	}
	kmod_unref(ctx);
	return ret;
}

/* Read a value of a module file. A signed module has the key "signer", or else "sig_id". */
static bool module_value(struct kmod_module *module, const char *key, char *ret,
			 size_t size)
{
	struct kmod_list *list = NULL, *item;
	bool has = false;

	if (kmod_module_get_info(module, &list) < 0)
		return false;
	kmod_list_foreach(item, list) {
		if (strcmp(kmod_module_info_get_key(item), key))
			continue;
		snprintf(ret, size, "%s", kmod_module_info_get_value(item));
		has = true;
	}
	kmod_module_info_free_list(list);
	return has;
}

static void module_signer(struct kmod_module *module, char *ret, size_t size)
{
	if (!module_value(module, "signer", ret, size) &&
	    !module_value(module, "sig_id", ret, size))
		ret[0] = '\0';
}

/* The kernel has one errno for a module without a signature and for one with an unknown signer. */
static void explain_signing(struct kmod_module *module, char *text, size_t size)
{
	struct rt_signing signing;
	char signer[128], why[96], advice[384];

	rt_signing_read("", &signing);
	if (!rt_signing_needed(&signing)) {
		snprintf(text, size, "not permitted; be root, with the capability CAP_SYS_MODULE");
		return;
	}
	rt_signing_why(&signing, why, sizeof(why));
	module_signer(module, signer, sizeof(signer));
	rt_signing_advice(&signing, kmod_module_get_path(module), signer,
			  advice, sizeof(advice));
	if (signer[0])
		snprintf(text, size, "this kernel accepts only signed modules (%s), and has no key of \"%s\"; %s",
			 why, signer, advice);
	else
		snprintf(text, size, "this kernel accepts only signed modules (%s), but this module is not signed; %s",
			 why, advice);
}

/* Explain the errno of an insertion, and name the remedy. */
static void explain(struct kmod_module *module, int err, char *text,
		    size_t size)
{
	char vermagic[128] = "another kernel";
	struct utsname uts;

	uname(&uts);
	switch (-err) {
	case ENOEXEC:
		module_value(module, "vermagic", vermagic, sizeof(vermagic));
		snprintf(text, size,
			 "it was built for %s, but this kernel is %s; build it for this kernel: make modules",
			 vermagic, uts.release);
		break;
	case EKEYREJECTED:
	case ENOKEY:
	case EPERM:
	case EACCES:
		explain_signing(module, text, size);
		break;
	case ENOENT:
		snprintf(text, size,
			 "a symbol or the file is missing; see the kernel log: dmesg | tail");
		break;
	case EINVAL:
	case EBADMSG:
		snprintf(text, size,
			 "not a kernel module, or a parameter is wrong; see the kernel log: dmesg | tail");
		break;
	default:
		snprintf(text, size, "%s; see the kernel log: dmesg | tail",
			 strerror(-err));
	}
}

static int find_module(struct kmod_ctx *ctx, const char *path,
		       struct kmod_module **ret, char *text, size_t size)
{
	struct utsname uts;
	int err;

	if (path) {
		err = kmod_module_new_from_path(ctx, path, ret);
		if (err)
			snprintf(text, size, "%s; name a raidtrace.ko",
				 strerror(-err));
		return err;
	}
	err = kmod_module_new_from_name(ctx, MODULE_NAME, ret);
	if (err || kmod_module_get_path(*ret))
		return err;
	kmod_module_unref(*ret);
	uname(&uts);
	snprintf(text, size,
		 "no raidtrace.ko under /lib/modules/%s; build it with make modules, then: raidctl load FILE",
		 uts.release);
	return -ENOENT;
}

int rt_module_find(const char *path, char *file, size_t size, char *signer,
		   size_t signer_size)
{
	struct kmod_ctx *ctx = new_context();
	struct kmod_module *module;
	char why[256];
	int err;

	file[0] = '\0';
	signer[0] = '\0';
	if (!ctx)
		return -ENOMEM;
	err = find_module(ctx, path, &module, why, sizeof(why));
	if (!err) {
		snprintf(file, size, "%s", kmod_module_get_path(module));
		module_signer(module, signer, signer_size);
		kmod_module_unref(module);
	}
	kmod_unref(ctx);
	return err;
}

int rt_module_load(const char *path, char *text, size_t size)
{
	struct kmod_ctx *ctx = new_context();
	struct kmod_module *module;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = find_module(ctx, path, &module, text, size);
	if (err)
		goto unref_context;
	if (strcmp(kmod_module_get_name(module), MODULE_NAME)) {
		err = -EINVAL;
		snprintf(text, size, "this is module %s; name a raidtrace.ko",
			 kmod_module_get_name(module));
		goto unref_module;
	}
	err = kmod_module_insert_module(module, 0, NULL);
	if (err)
		explain(module, err, text, size);

unref_module:
	kmod_module_unref(module);
unref_context:
	kmod_unref(ctx);
	return err;
}

int rt_module_unload(void)
{
	struct kmod_ctx *ctx = new_context();
	struct kmod_module *module;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = kmod_module_new_from_name(ctx, MODULE_NAME, &module);
	if (!err) {
		err = kmod_module_remove_module(module, 0);
		kmod_module_unref(module);
	}
	kmod_unref(ctx);
	/* A module in use gives either error. */
	return err == -EWOULDBLOCK ? -EBUSY : err;
}
