// SPDX-License-Identifier: GPL-2.0-only
/*
 * A case of the corpus as perf sees it: the trace in a perf.data, the packets that perf
 * script -D prints, and the addresses of the instructions that perf follows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include "corpus.h"
#include "machine.h"
#include "perf_data.h"
#include "tap.h"

#define POSITION_END	12	/* in ".  00000000:" */
#define MAX_MAPPINGS	(2 * MAX_CODE)

static struct perf_mapping mapping_of(const struct code *code, bool guest)
{
	const bool kernel = code->address >> 63;

	return (struct perf_mapping){
		.misc = !kernel ? PERF_RECORD_MISC_USER :
			guest ? PERF_RECORD_MISC_GUEST_KERNEL : PERF_RECORD_MISC_KERNEL,
		.pid = kernel && !guest ? ~0U : PERF_DATA_PID,
		.tid = kernel ? 0 : PERF_DATA_PID,
		.address = code->address,
		.code = code->data,
		.size = code->size,
	};
}

/* A case does not say whether a kernel's code is the host's or a guest's: it is both. */
static void wrap(const struct corpus_case *c, const char *dir)
{
	struct perf_mapping mapping[MAX_MAPPINGS];
	size_t mappings = 0;
	unsigned int i;

	for (i = 0; i < c->codes; i++) {
		mapping[mappings++] = mapping_of(&c->code[i], false);
		if (c->code[i].address >> 63)
			mapping[mappings++] = mapping_of(&c->code[i], true);
	}
	perf_data_write(dir, TRACE_ALL, c->bytes.data, c->bytes.size, mapping, mappings);
}

static FILE *perf_script(const char *dir, const char *options)
{
	char command[256];
	FILE *perf;

	snprintf(command, sizeof(command), "perf script -i %s/perf.data %s 2>%s/errors", dir,
		 options, dir);
	perf = popen(command, "r");
	if (!perf)
		tap_die("perf script");
	return perf;
}

/* A line of the dump, behind the position: "BYTES PACKET". */
static void take_packet(char *line, struct bytes *bytes, struct lines *packets)
{
	unsigned int byte;
	int used;

	while (sscanf(line, " %2x%n", &byte, &used) == 1 && line[used] == ' ') {
		if (bytes->size < sizeof(bytes->data))
			bytes->data[bytes->size++] = byte;
		line += used;
	}
	line += strspn(line, " ");
	line[strcspn(line, "\n")] = 0;
	if (*line && strcmp(line, "PAD"))
		line_add(packets, "%s", line);
}

/**
 * corpus_perf_packets() - the packets of a trace by perf
 * @c: the case
 * @bytes: the trace, as perf prints it
 * @packets: a line each, without PAD, of which perf hides some
 */
void corpus_perf_packets(const struct corpus_case *c, struct bytes *bytes, struct lines *packets)
{
	char dir[] = PERF_DATA_DIR, line[512];
	unsigned int at;
	int used;
	FILE *perf;

	bytes->size = 0;
	packets->n = 0;
	if (!mkdtemp(dir))
		tap_die("%s", dir);
	wrap(c, dir);
	perf = perf_script(dir, "-D");
	while (fgets(line, sizeof(line), perf)) {
		/* perf's own records have positions of four digits. */
		if (sscanf(line, ". %8x:%n", &at, &used) == 1 && used == POSITION_END)
			take_packet(line + used, bytes, packets);
	}
	pclose(perf);
	perf_data_remove(dir);
}

/**
 * corpus_perf_flow() - the instructions of a trace by perf
 * @c: the case
 * @flow: a line for each, with its address
 */
void corpus_perf_flow(const struct corpus_case *c, struct lines *flow)
{
	char dir[] = PERF_DATA_DIR, line[512], *error;
	FILE *perf;
	size_t end;

	flow->n = 0;
	if (!mkdtemp(dir))
		tap_die("%s", dir);
	wrap(c, dir);
	perf = perf_script(dir, "--guest-code --itrace=i0nse -F ip");
	while (fgets(line, sizeof(line), perf)) {
		line[strcspn(line, "\n")] = 0;
		error = strstr(line, " code ");
		if (error) {
			line_add(flow, strstr(error, "Overflow packet") ? "overflow" : "error:%s",
				 strchr(error, ':') + 1);
			continue;
		}
		for (end = strlen(line); end && line[end - 1] == ' ';)
			line[--end] = 0;
		line_add(flow, "%s", line + strspn(line, " "));
	}
	pclose(perf);
	perf_data_remove(dir);
}

/* Packets by form: in the corpus, and in perf's words. */
static const struct {
	const char *corpus;
	const char *perf;
	int numbers;
	unsigned int shift;	/* perf prints fields as they are in the packet */
} forms[] = {
	{ "fup %*s %llx", "FUP 0x%llx", 1, 0 },
	{ "tip %*s %llx", "TIP 0x%llx", 1, 0 },
	{ "tip.pge %*s %llx", "TIP.PGE 0x%llx", 1, 0 },
	{ "tip.pgd %*s %llx", "TIP.PGD 0x%llx", 1, 0 },
	{ "mode.exec %llu", "MODE.Exec IF:0 %llu", 1, 0 },
	{ "pip cr3 %llx nr %llu", "PIP 0x%llx (NR=%llu)", 2, 5 },
	{ "vmcs %llx", "VMCS 0x%llx", 1, 12 },
	{ "tsc %llx", "TSC 0x%llx", 1, 0 },
	{ "cbr %llu", "CBR 0x%llx", 1, 0 },
	{ "tma ctc %llx fc %llx", "TMA CTC 0x%llx FC 0x%llx", 2, 0 },
	{ "mtc %llx", "MTC 0x%llx", 1, 0 },
	{ "cyc %llu", "CYC 0x%llx", 1, 0 },
	{ "ptw %*u %llx ip %llu", "PTWRITE 0x%llx IP:%llu", 2, 0 },
};

static const struct {
	const char *corpus;
	const char *perf;
} words[] = {
	{ "psb", "PSB" }, { "psbend", "PSBEND" }, { "stop", "TraceSTOP" }, { "ovf", "OVF" },
	{ "fup", "FUP no ip" }, { "tip", "TIP no ip" }, { "tip.pge", "TIP.PGE no ip" },
	{ "tip.pgd", "TIP.PGD no ip" },
};

/**
 * corpus_perf_text() - a packet of the corpus in perf's words
 * @packet: as libipt reads it, a line of the corpus
 * @text: the same as perf prints it
 */
void corpus_perf_text(const char *packet, char text[LINE_SIZE])
{
	unsigned long long number[2] = { 0, 0 };
	char bits[LINE_SIZE];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(packet, words[i].corpus))
			continue;
		snprintf(text, LINE_SIZE, "%s", words[i].perf);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		if (sscanf(packet, forms[i].corpus, &number[0], &number[1]) != forms[i].numbers)
			continue;
		snprintf(text, LINE_SIZE, forms[i].perf, number[0] >> forms[i].shift, number[1]);
		return;
	}
	if (sscanf(packet, "tnt %s", bits) != 1) {
		snprintf(text, LINE_SIZE, "no words of perf's for \"%.100s\"", packet);
		return;
	}
	for (i = 0; bits[i]; i++)
		bits[i] = bits[i] == 't' ? 'T' : 'N';
	snprintf(text, LINE_SIZE, "TNT %.64s (%zu)", bits, i);
}
