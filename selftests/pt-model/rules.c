// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold in every state: the table of rules, with the sections of the manual
 * that they come from (selftests/pt-emu/README.md names its edition), and the report of
 * one that does not. Who looks at them is in processor.c and actions.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "world.h"

static const struct {
	const char *name;
	const char *manual;
	const char *text;
} rules[] = {
	/* The processor's */
	{ "no_configuration_while_tracing", "36.2.7.1",
	  "while TraceEn is 1, only IA32_RTIT_CTL is written" },
	{ "no_wrmsr_faults", "36.2.7, table 36-6",
	  "unless a fault was asked for, every WRMSR is one that the processor takes" },
	{ "no_vm_entry_fails_by_us", "26.2.1.1, 26.3.1.1",
	  "no VM entry with load-RTIT_CTL and TraceEn=1, or with a CTL that is not valid" },
	{ "only_msrs_that_are_announced", "36.3.1, tables 36-11 and 36-12",
	  "MSRs are accessed only if CPUID tells that they are there" },
	{ "only_fields_of_intel_pt", "24.7, 24.8",
	  "of a VMCS only both control words and the guest's IA32_RTIT_CTL are accessed" },
	{ "refused_where_vmx_does_not_allow_it", "36.2.8.2",
	  "with IA32_VMX_MISC[14]=0 nothing starts and nothing is accessed" },
	{ "position_read_when_tracing_is_off", "36.2.6.2",
	  "where a trace is, is read with TraceEn=0: before, packets may be on their way" },

	/* Streams */
	{ "trace_goes_to_its_own_output", "36.2.6",
	  "TraceEn is set only with a stream's output, and its packets land there" },
	{ "settings_are_one_streams", "36.2.7.2",
	  "IA32_RTIT_CTL is that of the stream whose output is loaded" },
	{ "stream_goes_on_where_it_stopped", "36.2.6.2, 36.2.7.4",
	  "a stream is enabled with its own filters and the position at which it stopped" },
	{ "guest_is_traced", "26.3.2.1",
	  "a guest runs traced if its stream is started, has not ended, and KVM let it" },
	{ "host_is_traced", "-", "outside of the guest the host's stream runs, if started" },
	{ "no_guest_code_in_another_stream", "36.5.2.1",
	  "while a guest runs, no stream but the guest's is enabled" },
	{ "host_is_paused_for_the_guest", "36.5.2.1",
	  "after kvm_entry the host's stream is paused" },
	{ "no_host_code_in_the_guests_stream", "27.5.1",
	  "host code is in the guest's stream only if KVM has taken CLEAR, or by method window" },
	{ "a_stream_that_has_ended_stays_off", "36.2.6.2, 36.2.7.4",
	  "Stopped or Error set: not enabled again before its reader has cleared it" },

	/* What belongs to others */
	{ "msrs_are_restored", "-",
	  "outside of a round trip's guest part, MSRs are bit for bit what they were" },
	{ "no_msr_holds_our_address", "-", "once nothing is started, OUTPUT_BASE is not ours" },
	{ "no_vmcs_holds_our_bits", "24.7, 24.8",
	  "a VMCS holds our bits between kvm_entry and kvm_exit or undo, and only if current" },
	{ "bits_of_kvm_are_kept", "24.7, 24.8",
	  "only load-RTIT_CTL and clear-RTIT_CTL change in KVM's control words" },
	{ "nothing_is_accessed_without_a_stream", "-",
	  "modes off and system: not one access of an MSR or a VMCS" },
	{ "reports_are_true", "-", "what a call returns is what happened" },
};

static char report[768];

/**
 * broken() - a rule does not hold; the first one of an action is kept
 * @name: of the rule
 * @fmt: what was found
 */
void broken(const char *name, const char *fmt, ...)
{
	unsigned int i = 0;
	va_list ap;
	int used;

	if (*report)
		return;
	while (i < ARRAY_SIZE(rules) && strcmp(rules[i].name, name))
		i++;
	if (i == ARRAY_SIZE(rules))
		tap_die("no rule is called %s", name);
	used = snprintf(report, sizeof(report), "%s (%s): %s: ", name, rules[i].manual,
			rules[i].text);
	va_start(ap, fmt);
	vsnprintf(report + used, sizeof(report) - used, fmt, ap);
	va_end(ap);
}

/**
 * broken_text() - what broken() was told
 *
 * Return: the rule and what was found, or NULL.
 */
const char *broken_text(void)
{
	return *report ? report : NULL;
}

/**
 * broken_forget() - go on with another scenario
 */
void broken_forget(void)
{
	*report = '\0';
}
