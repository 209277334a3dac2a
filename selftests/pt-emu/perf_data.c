// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wraps a trace of Intel PT that no perf has recorded in a perf.data. The file's layout is
 * that of perf-plugins/pt_data.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "perf_data.h"
#include "pt_data.h"
#include "tap.h"

#define SAMPLE_ID	77
#define PMU_TYPE	12	/* any: perf takes it from AUXTRACE_INFO */

/**
 * perf_is_here() - whether there is a perf to decode with
 *
 * Return: false if not, and then tests are skipped.
 */
bool perf_is_here(void)
{
	return !system("perf version >/dev/null 2>&1");
}

static void write_code(const char *path, const struct perf_mapping *mapping)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(mapping->code, 1, mapping->size, f) != mapping->size || fclose(f))
		tap_die("%s", path);
}

static void put_code(struct pt_data *data, const char *dir, size_t number,
		     const struct perf_mapping *mapping)
{
	const struct pt_data_thread thread = { mapping->pid, mapping->tid, 0 };
	struct pt_data_map map = { mapping->misc, mapping->address, mapping->size, NULL };
	char path[64];

	snprintf(path, sizeof(path), "%s/code%zu", dir, number);
	write_code(path, mapping);
	map.path = path;
	pt_data_map(data, &thread, &map);
}

/**
 * perf_data_write() - wrap a trace
 * @dir: gets perf.data, and a file codeN for each mapping
 * @ctl: IA32_RTIT_CTL
 * @trace: its bytes
 * @size: how many
 * @mapping: the code
 * @mappings: how many of it
 */
void perf_data_write(const char *dir, u64 ctl, const u8 *trace, size_t size,
		     const struct perf_mapping *mapping, size_t mappings)
{
	const struct pt_data_thread thread = { PERF_DATA_PID, PERF_DATA_PID, 0 };
	const struct pt_data_clock clock = { .has_zero = false };
	struct pt_data data = {
		.attr = {
			.type = PMU_TYPE,
			.config = ctl & ~PT_EMU_CTL_TRACEEN,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU |
				       PERF_SAMPLE_IDENTIFIER,
			.disabled = 1,
			.mmap = 1,
			.comm = 1,
			.mmap2 = 1,
			.sample_id_all = 1,
		},
		.id = SAMPLE_ID,
	};
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "%s/perf.data", dir);
	if (!pt_data_begin(&data, path, NULL))
		tap_die("%s", path);
	pt_data_info(&data, &clock, 0);
	pt_data_comm(&data, &thread, "pt-emu");
	for (i = 0; i < mappings; i++)
		put_code(&data, dir, i, &mapping[i]);
	pt_data_start(&data, &thread);
	if (!pt_data_trace(data.out.file, PERF_DATA_PID, 0, 0, trace, size) || !pt_data_end(&data))
		tap_die("%s", path);
}

/**
 * perf_data_remove() - what perf_data_write() made, and its directory
 * @dir: the directory
 */
void perf_data_remove(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		tap_note("%s is left", dir);
}
