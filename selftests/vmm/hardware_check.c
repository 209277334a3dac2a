// SPDX-License-Identifier: GPL-2.0-only
/*
 * hardware_check: runs each mode of kvm_pt with a guest of its own and prints a report of
 * what the processor has, what was traced, and what was refused. scripts/hardware-check
 * starts it, and loads what it needs.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"

#define AUX_BYTES	(16ul << 20)	/* no one reads it meanwhile */
#define SMALL_BYTES	(64ul << 10)
#define ROUNDS		200
#define LONG_ROUNDS	5000
#define KINDS		"pio_out,pio_in,mmio_read,mmio_write,cpuid,rdmsr,wrmsr,hypercall,hlt,npf"

static const struct {
	const char *name;
	u32 msr;
} msrs[] = {
	{ "IA32_RTIT_CTL", 0x570 }, { "IA32_RTIT_STATUS", 0x571 },
	{ "IA32_RTIT_OUTPUT_BASE", 0x560 }, { "IA32_RTIT_OUTPUT_MASK_PTRS", 0x561 },
	{ "IA32_RTIT_CR3_MATCH", 0x572 }, { "IA32_RTIT_ADDR0_A", 0x580 },
	{ "IA32_RTIT_ADDR0_B", 0x581 }, { "IA32_RTIT_ADDR1_A", 0x582 },
	{ "IA32_RTIT_ADDR1_B", 0x583 }, { "IA32_VMX_MISC", 0x485 },
	{ "IA32_VMX_TRUE_EXIT_CTLS", 0x48f }, { "IA32_VMX_TRUE_ENTRY_CTLS", 0x490 },
};

struct msr_values {
	u64 value[ARRAY_SIZE(msrs)];
	bool there[ARRAY_SIZE(msrs)];
};

static struct {
	unsigned int ok, failed, refused;
} results;

static bool read_msrs(struct msr_values *values)
{
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	size_t i;

	memset(values, 0, sizeof(*values));
	for (i = 0; fd >= 0 && i < ARRAY_SIZE(msrs); i++)
		values->there[i] = pread(fd, &values->value[i], sizeof(u64), msrs[i].msr) ==
				   sizeof(u64);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void print_line_of(const char *path, const char *key)
{
	char *text = file_read(path), *line = text ? strstr(text, key) : NULL;

	if (line)
		printf("%.*s\n", (int)strcspn(line, "\n"), line);
	free(text);
}

static void print_file(const char *path)
{
	char *text = file_read(path);

	if (text)
		printf("%s: %.*s\n", path, (int)strcspn(text, "\n"), text);
	free(text);
}

static void print_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char file[512];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		print_file(file);
	}
	if (dir)
		closedir(dir);
}

static void print_machine(void)
{
	static const char * const keys[] = {
		"vendor_id", "cpu family", "model\t", "model name", "stepping", "microcode",
	};
	struct msr_values now;
	struct utsname uts;
	size_t i;

	uname(&uts);
	printf("kernel: %s %s\n", uts.release, uts.version);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		print_line_of("/proc/cpuinfo", keys[i]);
	printf("CPUs: %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
	print_file("/proc/sys/kernel/tainted");
	print_file("/sys/module/kvm_trace/version");
	print_file("/sys/module/kvm_trace/srcversion");
	print_file("/sys/module/kvm_intel/parameters/pt_mode");
	print_directory(PMU_DEVICES INTEL_PT "/caps");
	print_directory(PMU_DEVICES KVM_PT "/caps");
	if (!read_msrs(&now))
		printf("/dev/cpu/0/msr: not there, so MSRs are not compared\n");
	for (i = 0; i < ARRAY_SIZE(msrs); i++) {
		if (now.there[i])
			printf("%s: 0x%llx\n", msrs[i].name, now.value[i]);
	}
}

/* The words of the kernel log for what perf_event_open() refused. */
static void print_refusal(int err)
{
	char *line = klog_line("kvm_trace");

	printf("refused: %s: %s\n", strerror(-err), line ?: "the kernel log says nothing of it");
	free(line);
	results.refused++;
}

/* Returns false, and says so, if a register is not what it was. */
static bool msrs_equal(const struct msr_values *before)
{
	struct msr_values after;
	bool equal = true;
	size_t i;

	read_msrs(&after);
	for (i = 0; i < ARRAY_SIZE(msrs); i++) {
		if (before->value[i] == after.value[i])
			continue;
		printf(" %s was 0x%llx, is 0x%llx;", msrs[i].name, before->value[i],
		       after.value[i]);
		equal = false;
	}
	return equal;
}

static void print_packets(const struct pt_packets *p, enum pt_owner owner, const char *name)
{
	printf(" %s: %llu PIP, %llu TNT, %llu addresses, %llu of the kernel, 0x%llx to 0x%llx;",
	       name, p->pip[owner], p->tnt[owner], p->tip[owner], p->kernel[owner], p->low[owner],
	       p->high[owner]);
}

/* What must hold of a stream; prints what does not. */
static bool stream_good(const struct pt_event *event, enum pt_stream stream, enum pt_method method,
			bool full)
{
	struct pt_packets p;
	bool good = true;

#define MUST(condition, words) do {	\
		if (!(condition)) {	\
			printf(" %s", words);	\
			good = false;	\
		}			\
	} while (0)

	pt_count(event, &p);
	printf(" %s stream: %zu bytes, %llu AUX records, %llu truncated, %llu partial;",
	       stream == PT_STREAM_HOST ? "host" : "guest", event->size, event->records,
	       event->truncated, event->partial);
	printf(" %llu PSB, %llu OVF;", p.psb, p.ovf);
	print_packets(&p, PT_OF_HOST, "NR=0");
	print_packets(&p, PT_OF_GUEST, "NR=1");
	MUST(!p.bad, "NO PACKET at some byte;");
	MUST(p.psb, "NO PSB;");
	MUST(full == !!event->truncated, full ? "NO LOSS TOLD;" : "LOSS;");
	if (stream == PT_STREAM_HOST) {
		MUST(p.kernel[PT_OF_HOST], "NO HOST CODE;");
		MUST(!p.pip[PT_OF_GUEST] && !p.tip[PT_OF_GUEST], "GUEST CODE in it;");
		return good;
	}
	MUST(p.tip[PT_OF_GUEST], "NO GUEST CODE;");
	MUST(!p.kernel[PT_OF_GUEST], "HOST CODE with NR=1;");
	if (method == PT_METHOD_VMCS)
		MUST(!p.tip[PT_OF_HOST] && !p.tnt[PT_OF_HOST], "HOST CODE in it;");
#undef MUST
	return good;
}

static const struct check {
	const char *name;
	enum pt_mode mode;
	bool thread;
	size_t aux_bytes;
	unsigned int flags;
	u64 rounds;
} checks[] = {
	{ "guest, one thread", PT_MODE_GUEST, true, AUX_BYTES, 0, ROUNDS },
	{ "guest, one CPU", PT_MODE_GUEST, false, AUX_BYTES, 0, ROUNDS },
	{ "guest, snapshot", PT_MODE_GUEST, true, SMALL_BYTES, PT_SNAPSHOT, ROUNDS },
	{ "guest, full area", PT_MODE_GUEST, true, SMALL_BYTES, 0, LONG_ROUNDS },
	{ "host, one CPU", PT_MODE_HOST, false, AUX_BYTES, 0, ROUNDS },
	{ "host_guest, one CPU", PT_MODE_HOST_GUEST, false, AUX_BYTES, 0, ROUNDS },
};

static int open_stream(struct pt_event *event, const struct check *check, enum pt_stream stream,
		       enum pt_method method)
{
	char terms[PT_TERMS_BYTES];

	pt_terms(terms, check->mode, stream, method, stream);
	return pt_open(event, KVM_PT, terms, check->thread ? 0 : -1, check->thread ? -1 : 0,
		       check->aux_bytes, check->flags);
}

static bool run_opened(const struct check *check, enum pt_method method, struct pt_event *host,
		       struct pt_event *guest, const struct msr_values *before)
{
	const bool full = check->rounds == LONG_ROUNDS;
	bool good = true;
	u64 exits;

	exits = pt_run_kinds(KINDS, check->rounds, 0);
	printf("%llu exits;", exits);
	if (guest) {
		pt_stop(guest);
		good &= stream_good(guest, PT_STREAM_GUEST, method, full);
		pt_close(guest);
	}
	if (host) {
		pt_stop(host);
		good &= stream_good(host, PT_STREAM_HOST, method, full);
		pt_close(host);
	}
	if (msrs_equal(before))
		printf(" MSRs are as before");
	else
		good = false;
	return good;
}

static void run_check(const struct check *check, enum pt_method method)
{
	const bool host_too = check->mode != PT_MODE_GUEST, guest_too = check->mode != PT_MODE_HOST;
	struct pt_event host, guest;
	struct msr_values before;
	bool good;
	int err = 0;

	printf("\n%s, method %s: ", check->name, guest_too ? pt_method_name(method) : "none");
	fflush(stdout);
	klog_mark();
	read_msrs(&before);
	if (host_too)
		err = open_stream(&host, check, PT_STREAM_HOST, guest_too ? method : 0);
	if (!err && guest_too) {
		err = open_stream(&guest, check, PT_STREAM_GUEST, method);
		if (err && host_too)
			pt_close(&host);
	}
	if (err) {
		print_refusal(err);
		return;
	}
	good = run_opened(check, method, host_too ? &host : NULL, guest_too ? &guest : NULL,
			  &before);
	printf("\n  %s\n", good ? "ok" : "FAILED");
	results.ok += good;
	results.failed += !good;
}

int main(void)
{
	enum pt_method method;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	run_on_cpu(0);
	print_machine();
	for (method = PT_METHOD_VMCS; method < PT_METHODS; method++) {
		for (i = 0; i < ARRAY_SIZE(checks); i++) {
			/* It has no method. */
			if (checks[i].mode != PT_MODE_HOST || method == PT_METHOD_VMCS)
				run_check(&checks[i], method);
		}
	}
	printf("\nresult: %u ok, %u failed, %u refused\n", results.ok, results.failed,
	       results.refused);
	return results.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
