// SPDX-License-Identifier: GPL-2.0-or-later

/* Requirements of kernels on modules, read from synthetic machines, and the advice for them. */

#include "unit.h"

#include <sys/stat.h>

#include "raidtrace.h"

static char root[] = "/tmp/signing-XXXXXX";

static void write_bytes(const char *path, const char *bytes, size_t len)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

static void write_text(const char *path, const char *words)
{
	write_bytes(path, words, strlen(words));
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	return !mkdtemp(root);
}

static int remove_root(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

FIXTURE_TEST(nothing_known, make_root, remove_root)
{
	struct rt_signing signing;
	char why[96] = "of before";

	rt_signing_read(root, &signing);
	assert_int_equal(signing.enforced, -1);
	assert_int_equal(signing.lockdown, -1);
	assert_int_equal(signing.secure_boot, -1);
	assert_false(rt_signing_needed(&signing));
	rt_signing_why(&signing, why, sizeof(why));
	assert_string_equal(why, "");
}

#define LOCKDOWN "/sys/kernel/security/lockdown"
#define ENFORCE "/sys/module/module/parameters/sig_enforce"
#define SECURE "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

FIXTURE_TEST(each_reason, make_root, remove_root)
{
	struct rt_signing signing;
	char why[96];

	write_text(LOCKDOWN, "[none] integrity confidentiality\n");
	write_text(ENFORCE, "N\n");
	write_bytes(SECURE, "\6\0\0\0\0", 5);
	rt_signing_read(root, &signing);
	assert_int_equal(signing.lockdown, 0);
	assert_int_equal(signing.enforced, 0);
	assert_int_equal(signing.secure_boot, 0);
	assert_false(rt_signing_needed(&signing));
	/* Secure boot alone refuses no module: the kernel must also be locked down. */
	write_bytes(SECURE, "\6\0\0\0\1", 5);
	rt_signing_read(root, &signing);
	assert_int_equal(signing.secure_boot, 1);
	assert_false(rt_signing_needed(&signing));
	write_text(LOCKDOWN, "none [integrity] confidentiality\n");
	rt_signing_read(root, &signing);
	assert_true(rt_signing_needed(&signing));
	write_text(LOCKDOWN, "none integrity [confidentiality]\n");
	write_text(ENFORCE, "Y\n");
	rt_signing_read(root, &signing);
	rt_signing_why(&signing, why, sizeof(why));
	assert_string_equal(why, "secure boot, lockdown confidentiality, module.sig_enforce");
	/* Text that does not fit is cut. */
	memset(why, 'x', sizeof(why));
	rt_signing_why(&signing, why, 14);
	assert_string_equal(why, "secure boot, ");
	assert_int_equal(why[14], 'x');
	write_text(LOCKDOWN, "[none] integrity confidentiality\n");
	rt_signing_read(root, &signing);
	assert_true(rt_signing_needed(&signing));
}

FIXTURE_TEST(advice, make_root, remove_root)
{
	struct rt_signing signing;
	char advice[384];

	rt_signing_read(root, &signing);
	rt_signing_advice(&signing, NULL, NULL, advice, sizeof(advice));
	assert_non_null(strstr(advice, "apt install raidtrace-dkms"));
	rt_signing_advice(&signing, "/x/raidtrace.ko", "somebody", advice, sizeof(advice));
	assert_non_null(strstr(advice, "mokutil --import ITS-CERTIFICATE.der; reboot"));
	write_text("/var/lib/shim-signed/mok/MOK.der", "x");
	rt_signing_read(root, &signing);
	assert_string_equal(signing.key, "/var/lib/shim-signed/mok/MOK.priv");
	write_text("/var/lib/dkms/mok.pub", "x");
	rt_signing_read(root, &signing);
	assert_string_equal(signing.key, "/var/lib/dkms/mok.key");
	rt_signing_advice(&signing, "/x/raidtrace.ko", "", advice, sizeof(advice));
	assert_non_null(strstr(advice, "sign-file sha256 /var/lib/dkms/mok.key /var/lib/dkms/mok.pub /x/raidtrace.ko"));
	rt_signing_advice(&signing, "/x/raidtrace.ko", "DKMS key", advice, sizeof(advice));
	assert_non_null(strstr(advice, "mokutil --import /var/lib/dkms/mok.pub; reboot"));
	assert_null(strstr(advice, "sign-file"));
}

FIXTURE_TEST(enrolled, make_root, remove_root)
{
	assert_int_equal(rt_signing_enrolled(root, "DKMS key"), -1);
	write_text("/proc/keys", "1 I--Q--- 1 perm 1f 0 0 keyring DKMS key: 1\n");
	assert_int_equal(rt_signing_enrolled(root, "DKMS key"), -1);
	write_text("/proc/keys", "1 I------ 1 perm 1f 0 0 asymm" "etri Debian CA: 6cce: X509.rsa 1 []\n");
	assert_int_equal(rt_signing_enrolled(root, "DKMS key"), 0);
	assert_int_equal(rt_signing_enrolled(root, "Debian CA"), 1);
}
