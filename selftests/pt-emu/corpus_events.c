// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a case of the corpus, told to the core as a machine would; the
 * result is the bytes of the trace.
 */
#include <stdlib.h>
#include <string.h>
#include "corpus.h"
#include "machine.h"
#include "tap.h"

/* One event: its name, and words that are KEY=NUMBER or alone. */
struct event {
	struct machine *m;
	struct pt_emu_state *now;
	const struct pt_emu_vmcs *vmcs;
	const char *text;
};

/* KEY=NUMBER; ends the test if a word that is needed is not there. */
static u64 number(const struct event *e, const char *key)
{
	const size_t length = strlen(key);
	const char *at = e->text;

	while ((at = strchr(at, ' '))) {
		at++;
		if (!strncmp(at, key, length) && at[length] == '=')
			return strtoull(at + length + 1, NULL, 16);
	}
	tap_die("event \"%s\" has no %s=", e->text, key);
}

static bool has(const struct event *e, const char *word)
{
	const size_t length = strlen(word);
	const char *at = e->text;

	while ((at = strchr(at, ' '))) {
		at++;
		if (!strncmp(at, word, length) && strchr("= ", at[length]))
			return true;
	}
	return false;
}

/* Words that change where the processor is; what is not named stays. */
static const struct pt_emu_state *moved(const struct event *e)
{
	struct pt_emu_state *now = e->now;

	now->ip = number(e, "ip");
	if (has(e, "cr3"))
		now->cr3 = number(e, "cr3");
	if (has(e, "cpl"))
		now->cpl = number(e, "cpl");
	if (has(e, "mode64"))
		now->mode = PT_EMU_MODE_64;
	if (has(e, "mode32"))
		now->mode = PT_EMU_MODE_32;
	if (has(e, "mode16"))
		now->mode = PT_EMU_MODE_16;
	if (has(e, "pae"))
		now->pae = true;
	if (has(e, "guest"))
		now->non_root = true;
	if (has(e, "host"))
		now->non_root = false;
	return now;
}

static void do_enable(const struct event *e)
{
	tap_expect(machine_enable(e->m, number(e, "ctl"), moved(e)), "\"%s\" faults", e->text);
}

static void do_disable(const struct event *e)
{
	tap_expect(machine_disable(e->m, number(e, "from")), "\"%s\" faults", e->text);
}

static void do_wrmsr(const struct event *e)
{
	machine_wrmsr(e->m, number(e, "msr"), number(e, "value"));
}

static void do_tsc(const struct event *e)
{
	e->m->tsc = number(e, "value");
	if (has(e, "offset"))
		e->m->tsc_offset = number(e, "offset");
}

static void do_taken(const struct event *e)
{
	pt_emu_conditional(e->m->pt, true, moved(e)->ip);
}

static void do_not_taken(const struct event *e)
{
	pt_emu_conditional(e->m->pt, false, moved(e)->ip);
}

static void do_jump(const struct event *e)
{
	pt_emu_direct(e->m->pt, moved(e)->ip);
}

static void do_indirect(const struct event *e)
{
	pt_emu_indirect(e->m->pt, moved(e)->ip);
}

static void do_call(const struct event *e)
{
	pt_emu_call(e->m->pt, has(e, "indirect"), moved(e)->ip, number(e, "after"));
}

static void do_ret(const struct event *e)
{
	pt_emu_ret(e->m->pt, moved(e)->ip);
}

static void do_far(const struct event *e)
{
	pt_emu_far(e->m->pt, moved(e));
}

static void do_event(const struct event *e)
{
	pt_emu_event(e->m->pt, number(e, "from"), moved(e));
}

static void do_cr3(const struct event *e)
{
	pt_emu_mov_cr3(e->m->pt, moved(e));
}

static void do_ptwrite(const struct event *e)
{
	pt_emu_ptwrite(e->m->pt, number(e, "from"), number(e, "value"), has(e, "wide"),
		       moved(e)->ip);
}

static void do_lose(const struct event *e)
{
	pt_emu_lose(e->m->pt);
}

static void do_recover(const struct event *e)
{
	pt_emu_recover(e->m->pt, moved(e)->ip);
}

static void do_vmxon(const struct event *e)
{
	pt_emu_vmx_operation(e->m->pt, true, number(e, "from"));
}

static void do_vmptrld(const struct event *e)
{
	pt_emu_vmptrld(e->m->pt, number(e, "vmcs"), moved(e)->ip);
}

static void do_vmclear(const struct event *e)
{
	pt_emu_vmclear(e->m->pt, number(e, "vmcs"));
}

static void do_vmentry(const struct event *e)
{
	tap_expect(pt_emu_vmentry_check(e->m->pt, e->vmcs) == PT_EMU_ENTRY_OK, "\"%s\" fails",
		   e->text);
	pt_emu_vmentry(e->m->pt, e->vmcs, moved(e));
}

static void do_vmexit(const struct event *e)
{
	pt_emu_vmexit(e->m->pt, e->vmcs, number(e, "from"));
	pt_emu_vmexit_done(e->m->pt, moved(e));
}

static void do_vmfail(const struct event *e)
{
	pt_emu_vmentry_failed(e->m->pt, has(e, "late"), moved(e));
}

static const struct {
	const char *name;
	void (*run)(const struct event *e);
} events[] = {
	{ "enable", do_enable },
	{ "disable", do_disable },
	{ "wrmsr", do_wrmsr },
	{ "tsc", do_tsc },
	{ "taken", do_taken },
	{ "not-taken", do_not_taken },
	{ "jump", do_jump },
	{ "indirect", do_indirect },
	{ "call", do_call },
	{ "ret", do_ret },
	{ "far", do_far },
	{ "event", do_event },
	{ "cr3", do_cr3 },
	{ "ptwrite", do_ptwrite },
	{ "lose", do_lose },
	{ "recover", do_recover },
	{ "vmxon", do_vmxon },
	{ "vmptrld", do_vmptrld },
	{ "vmclear", do_vmclear },
	{ "vmentry", do_vmentry },
	{ "vmexit", do_vmexit },
	{ "vmfail", do_vmfail },
};

static void run(const struct event *e)
{
	const size_t length = strcspn(e->text, " ");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (strlen(events[i].name) != length || strncmp(events[i].name, e->text, length))
			continue;
		events[i].run(e);
		return;
	}
	tap_die("no event \"%s\"", e->text);
}

/**
 * corpus_trace() - the trace that the core makes of a case's events
 * @c: the case
 * @bytes: the trace, in one range
 */
void corpus_trace(const struct corpus_case *c, struct bytes *bytes)
{
	struct pt_emu_state now = { .mode = PT_EMU_MODE_64 };
	struct pt_emu_vmcs vmcs = { 0 };
	struct pt_emu_caps caps;
	struct machine *m;
	unsigned int i;

	pt_emu_default_caps(&caps);
	for (i = 0; i < c->caps.n; i++) {
		if (!strcmp(c->caps.text[i], "ret-compression"))
			caps.ret_compression = true;
		else if (!strcmp(c->caps.text[i], "vmcs-controls"))
			vmcs = (struct pt_emu_vmcs){
				.load_rtit_ctl = true, .clear_rtit_ctl = true,
				.guest_rtit_ctl = TRACE_ALL,
			};
		else
			tap_die("no option \"%s\"", c->caps.text[i]);
	}
	m = machine_new(&caps);
	machine_wrmsr(m, PT_EMU_MSR_OUTPUT_BASE, MEMORY_BASE);
	machine_wrmsr(m, PT_EMU_MSR_OUTPUT_MASK, MEMORY_SIZE - 1);
	for (i = 0; i < c->events.n; i++) {
		const struct event e = { m, &now, &vmcs, c->events.text[i] };

		run(&e);
	}
	bytes->size = machine_rdmsr(m, PT_EMU_MSR_OUTPUT_MASK) >> 32;
	if (bytes->size > sizeof(bytes->data))
		tap_die("the trace is too long");
	memcpy(bytes->data, m->memory, bytes->size);
	machine_free(m);
}
