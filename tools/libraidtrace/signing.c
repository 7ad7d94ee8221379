// SPDX-License-Identifier: GPL-2.0-or-later

/* Modules that this kernel accepts, and how to make one acceptable. */

#include "raidtrace.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Signing keys of DKMS on Debian and Fedora, and of Ubuntu's shim-signed. */
static const char *const keys[][2] = {
	{ "/var/lib/dkms/mok.key", "/var/lib/dkms/mok.pub" },
	{ "/var/lib/shim-signed/mok/MOK.priv", "/var/lib/shim-signed/mok/MOK.der" },
};

static const char secure_boot[] =
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/* Read the start of a file. Return: its length, -1 if it cannot be read. */
static int head_of(const char *root, const char *path, char *ret, size_t size)
{
	char whole[512];
	FILE *file;
	size_t len;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	file = fopen(whole, "re");
	if (!file)
		return -1;
	len = fread(ret, 1, size - 1, file);
	fclose(file);
	ret[len] = '\0';
	return (int)len;
}

static int read_lockdown(const char *root)
{
	char text[128];

	/* "none [integrity] confidentiality" */
	if (head_of(root, "/sys/kernel/security/lockdown", text, sizeof(text)) <= 0)
		return -1;
	return strstr(text, "[confidentiality]") ? 2 :
	       strstr(text, "[integrity]") ? 1 : 0;
}

void rt_signing_read(const char *root, struct rt_signing *ret)
{
	char text[16], path[512];
	int len;

	memset(ret, 0, sizeof(*ret));
	ret->lockdown = read_lockdown(root);
	len = head_of(root, "/sys/module/module/parameters/sig_enforce", text,
		      sizeof(text));
	ret->enforced = len <= 0 ? -1 : text[0] == 'Y';
	/* Four bytes of attributes, one of value. */
	len = head_of(root, secure_boot, text, sizeof(text));
	ret->secure_boot = len < 5 ? -1 : text[4] == 1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, keys[i][1]);
		if (ret->cert[0] || access(path, F_OK))
			continue;
		snprintf(ret->key, sizeof(ret->key), "%s", keys[i][0]);
		snprintf(ret->cert, sizeof(ret->cert), "%s", keys[i][1]);
	}
}

bool rt_signing_needed(const struct rt_signing *signing)
{
	return signing->enforced > 0 || signing->lockdown > 0;
}

void rt_signing_why(const struct rt_signing *signing, char *ret, size_t size)
{
	static const char *const levels[] = {
		"", "lockdown integrity", "lockdown confidentiality",
	};
	const char *const parts[] = {
		signing->secure_boot > 0 ? "secure boot" : "",
		signing->lockdown > 0 ? levels[signing->lockdown] : "",
		signing->enforced > 0 ? "module.sig_enforce" : "",
	};
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i][0] && len < size)
			len += (size_t)snprintf(ret + len, size - len, "%s%s",
						len ? ", " : "", parts[i]);
}

void rt_signing_advice(const struct rt_signing *signing, const char *file,
		       const char *signer, char *ret, size_t size)
{
	struct utsname kernel;

	uname(&kernel);
	if (signer && signer[0])
		snprintf(ret, size, "enrol the key of its signer: mokutil --import %s; reboot, and choose \"Enroll MOK\" with the password given",
			 signing->cert[0] ? signing->cert : "ITS-CERTIFICATE.der");
	else if (signing->cert[0])
		snprintf(ret, size, "sign it: /lib/modules/%s/build/scripts/sign-file sha256 %s %s %s; then enrol that key once: mokutil --import %s, and reboot",
			 kernel.release, signing->key, signing->cert,
			 file ? file : "raidtrace.ko", signing->cert);
	else
		snprintf(ret, size, "let DKMS build and sign it: apt install raidtrace-dkms, or dkms install in the checkout; then enrol its key once: mokutil --import %s, and reboot",
			 keys[0][1]);
}

int rt_signing_enrolled(const char *root, const char *signer)
{
	char path[512], line[1024];
	bool any = false, enrolled = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/keys", root);
	file = fopen(path, "re");
	while (file && !enrolled && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " asymmetr"))
			continue;
		any = true;
		enrolled = strstr(line, signer);
	}
	if (file)
		fclose(file);
	return any ? enrolled : -1;
}
