// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: of a random flow in host and guest, perf-plugins/pt_guest.c makes a trace in
 * which perf without an option, and without an error, finds all of the guest's instructions
 * and no other, with the host's time; and after lost bytes it goes on at the next PSB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "perf_data.h"
#include "pt_data.h"
#include "pt_guest.h"
#include "random_streams.h"
#include "tap.h"

#define BRANCHES	13000
#define PIECE_MAX	300
#define TSC_OFFSET	(1ULL << 32)	/* as random_program.c has it */
#define TSC_ONE		(1ULL << 48)
#define LOSSES		6
#define LOST_MAX	100
#define UNSURE		64	/* instructions that a decoder goes on for after a loss */
#define TIMES		(TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_CYCEN)

static const struct setting settings[] = {
	{ .name = "window", .ctl = TRACE_ALL },
	{ .name = "window_with_times", .ctl = TIMES },
	{ .name = "window_with_compressed_returns", .ctl = TRACE_ALL, .ret_compression = true },
	{ .name = "vmcs_controls", .ctl = TRACE_ALL, .guest_only = true },
	{ .name = "vmcs_controls_with_times", .ctl = TIMES, .guest_only = true },
};

static struct program program;
static struct run run;
static u64 random_state;

/* The guest's part of the log. */
static u64 expected[MAX_LOG];
static size_t nr_expected;

static unsigned int chance(unsigned int limit)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (random_state >> 33) % limit;
}

static bool is_in(enum space space, u64 ip)
{
	return ip - program_base(space) < CODE_SIZE;
}

static void expect_guest(void)
{
	size_t i;

	nr_expected = 0;
	for (i = 0; i < run.logged; i++) {
		if (is_in(GUEST_KERNEL, run.log[i]) || is_in(GUEST_USER, run.log[i]))
			expected[nr_expected++] = run.log[i];
	}
}

static void must(bool good)
{
	if (!good)
		tap_die("no memory");
}

/* In pieces that end anywhere; with losses of some bytes here and there. */
static void make_guest(struct pt_guest *guest, const u8 *trace, size_t size, unsigned int losses)
{
	const size_t between = losses ? size / (losses + 1) : size;
	size_t at = 0, next = between, n;

	while (at < size) {
		if (losses && at >= next) {
			at += 1 + chance(LOST_MAX);
			pt_guest_cut(guest);
			next += between;
			continue;
		}
		n = 1 + chance(PIECE_MAX);
		if (n > size - at)
			n = size - at;
		must(pt_guest_take(guest, trace + at, n, run.m->tsc));
		at += n;
	}
}

#define MODE_64	0x01	/* of MODE.Exec */

/* Times of the host, and the guest's mode where it is entered. */
static void expect_packets(const struct pt_guest *guest, bool has_times)
{
	struct pt_packet packet;
	u64 last = 0, times = 0;
	u8 mode = 0;
	__u64 ip = 0;
	size_t at;

	for (at = 0; at < guest->out.size; at += packet.size) {
		if (!pt_packet_read(guest->out.data + at, guest->out.size - at, &ip, &packet)) {
			tap_expect(false, "byte %zu begins no packet", at);
			return;
		}
		if (packet.type == PT_MODE)
			mode = guest->out.data[at + 1];
		if (packet.type == PT_PGE &&
		    !tap_expect(mode == MODE_64, "byte %zu enters 64-bit code in mode %u", at,
				mode))
			return;
		if (packet.type != PT_TSC)
			continue;
		times++;
		if (!tap_expect(packet.value >= last && packet.value <= run.m->tsc,
				"time 0x%llx after 0x%llx, at the end it is 0x%llx", packet.value,
				last, run.m->tsc))
			return;
		last = packet.value;
	}
	tap_expect(has_times ? times > 10 : !times, "%llu times", times);
	tap_expect(!guest->times, "%llu times are left out", guest->times);
}

static FILE *perf_script(const char *dir)
{
	char command[256];
	FILE *perf;

	snprintf(command, sizeof(command),
		 "perf script -i %s/perf.data --itrace=i0nse -F ip 2>%s/errors", dir, dir);
	perf = popen(command, "r");
	if (!perf)
		tap_die("perf script");
	return perf;
}

static FILE *decode(const char *dir, u64 ctl, const struct pt_guest *guest)
{
	const struct perf_mapping mappings[] = {
		{ PERF_RECORD_MISC_KERNEL, ~0U, 0, program_base(GUEST_KERNEL),
		  program.code[GUEST_KERNEL], CODE_SIZE },
		{ PERF_RECORD_MISC_USER, PERF_DATA_PID, PERF_DATA_PID, program_base(GUEST_USER),
		  program.code[GUEST_USER], CODE_SIZE },
	};

	perf_data_write(dir, ctl, guest->out.data, guest->out.size, mappings,
			ARRAY_SIZE(mappings));
	return perf_script(dir);
}

/* Returns false for a line that is an error. */
static bool read_ip(const char *line, u64 *ip)
{
	char *end;

	*ip = strtoull(line, &end, 16);
	return end != line && strspn(end, "\n ") == strlen(end);
}

static void compare(FILE *perf)
{
	size_t done = 0;
	char line[512];
	u64 ip;

	while (fgets(line, sizeof(line), perf)) {
		if (!tap_expect(read_ip(line, &ip), "perf, after %zu instructions: %s", done,
				line) ||
		    !tap_expect(done < nr_expected && ip == expected[done],
				"instruction %zu is at 0x%llx, logged is 0x%llx", done, ip,
				done < nr_expected ? expected[done] : 0))
			return;
		done++;
	}
	tap_expect(done && nr_expected - done < 128, "%zu of %zu instructions", done, nr_expected);
	tap_note("%zu instructions of the guest, of %zu", done, run.logged);
}

/* Where a trace that was lost goes on is found by its next instructions. */
static bool find(const u64 *ip, size_t n, size_t *at)
{
	size_t i;

	for (i = *at; i + n <= nr_expected; i++) {
		if (!memcmp(expected + i, ip, n * sizeof(*ip))) {
			*at = i;
			return true;
		}
	}
	return false;
}

#define ENOUGH	48

/* Instructions without an error between them. Returns how many are in the log. */
static size_t compare_part(const u64 *ip, size_t n, size_t *at)
{
	size_t i;

	if (n < ENOUGH)
		return 0;
	if (!tap_expect(find(ip, ENOUGH, at), "0x%llx and what follows is not in the log", *ip))
		return 0;
	for (i = 0; i < n && *at < nr_expected && ip[i] == expected[*at]; i++)
		++*at;
	tap_expect(n - i < UNSURE, "%zu of %zu instructions, at 0x%llx, were not executed",
		   n - i, n, ip[i]);
	return i;
}

static void compare_parts(FILE *perf, unsigned int losses)
{
	static u64 part[MAX_LOG];
	size_t n = 0, at = 0, equal = 0;
	unsigned int told = 0;
	char line[512];
	u64 ip;

	while (fgets(line, sizeof(line), perf)) {
		if (read_ip(line, &ip)) {
			if (n < MAX_LOG)
				part[n++] = ip;
			continue;
		}
		tap_expect(strstr(line, "Overflow packet"), "perf: %s", line);
		told++;
		equal += compare_part(part, n, &at);
		n = 0;
	}
	equal += compare_part(part, n, &at);
	tap_expect(told && told <= losses, "%u of %u losses are told", told, losses);
	tap_expect(equal > nr_expected / 2, "%zu of %zu instructions", equal, nr_expected);
	tap_note("%zu of %zu instructions, %u losses told", equal, nr_expected, told);
}

static void test(const struct setting *s, unsigned int losses, u64 seed)
{
	const struct pt_guest_clock clock = { TSC_OFFSET, TSC_ONE, 48 };
	struct pt_guest guest = { .window = !s->guest_only };
	char dir[] = PERF_DATA_DIR;
	FILE *perf;

	random_state = seed;
	run_start(&run, &program, s, seed);
	tap_expect(run_program(&run, BRANCHES), "the log is full");
	pt_emu_flush(run.m->pt);
	expect_guest();
	pt_guest_clock(&guest, &clock);
	make_guest(&guest, run.m->memory, machine_rdmsr(run.m, PT_EMU_MSR_OUTPUT_MASK) >> 32,
		   losses);
	expect_packets(&guest, s->ctl & PT_EMU_CTL_TSCEN);
	tap_expect(!guest.bad, "%llu bytes begin no packet", guest.bad);
	if (!mkdtemp(dir))
		tap_die("%s", dir);
	perf = decode(dir, s->ctl, &guest);
	if (losses)
		compare_parts(perf, losses);
	else
		compare(perf);
	pclose(perf);
	perf_data_remove(dir);
	pt_guest_free(&guest);
	machine_free(run.m);
}

#define PMU_TYPE	12	/* any */
#define BASE_ID		5
#define TRACE_ID	6

#define HOST_MAPS	8

/* What perf has recorded beside the trace: the host's kernel is where the guest's is. */
static void write_base(const char *path, const char *code)
{
	struct pt_data_map host = {
		PERF_RECORD_MISC_KERNEL, program_base(GUEST_KERNEL), CODE_SIZE, code,
	};
	unsigned int i;
	struct pt_data data = {
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ID,
			.sample_id_all = 1,
		},
		.id = BASE_ID,
	};

	if (!pt_data_begin(&data, path, NULL))
		tap_die("%s", path);
	for (i = 0; i < HOST_MAPS; i++) {
		host.address += CODE_SIZE / HOST_MAPS;
		pt_data_map(&data, &(struct pt_data_thread){ .pid = ~0U }, &host);
	}
	if (!pt_data_end(&data))
		tap_die("%s", path);
}

#define MORE	8	/* bytes of an event's attributes that a perf has, and we do not */

/* As that perf writes it, with one event. */
static void lengthen_base(const char *path)
{
	struct data_file_header *header;
	struct perf_event_attr *attr;
	static u8 bytes[1 << 16];
	size_t size, end;
	FILE *file;

	file = fopen(path, "r+");
	if (!file)
		tap_die("%s", path);
	size = fread(bytes, 1, sizeof(bytes) - MORE, file);
	header = (void *)bytes;
	attr = (void *)(bytes + header->attrs.offset);
	end = header->attrs.offset + attr->size;
	memmove(bytes + end + MORE, bytes + end, size - end);
	memset(bytes + end, 0, MORE);
	attr->size += MORE;
	header->attr_size += MORE;
	header->attrs.size += MORE;
	header->data.offset += MORE;
	rewind(file);
	if (fwrite(bytes, size + MORE, 1, file) != 1 || fclose(file))
		tap_die("%s", path);
}

/* Takes the place of a perf.data of the trace alone, whose files of code it uses. */
static void put_into_base(const char *dir, u64 ctl, const struct pt_guest *guest)
{
	char path[64], base[64], kernel[64], user[64];
	const struct pt_data_map maps[] = {
		{ PERF_RECORD_MISC_KERNEL, program_base(GUEST_KERNEL), CODE_SIZE, kernel },
		{ PERF_RECORD_MISC_USER, program_base(GUEST_USER), CODE_SIZE, user },
	};
	const struct pt_data_thread own = { PERF_DATA_PID, PERF_DATA_PID, 0 };
	const struct pt_data_thread all = { .pid = ~0U };
	const struct pt_data_clock clock = { .has_zero = false };
	struct pt_data data = {
		.attr = {
			.type = PMU_TYPE,
			.config = ctl & ~PT_EMU_CTL_TRACEEN,
			.sample_period = 1,
		},
		.id = TRACE_ID, .hidden = maps, .nr_hidden = 1,
	};

	snprintf(path, sizeof(path), "%s/perf.data", dir);
	snprintf(base, sizeof(base), "%s/base", dir);
	snprintf(kernel, sizeof(kernel), "%s/code0", dir);
	snprintf(user, sizeof(user), "%s/code1", dir);
	write_base(base, user);
	if (!pt_data_begin(&data, path, base))
		tap_die("%s", path);
	pt_data_info(&data, &clock, 0);
	pt_data_map(&data, &all, &maps[0]);
	pt_data_map(&data, &own, &maps[1]);
	if (!pt_data_trace(data.out.file, PERF_DATA_PID, 0, 0, guest->out.data, guest->out.size) ||
	    !pt_data_end(&data))
		tap_die("%s", path);
}

static void beside_perf(void)
{
	struct pt_guest guest = { .window = true };
	const struct setting *s = settings;
	char dir[] = PERF_DATA_DIR;
	FILE *perf;

	run_start(&run, &program, s, 1);
	tap_expect(run_program(&run, BRANCHES), "the log is full");
	pt_emu_flush(run.m->pt);
	expect_guest();
	make_guest(&guest, run.m->memory, machine_rdmsr(run.m, PT_EMU_MSR_OUTPUT_MASK) >> 32, 0);
	if (!mkdtemp(dir))
		tap_die("%s", dir);
	pclose(decode(dir, s->ctl, &guest));
	put_into_base(dir, s->ctl, &guest);
	perf = perf_script(dir);
	compare(perf);
	pclose(perf);
	perf_data_remove(dir);
	pt_guest_free(&guest);
	machine_free(run.m);
}

/* Behind so many bytes perf looks for an event's ids. */
static void longer_attributes(void)
{
	struct pt_data data = { .attr = { .type = PMU_TYPE }, .id = TRACE_ID };
	char dir[] = PERF_DATA_DIR, path[64], base[64];
	struct perf_event_attr attr;
	u64 size;

	if (!mkdtemp(dir))
		tap_die("%s", dir);
	snprintf(path, sizeof(path), "%s/perf.data", dir);
	snprintf(base, sizeof(base), "%s/base", dir);
	write_base(base, base);
	lengthen_base(base);
	if (!pt_data_begin(&data, path, base) || !pt_data_end(&data))
		tap_die("%s", path);
	size = data.out.header.attr_size - sizeof(struct data_file_section);
	data.out.file = fopen(path, "r");
	if (!data.out.file ||
	    fseek(data.out.file, data.out.header.attrs.offset + data.out.header.attr_size,
		  SEEK_SET) ||
	    fread(&attr, sizeof(attr), 1, data.out.file) != 1 || fclose(data.out.file))
		tap_die("%s", path);
	tap_expect(attr.type == PMU_TYPE && size == sizeof(attr) + MORE && attr.size == size,
		   "event of type %u has %u bytes, and says %llu", attr.type, attr.size, size);
	perf_data_remove(dir);
}

int main(void)
{
	const bool has_perf = perf_is_here();
	unsigned int lost;
	size_t i;

	tap_plan(2 * ARRAY_SIZE(settings) + 2);
	for (i = 0; i < 2 * ARRAY_SIZE(settings); i++) {
		lost = i & 1 ? LOSSES : 0;
		tap_begin("%s: %s", lost ? "guest_is_decoded_after_losses" :
					   "all_of_the_guest_is_decoded", settings[i / 2].name);
		if (!has_perf) {
			tap_skip("no perf here");
			continue;
		}
		test(&settings[i / 2], lost, 0x9e3779b97f4a7c15 * (2000 + i));
		tap_end();
	}
	tap_begin("trace_is_decoded_beside_what_perf_has_recorded");
	if (has_perf) {
		beside_perf();
		tap_end();
	} else {
		tap_skip("no perf here");
	}
	tap_begin("attributes_are_as_long_as_those_of_perf");
	longer_attributes();
	tap_end();
	return tap_exit();
}
