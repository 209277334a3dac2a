// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf-kvm-trace-pt, which perf kvm-trace record --pt runs: runs perf record, records Intel
 * PT of all vCPUs beside it, and puts both into one perf.data. Which threads run vCPUs it
 * takes from records kvm_trace:vcpu. What becomes of a stream's bytes is pt_guest.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kvm_trace.h>

#include "decode.h"
#include "pt_data.h"
#include "pt_stream.h"

#define NAME		"perf-kvm-trace"
#define SEE_DMESG	"'sudo dmesg | grep kvm_pt | tail -n 1' says why and what to do"
#define VCPU_ID		"/sys/kernel/tracing/events/kvm_trace/vcpu/id"
#define PT_METHOD	"/sys/module/kvm_trace/parameters/pt_method"
#define VCPU_RING	(64 << 10)
#define AUX_BYTES	(4ul << 20)
#define WAIT_MS		50
#define CTL_TSC		(1ull << 10)
#define CTL_NORETCOMP	(1ull << 11)

enum mode {
	MODE_HOST	= 1,
	MODE_GUEST	= 2,
	MODE_HOST_GUEST	= 3,
};

#define STREAM_HOST	1
#define STREAM_GUEST	2
#define METHOD_VMCS	1
#define METHOD_WINDOW	2

static const char * const modes[] = {
	[MODE_HOST] = "host", [MODE_GUEST] = "guest", [MODE_HOST_GUEST] = "host_guest",
};

static const char usage[] =
	"usage: perf-kvm-trace-pt --mode MODE --output FILE [OPTION...] -- perf record ...\n"
	"\n"
	"Runs perf record, which writes FILE, and puts Intel PT of vCPUs into that file. It is\n"
	"run by perf kvm-trace record --pt=MODE.\n"
	"\n"
	"--mode MODE        guest, host or host_guest\n"
	"--output FILE      what perf record writes\n"
	"--aux-size BYTES   of a vCPU's trace, to be read while it is written (4194304)\n"
	"--pid PID,...      only vCPUs of VMs of these processes\n"
	"--vm NUMBER,...    only vCPUs of these VMs, by the module's numbers\n"
	"--code FILE@START  the guests' code from this address on, for decoders\n";

/* Code of guests that the user has in a file. */
struct code {
	__u64 address, size;
	char *path;
};

struct list {
	__u32 *item;
	size_t n;
};

/*
 * @vcpus: a ring for each CPU
 * @stream: all streams, those that have ended, too
 * @refused: one was, and its reason told
 */
static struct {
	enum mode mode;
	const char *output;
	size_t aux_bytes;
	struct list pids, vms;
	struct code *code;
	size_t codes;
	struct perf_event_attr attr;
	__u64 id;
	bool window;
	unsigned int ratio;
	struct pt_data_clock clock;
	struct pt_ring *vcpus;
	size_t cpus;
	struct pt_stream *stream;
	size_t streams, room;
	FILE *traces;
	bool refused;
} r = { .aux_bytes = AUX_BYTES };

static pid_t child;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list args;

	fputs(NAME ": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

#define die(...)			\
	do {				\
		say(__VA_ARGS__);	\
		exit(1);		\
	} while (0)

static void need_memory(const void *memory)
{
	if (!memory)
		die("no memory: end other programs");
}

/* The first line of a file, without its end. */
static bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "r");
	bool good = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

static __u64 number(const char *option, const char *text, const char *end, int base)
{
	char *stopped;
	__u64 value;

	errno = 0;
	value = strtoull(text, &stopped, base);
	if (errno || stopped == text || stopped != end || *text == '-')
		die("%s takes numbers, not '%s'", option, text);
	return value;
}

static void add_numbers(struct list *list, const char *option, char *text)
{
	char *rest, *word;

	for (word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		list->item = reallocarray(list->item, list->n + 1, sizeof(*list->item));
		need_memory(list->item);
		list->item[list->n++] = number(option, word, word + strlen(word), 10);
	}
}

static bool has(const struct list *list, __u32 item)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->item[i] == item)
			return true;
	}
	return false;
}

static bool is_wanted(const struct kvm_trace_vcpu *vcpu)
{
	if (!r.pids.n && !r.vms.n)
		return true;
	return has(&r.pids, vcpu->vmm_pid) || has(&r.vms, vcpu->vm);
}

/* FILE@START. perf opens it by an absolute name, whoever decodes. */
static void add_code(char *text)
{
	char *at = strrchr(text, '@');
	struct code code = { 0 };
	struct stat stat_;

	if (!at)
		die("--guest-code '%s': give a file and its address, as code@0x100000", text);
	*at++ = '\0';
	code.address = number("--guest-code FILE@START", at, at + strlen(at), 0);
	code.path = realpath(text, NULL);
	if (!code.path || stat(code.path, &stat_))
		die("--guest-code: cannot read %s: %m", text);
	code.size = stat_.st_size;
	if (!S_ISREG(stat_.st_mode) || !code.size)
		die("--guest-code: %s is no file with code in it", text);
	r.code = reallocarray(r.code, r.codes + 1, sizeof(*r.code));
	need_memory(r.code);
	r.code[r.codes++] = code;
}

static void set_mode(const char *name)
{
	size_t i;

	for (i = MODE_HOST; i <= MODE_HOST_GUEST; i++) {
		if (!strcmp(name, modes[i]))
			r.mode = i;
	}
	if (!r.mode)
		die("--pt: there is no mode '%s', only: guest host host_guest", name);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "mode", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "aux-size", required_argument, NULL, 'a' },
		{ "pid", required_argument, NULL, 'p' },
		{ "vm", required_argument, NULL, 'v' },
		{ "code", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			set_mode(optarg);
			break;
		case 'o':
			r.output = optarg;
			break;
		case 'a':
			r.aux_bytes = number("--aux-size", optarg, optarg + strlen(optarg), 10);
			break;
		case 'p':
			add_numbers(&r.pids, "--pid", optarg);
			break;
		case 'v':
			add_numbers(&r.vms, "--vm", optarg);
			break;
		case 'c':
			add_code(optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (!r.mode || !r.output || optind >= argc) {
		fputs(usage, stderr);
		exit(2);
	}
	if (r.aux_bytes < 8192 || r.aux_bytes & (r.aux_bytes - 1))
		die("--mmap-pages: of a trace a power of two, two pages at least, not %zu bytes",
		    r.aux_bytes);
}

/* Of the method that the module would choose. */
static bool is_window(void)
{
	char line[64];

	if (!read_line(PT_METHOD, line, sizeof(line)) || !strcmp(line, "auto")) {
		if (!read_line(PT_PMU "caps/methods", line, sizeof(line)))
			*line = '\0';
	}
	return !strstr(line, "vmcs");
}

static struct perf_event_attr attr_of(bool host)
{
	struct perf_event_attr attr = r.attr;

	attr.config1 = r.mode;
	if (r.mode == MODE_HOST_GUEST)
		attr.config1 |= (host ? STREAM_HOST : STREAM_GUEST) <<
				KVM_TRACE_PT_CONFIG_STREAM_SHIFT;
	if (!host)
		attr.config1 |= (r.window ? METHOD_WINDOW : METHOD_VMCS) <<
				KVM_TRACE_PT_CONFIG_METHOD_SHIFT;
	return attr;
}

static void refuse(int error)
{
	errno = -error;
	die("the module refuses Intel PT (%m): %s", SEE_DMESG);
}

/* An event of our own thread, to be refused before anything is recorded. */
static void try_pt(void)
{
	struct perf_event_attr attr;
	struct pt_ring ring;
	char line[64];
	int error;

	if (!read_line(PT_PMU "type", line, sizeof(line)))
		die("the module kvm_trace has no PMU kvm_pt: use one that was built with Intel PT");
	r.attr.type = atoi(line);
	r.attr.size = sizeof(r.attr);
	r.attr.config = CTL_TSC | CTL_NORETCOMP;
	r.window = is_window();
	if (read_line(PT_PMU "max_nonturbo_ratio", line, sizeof(line)))
		r.ratio = strtoul(line, NULL, 0);
	attr = attr_of(r.mode == MODE_HOST);
	attr.disabled = 1;
	error = pt_ring_open(&ring, &attr, 0, -1, VCPU_RING);
	if (error)
		refuse(error);
	if (ioctl(ring.fd, PERF_EVENT_IOC_ID, &r.id))
		refuse(-errno);
	pt_ring_close(&ring);
}

static void open_vcpus(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.wakeup_events = 1,
	};
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct perf_event_mmap_page *page;
	char line[64];
	int error;
	long cpu;

	if (!read_line(VCPU_ID, line, sizeof(line)))
		die("cannot read %s: run this with sudo", VCPU_ID);
	attr.config = atoi(line);
	r.vcpus = calloc(cpus, sizeof(*r.vcpus));
	need_memory(r.vcpus);
	for (cpu = 0; cpu < cpus; cpu++) {
		error = pt_ring_open(&r.vcpus[r.cpus], &attr, -1, cpu, VCPU_RING);
		if (error == -ENODEV)
			continue;	/* offline */
		errno = -error;
		if (error)
			die("cannot record kvm_trace:vcpu on CPU %ld: %m", cpu);
		r.cpus++;
	}
	page = r.vcpus[0].page;
	r.clock = (struct pt_data_clock){
		page->time_shift, page->time_mult, page->time_zero, page->cap_user_time_zero,
	};
	if (!r.clock.has_zero)
		say("the kernel's clock is not the TSC: the trace has no times");
}

static void open_traces(void)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s.XXXXXX", r.output) < 0)
		path = NULL;
	need_memory(path);
	fd = mkstemp(path);
	r.traces = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!r.traces)
		die("cannot write to the directory of %s: %m: name a file elsewhere with -o",
		    r.output);
	unlink(path);
	free(path);
}

static struct pt_stream *find_stream(__u32 tid, bool host)
{
	size_t i;

	for (i = 0; i < r.streams; i++) {
		if (r.stream[i].tid == tid && r.stream[i].guest.host == host && r.stream[i].aux)
			return &r.stream[i];
	}
	return NULL;
}

static struct pt_stream *add_stream(const struct kvm_trace_vcpu *vcpu, __u64 time, bool host)
{
	const struct perf_event_attr attr = attr_of(host);
	struct pt_stream *stream;
	int error;

	if (r.streams == r.room) {
		r.room = 2 * r.room + 16;
		r.stream = reallocarray(r.stream, r.room, sizeof(*r.stream));
		need_memory(r.stream);
	}
	stream = &r.stream[r.streams];
	*stream = (struct pt_stream){
		.aux_bytes = r.aux_bytes,
		.tid = vcpu->vmm_tid,
		.pid = vcpu->vmm_pid,
		.number = r.streams,
		.time = time,
		.guest = {
			.host = host,
			.window = !host && r.window,
			.keep_nr = r.mode == MODE_HOST_GUEST,
		},
	};
	error = pt_stream_open(stream, &attr);
	if (!error) {
		r.streams++;
		return stream;
	}
	errno = -error;
	if (error != -ESRCH && !r.refused) {
		say("thread %u of process %u is not traced (%m): %s", vcpu->vmm_tid,
		    vcpu->vmm_pid, SEE_DMESG);
		r.refused = true;
	}
	return NULL;
}

static void see_vcpu(const struct kvm_trace_vcpu *vcpu, __u64 time)
{
	const struct pt_guest_clock clock = {
		vcpu->tsc_offset, vcpu->tsc_ratio, vcpu->isa == KVM_TRACE_ISA_SVM ? 32 : 48,
	};
	struct pt_stream *stream;
	int host;

	if (!vcpu->vmm_tid || !is_wanted(vcpu))
		return;
	for (host = 0; host < 2; host++) {
		if (host ? r.mode == MODE_GUEST : r.mode == MODE_HOST)
			continue;
		stream = find_stream(vcpu->vmm_tid, host);
		if (!stream)
			stream = add_stream(vcpu, time, host);
		if (stream)
			pt_guest_clock(&stream->guest, &clock);
	}
}

static void take_sample(void *data, const struct perf_event_header *header)
{
	const struct {
		struct perf_event_header header;
		__u64 time;
		__u32 size;
		__u8 raw[];
	} __attribute__((packed)) *sample = (const void *)header;
	struct kvm_trace_vcpu vcpu;

	(void)data;
	if (header->type == PERF_RECORD_SAMPLE &&
	    kvm_trace_vcpu_record(&vcpu, sample->raw, sample->size))
		see_vcpu(&vcpu, sample->time);
}

static void read_vcpus(void)
{
	size_t i;

	for (i = 0; i < r.cpus; i++) {
		if (!pt_ring_read(&r.vcpus[i], take_sample, NULL))
			die("the kernel's buffer of kvm_trace:vcpu is damaged: record again");
	}
}

static void need_written(bool good)
{
	if (!good)
		die("cannot record Intel PT: %m%s",
		    errno == ENOSPC ? ": make room, or name a file elsewhere with -o" : "");
}

static void on_signal(int signal)
{
	if (child > 0)
		kill(child, signal);
}

static void start(char **command)
{
	/* perf gets a terminal's Ctrl-C itself. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
	child = fork();
	if (child < 0)
		die("cannot run perf: %m");
	if (child)
		return;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	execvp(command[0], command);
	die("cannot run %s: %m", command[0]);
}

/* Waits for something to read. A thread that is gone has no more to come. */
static void wait_and_read(void)
{
	struct pollfd *fds = calloc(r.cpus + r.streams, sizeof(*fds));
	const size_t streams = r.streams;
	size_t i;

	need_memory(fds);
	for (i = 0; i < r.cpus; i++)
		fds[i] = (struct pollfd){ .fd = r.vcpus[i].fd, .events = POLLIN };
	for (i = 0; i < streams; i++)
		fds[r.cpus + i] = (struct pollfd){ .fd = r.stream[i].ring.fd, .events = POLLIN };
	if (poll(fds, r.cpus + streams, WAIT_MS) < 0 && errno != EINTR)
		die("poll: %m");
	read_vcpus();
	for (i = 0; i < streams; i++) {
		if (!r.stream[i].aux)
			continue;
		if (fds[r.cpus + i].revents & POLLHUP)
			need_written(pt_stream_end(&r.stream[i], r.traces));
		else
			need_written(pt_stream_read(&r.stream[i], r.traces));
	}
	free(fds);
}

static int record_until_perf_ends(void)
{
	int status;
	size_t i;

	while (!waitpid(child, &status, WNOHANG))
		wait_and_read();
	child = 0;
	read_vcpus();
	for (i = 0; i < r.streams; i++) {
		if (r.stream[i].aux)
			need_written(pt_stream_end(&r.stream[i], r.traces));
	}
	return status;
}

/* A guest's user code is taken for the VMM's, its kernel for the host's: see pt_guest.h. */
static void put_code(struct pt_data *data, const struct code *code)
{
	const bool guest_kernel = r.mode == MODE_HOST_GUEST, kernel = code->address >> 63;
	const struct pt_data_map map = {
		.misc = !kernel ? PERF_RECORD_MISC_USER : guest_kernel ?
			PERF_RECORD_MISC_GUEST_KERNEL : PERF_RECORD_MISC_KERNEL,
		.address = code->address, .size = code->size, .path = code->path,
	};
	struct list done = { 0 };
	size_t i;

	if (kernel && !guest_kernel) {
		pt_data_map(data, &(struct pt_data_thread){ .pid = ~0u }, &map);
		return;
	}
	for (i = 0; i < r.streams; i++) {
		const struct pt_stream *s = &r.stream[i];
		const struct pt_data_thread thread = { s->pid, kernel ? 0 : s->pid, s->time };

		if (has(&done, s->pid))
			continue;
		pt_data_map(data, &thread, &map);
		done.item = reallocarray(done.item, done.n + 1, sizeof(*done.item));
		need_memory(done.item);
		done.item[done.n++] = s->pid;
	}
	free(done.item);
}

/* A guest's kernel stands where the host's may be. */
static void hide_host(struct pt_data *data)
{
	struct pt_data_map *hidden = calloc(r.codes + 1, sizeof(*hidden));
	size_t i;

	need_memory(hidden);
	for (i = 0; i < r.codes && r.mode == MODE_GUEST; i++) {
		if (r.code[i].address >> 63)
			hidden[data->nr_hidden++] = (struct pt_data_map){
				.address = r.code[i].address, .size = r.code[i].size,
			};
	}
	data->hidden = hidden;
}

/* Both in one file, which takes the place of perf's when it is whole. */
static void put_together(void)
{
	struct pt_data data = { .attr = r.attr, .id = r.id };
	char *path;
	size_t i;

	if (asprintf(&path, "%s.pt", r.output) < 0)
		path = NULL;
	need_memory(path);
	data.attr.sample_period = 1;
	data.attr.disabled = 1;
	data.attr.config1 = attr_of(r.mode == MODE_HOST).config1;
	hide_host(&data);
	/* As perf's: it tells what others execute. */
	umask(0077);
	if (pt_data_begin(&data, path, r.output)) {
		pt_data_info(&data, &r.clock, r.ratio);
		for (i = 0; i < r.codes; i++)
			put_code(&data, &r.code[i]);
		pt_data_add(&data, r.traces);
	}
	if (!pt_data_end(&data) || rename(path, r.output)) {
		say("cannot put the traces into %s (%m): it has what perf recorded, and no trace",
		    r.output);
		unlink(path);
		exit(1);
	}
	free((void *)data.hidden);
	free(path);
}

static void tell(void)
{
	__u64 bytes = 0, lost = 0, bad = 0, times = 0;
	size_t i;

	for (i = 0; i < r.streams; i++) {
		bytes += r.stream[i].offset;
		lost += r.stream[i].lost;
		bad += r.stream[i].guest.bad;
		times += r.stream[i].guest.times;
	}
	say("Intel PT of %zu threads, %llu bytes", r.streams, bytes);
	if (lost)
		say("parts of the trace are missing in %llu places: give more than -m 4M,%zuK",
		    lost, r.aux_bytes >> 10);
	if (bad)
		say("%llu places of the trace were no packets, and are left out up to the next PSB",
		    bad);
	if (times)
		say("%llu times of guests do not fit their TSC offset, and are left out", times);
}

/* perf has written the file, and it is not one that was there before. */
static bool is_recorded(const struct stat *before)
{
	struct stat now;

	if (stat(r.output, &now))
		return false;
	return now.st_ino != before->st_ino || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

int main(int argc, char **argv)
{
	struct stat before = { 0 };
	struct rlimit files;
	int status;

	parse(argc, argv);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	try_pt();
	open_traces();
	open_vcpus();
	stat(r.output, &before);
	start(argv + optind);
	status = record_until_perf_ends();
	if (is_recorded(&before)) {
		put_together();
		tell();
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
