// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: who may record is who may record KVM's own events. An ordinary user has the
 * content of none of ours, unless perf_event_paranoid is -1; with CAP_PERFMON or as root,
 * one has them at each value that the kernel takes that capability for. An ordinary user
 * writes no parameter of the module and reads no file of its events. With "pt", the same of
 * kvm_pt, which takes the capability at every value; with "lockdown", what is left in a
 * kernel that is locked down, as it stays: so that is the last test of its boot.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "records.h"
#include "tap.h"
#include "user.h"

#define SECURITY	"/sys/kernel/security"
#define LOCKDOWN	SECURITY "/lockdown"
#define RING_BYTES	(64 * PAGE_BYTES)
#define KINDS		"cpuid,pio_out"
#define ROUNDS		20
/* Debian's: no event at all without CAP_SYS_ADMIN or, in some kernels, CAP_PERFMON. */
#define PARANOID_DEBIAN	3
#define PARANOID_LEAST	-1

static struct {
	const char *system, *name;
	struct trace_event event;
} events[] = {
	{ "kvm", "kvm_exit", {} },	/* with which the others are compared */
	{ "kvm_trace", "vmexit", {} },
	{ "kvm_trace", "hypercall", {} },
	{ "kvm_trace", "vcpu", {} },
	{ "kvm_trace", "lost", {} },
	{ "kvm_trace_detail", "hypercall_sub", {} },
	{ "kvm_trace_detail", "pt", {} },
	{ "kvm_trace_batch", "vmexits", {} },
};

enum user { USER, USER_WITH_PERFMON, ROOT, USERS };

static const char *const user_names[USERS] = {
	"an ordinary user", "a user with CAP_PERFMON", "root",
};

/* What is tried, and up to which perf_event_paranoid an ordinary user may do it. */
static const struct attempt {
	const char *what;
	bool raw, own_thread, exclude_kernel;
	int up_to;
} attempts[] = {
	{ "the content of all of a CPU", true, false, false, -1 },
	{ "the content of a thread's own", true, true, false, -1 },
	{ "the content of a thread's own without the kernel's", true, true, true, -1 },
	{ "the number of a CPU's", false, false, false, 0 },
	{ "the number of a thread's own", false, true, false, 1 },
	{ "the number of a thread's own without the kernel's", false, true, true, 2 },
};

struct trial {
	const struct attempt *attempt;
	int id;
};

static int open_event(const struct attempt *attempt, int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = attempt->raw,
		.sample_type = attempt->raw ? PERF_SAMPLE_RAW : 0,
		.exclude_kernel = attempt->exclude_kernel,
	};
	int fd = syscall(SYS_perf_event_open, &attr, attempt->own_thread ? 0 : -1,
			 attempt->own_thread ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int try_open(void *arg)
{
	const struct trial *trial = arg;
	int fd = open_event(trial->attempt, trial->id);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_as(enum user user, int (*fn)(void *arg), void *arg)
{
	return user == ROOT ? fn(arg) : as_user(user == USER_WITH_PERFMON, RLIM_INFINITY, fn, arg);
}

static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES;
}

static void test_opened(enum user user, int paranoid)
{
	struct trial trial;
	int err, kvm;
	size_t i, k;

	tap_begin("opened_by_whom_kvms_events_are: %s, perf_event_paranoid %d", user_names[user],
		  paranoid);
	set_paranoid(paranoid);
	for (k = 0; k < ARRAY_SIZE(attempts); k++) {
		trial.attempt = &attempts[k];
		for (i = 0, kvm = 0; i < ARRAY_SIZE(events); i++) {
			trial.id = events[i].event.id;
			err = try_as(user, try_open, &trial);
			kvm = i ? kvm : err;
			tap_expect((!err || is_refusal(err)) && !err == !kvm,
				   "%s, %s: %d, of kvm_exit %d", events[i].name,
				   attempts[k].what, err, kvm);
		}
		if (user == USER)
			tap_expect(!kvm == (paranoid <= attempts[k].up_to), "%s: %d",
				   attempts[k].what, kvm);
		else if (user == ROOT || paranoid < PARANOID_DEBIAN)
			tap_expect(!kvm, "%s: %d", attempts[k].what, kvm);
	}
	tap_end();
}

/* Opens vmexit on this CPU, tells the parent, waits for its guest, and wants records. */
struct reader {
	int id, ready[2], done[2];
};

static int read_records(void *arg)
{
	const struct reader *r = arg;
	struct perf_event_mmap_page *page;
	char token = 0;
	int fd;

	fd = open_event(&attempts[0], r->id);
	if (fd < 0)
		return fd;
	page = mmap(NULL, PAGE_BYTES + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (write(r->ready[1], &token, 1) != 1 || read(r->done[0], &token, 1) != 1)
		return -EIO;
	return page->data_head ? 0 : -ENODATA;
}

static void *run_guest(void *arg)
{
	struct reader *r = arg;
	char token = 0;

	if (read(r->ready[0], &token, 1) == 1) {
		run_on_cpu(0);
		pt_run_kinds(KINDS, ROUNDS, 0);
	}
	if (write(r->done[1], &token, 1) != 1)
		tap_die("pipe to the reader");
	return NULL;
}

static void test_reads(enum user user, int paranoid)
{
	struct reader r = { .id = events[1].event.id };
	pthread_t thread;
	int err;

	tap_begin("reads_records_of_others_exits: %s, perf_event_paranoid %d", user_names[user],
		  paranoid);
	set_paranoid(paranoid);
	if (pipe(r.ready) || pipe(r.done))
		tap_die("pipe");
	errno = pthread_create(&thread, NULL, run_guest, &r);
	if (errno)
		tap_die("thread of the guest");
	err = try_as(user, read_records, &r);
	tap_expect(!err, "it gives %d", err);
	close(r.ready[1]);
	pthread_join(thread, NULL);
	close(r.ready[0]);
	close(r.done[0]);
	close(r.done[1]);
	tap_end();
}

static int try_write(void *arg)
{
	int fd = open(arg, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int try_read(void *arg)
{
	int fd = open(arg, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void test_files(const char *promise, const char *pattern, int (*fn)(void *arg),
		       bool root_may)
{
	glob_t files;
	size_t i;
	int err;

	tap_begin("%s", promise);
	if (glob(pattern, 0, NULL, &files))
		tap_die("%s: no such file", pattern);
	for (i = 0; i < files.gl_pathc; i++) {
		err = as_user(false, 0, fn, files.gl_pathv[i]);
		tap_expect(is_refusal(err), "%s: %d", files.gl_pathv[i], err);
		err = fn(files.gl_pathv[i]);
		tap_expect(!root_may || !err, "%s: %d as root", files.gl_pathv[i], err);
	}
	globfree(&files);
	tap_end();
}

static int try_pt(void *arg)
{
	return pt_try_open(KVM_PT, arg, 0, -1);
}

static void test_pt(enum user user, int paranoid)
{
	int err;

	tap_begin("kvm_pt_takes_cap_perfmon: %s, perf_event_paranoid %d", user_names[user],
		  paranoid);
	set_paranoid(paranoid);
	err = try_as(user, try_pt, "mode=2");
	if (user == USER)
		tap_expect(err == -EACCES, "it gives %d", err);
	else if (user == ROOT || paranoid < PARANOID_DEBIAN)
		tap_expect(!err, "it gives %d", err);
	else
		tap_expect(!err || is_refusal(err), "it gives %d", err);
	tap_end();
}

static void lock_down(const char *level)
{
	errno = 0;
	if (run("mountpoint -q " SECURITY " || mount -t securityfs none " SECURITY))
		tap_die(SECURITY);
	errno = -file_write(LOCKDOWN, level);
	if (errno)
		tap_die(LOCKDOWN);
}

/* Then perf has them, and tracefs has no records any more. */
static void test_lockdown(const char *level, bool reads_trace)
{
	struct trial trial = { .attempt = &attempts[0] };
	int err, kvm;
	size_t i;

	tap_begin("locked_down_as_kvms_events_are: %s", level);
	lock_down(level);
	for (i = 0, kvm = 0; i < ARRAY_SIZE(events); i++) {
		trial.id = events[i].event.id;
		err = try_open(&trial);
		kvm = i ? kvm : err;
		tap_expect(!err == !kvm, "%s: %d, of kvm_exit %d", events[i].name, err, kvm);
	}
	err = try_read(TRACEFS "/trace");
	tap_expect(reads_trace ? !err : is_refusal(err), "tracefs: %d", err);
	tap_end();
}

int main(int argc, char **argv)
{
	const int paranoids = PARANOID_DEBIAN - PARANOID_LEAST + 1;
	const char *what = argc > 1 ? argv[1] : "";
	char *before;
	enum user user;
	int paranoid;
	size_t i;

	need_kvm_trace();
	for (i = 0; i < ARRAY_SIZE(events); i++)
		trace_event_need(&events[i].event, events[i].system, events[i].name);
	run_on_cpu(0);
	if (!strcmp(what, "lockdown")) {
		tap_plan(2);
		test_lockdown("integrity", true);
		test_lockdown("confidentiality", false);
		return tap_exit();
	}
	before = file_read("/proc/sys/kernel/perf_event_paranoid");
	if (!before)
		tap_die("perf_event_paranoid");
	if (!strcmp(what, "pt")) {
		need_kvm_pt();
		tap_plan(USERS * paranoids);
	} else {
		tap_plan(USERS * paranoids + 5);
	}
	for (user = 0; user < USERS; user++) {
		for (paranoid = PARANOID_LEAST; paranoid <= PARANOID_DEBIAN; paranoid++) {
			if (strcmp(what, "pt"))
				test_opened(user, paranoid);
			else
				test_pt(user, paranoid);
		}
	}
	if (strcmp(what, "pt")) {
		test_reads(USER, PARANOID_LEAST);
		test_reads(USER_WITH_PERFMON, 2);
		test_reads(ROOT, PARANOID_DEBIAN);
		test_files("an_ordinary_user_writes_no_parameter", KVM_TRACE_PARAMETERS "*",
			   try_write, false);
		test_files("an_ordinary_user_reads_no_file_of_the_events",
			   TRACEFS "/events/kvm_trace*/*/*", try_read, false);
	}
	set_paranoid(atoi(before));
	free(before);
	return tap_exit();
}
