// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a parameter may change at any time while batches are filled: what a
 * batch says stays right and whole, and what min_host_ns drops is counted.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		60
#define EVERY		10
#define LIMIT		"20000000"
#define LIMIT_NS	20000000ull
#define RING_MIB	16
#define CHANGE_US	3000
#define CHANGED_ROUNDS	800
#define SEED		11

/* With words of each kind: of 4 bytes and 8, of the first half and the second. */
static const char *const choices[] = {
	"lean", "default", "all", "rip", "entry_ns,guest_ns", "gpa,info1,injected", "user_ns",
};

/* What is in records whatever is chosen, and is not the same in both. */
#define NOT_CHOSEN	(KVM_TRACE_W_FLAGS_HI | KVM_TRACE_W_UNTRACED)

struct long_ones {
	const struct vmexit *singles;
	size_t nr_singles, count;
};

static void expect_long(const struct trace_sample *sample,
			const struct kvm_trace_batch_reader *reader,
			enum kvm_trace_batch_item item, void *arg)
{
	struct long_ones *longs = arg;

	(void)sample;
	if (item != KVM_TRACE_BATCH_IS_VMEXIT)
		return;
	tap_expect(reader->vmexit.host_ns >= LIMIT_NS, "seq %u has %llu ns", reader->vmexit.seq,
		   reader->vmexit.host_ns);
	tap_expect(longs->count < longs->nr_singles &&
		   longs->singles[longs->count].r.seq == reader->vmexit.seq &&
		   longs->singles[longs->count].r.host_ns == reader->vmexit.host_ns,
		   "long round trip %zu has seq %u in a batch", longs->count, reader->vmexit.seq);
	longs->count++;
}

/* Every tenth exit to user space takes longer than the limit. */
static void run_loop(struct vcpu *vcpu)
{
	const struct timespec pause = { .tv_nsec = LIMIT_NS + LIMIT_NS / 2 };
	unsigned int n = 0;

	guest_load(vcpu, KIND_BIT(KIND_pio_out) | KIND_BIT(KIND_cpuid), ROUNDS);
	while (guest_handle(vcpu, vcpu_run(vcpu))) {
		if (!(n++ % EVERY))
			nanosleep(&pause, NULL);
	}
}

static void drops(void)
{
	struct recorder recorder = {};
	struct batch_tallies tallies;
	struct long_ones longs = {};
	struct vmexit *singles;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_and_parameters: min_host_ns drops the shorter ones, and counts them");
	recorder_start(&recorder, REC_VMEXIT | REC_BATCH, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	parameter_set("min_host_ns", LIMIT);
	run_loop(&vcpu);
	/* A batch must not hold both: make it an event. */
	usleep(1000 * KVM_TRACE_BATCH_LAG_MS);
	trace_read(&recorder.session);
	longs.nr_singles = recorder_vmexits(&recorder, &singles);
	longs.singles = singles;
	batches_each(&recorder.session, expect_long, &longs);
	free(singles);
	tap_expect(longs.count >= ROUNDS / EVERY && longs.count < ROUNDS,
		   "%zu of %u round trips are long", longs.count, ROUNDS / EVERY);
	tap_expect(longs.count == longs.nr_singles, "%zu long round trips of %zu", longs.count,
		   longs.nr_singles);
	parameter_set("min_host_ns", "0");
	run_loop(&vcpu);
	recorder_stop(&recorder);
	batches_tally(&recorder.session, &tallies);
	expect_every_exit(&tallies, &vcpu, 4 * ROUNDS);
	if (tap_expect(tallies.count == 1, "%zu vCPUs", tallies.count))
		tap_expect(tallies.list->trips >= 2 * ROUNDS + longs.count,
			   "%llu round trips, of which %zu were long", tallies.list->trips,
			   longs.count);
	batches_free(&tallies);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static volatile bool changing;
static unsigned int changes;

static void *change_words(void *arg)
{
	(void)arg;
	while (changing) {
		parameter_set("batch_words", choices[rand() % ARRAY_SIZE(choices)]);
		parameter_set("batch_hypercalls", rand() % 2 ? "1" : "0");
		changes++;
		usleep(rand() % CHANGE_US);
	}
	return NULL;
}

struct singles {
	const struct vmexit *list;
	size_t count;
	u64 trips, some;
};

/* Words that each kind of record has: of 4 bytes and 8, in both halves of the mask. */
static const struct {
	u64 word;
	size_t at, size;
} words[] = {
#define WORD(bit, field)	{ bit, offsetof(struct kvm_trace_vmexit, field),		\
				  sizeof(((struct kvm_trace_vmexit *)0)->field) }
	WORD(KVM_TRACE_W_RIP, rip),
	WORD(KVM_TRACE_W_GPA, gpa),
	WORD(KVM_TRACE_W_INFO1, info1),
	WORD(KVM_TRACE_W_INFO2, info2),
	WORD(KVM_TRACE_W_ENTRY_NS, entry_ns),
	WORD(KVM_TRACE_W_GUEST_NS, guest_ns),
	WORD(KVM_TRACE_W_USER_NS, user_ns),
	WORD(KVM_TRACE_W_INTR_INFO, intr_info),
	WORD(KVM_TRACE_W_ERROR_CODE, error_code),
	WORD(KVM_TRACE_W_MSR, msr),
	WORD(KVM_TRACE_W_IO, io),
	WORD(KVM_TRACE_W_CPUID_LEAF, cpuid_leaf),
	WORD(KVM_TRACE_W_USER_REASON, user_reason),
	WORD(KVM_TRACE_W_INJECTED, injected),
#undef WORD
};

static void expect_same_words(const struct kvm_trace_vmexit *b, const struct kvm_trace_vmexit *s)
{
	u64 both = b->have & s->have;
	unsigned int i;

	tap_expect(!(b->have & ~s->have & ~NOT_CHOSEN),
		   "seq %u: words 0x%llx are not in the single event", b->seq,
		   b->have & ~s->have & ~NOT_CHOSEN);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		tap_expect(!(both & words[i].word) ||
			   !memcmp((const u8 *)b + words[i].at, (const u8 *)s + words[i].at,
				   words[i].size), "seq %u: another word 0x%llx", b->seq,
			   words[i].word);
}

static void compare(const struct trace_sample *sample,
		    const struct kvm_trace_batch_reader *reader,
		    enum kvm_trace_batch_item item, void *arg)
{
	const struct kvm_trace_vmexit *b = &reader->vmexit, *s;
	struct singles *singles = arg;

	(void)sample;
	if (item != KVM_TRACE_BATCH_IS_VMEXIT)
		return;
	singles->trips++;
	singles->some += !!(b->have & ~NOT_CHOSEN);
	if (!tap_expect(b->seq < singles->count, "seq %u of %zu", b->seq, singles->count))
		return;
	s = &singles->list[b->seq].r;
	tap_expect(b->seq == s->seq && b->reason == s->reason && b->class == s->class &&
		   b->host_ns == s->host_ns &&
		   !((b->flags ^ s->flags) & ~KVM_TRACE_F_MORE),
		   "seq %u %u: reason 0x%x 0x%x flags 0x%x 0x%x host_ns %llu %llu", b->seq,
		   s->seq, b->reason, s->reason, b->flags, s->flags, b->host_ns, s->host_ns);
	expect_same_words(b, s);
}

static void words_change(void)
{
	struct recorder recorder = {};
	struct singles singles = {};
	struct batch_tallies tallies;
	struct vmexit *all;
	pthread_t changer;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_and_parameters: words and hypercalls change in mid-batch");
	words_set("all");
	recorder_start(&recorder, REC_VMEXIT | REC_BATCH, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	changing = true;
	if (pthread_create(&changer, NULL, change_words, NULL))
		tap_die("a thread");
	guest_start(&vcpu, KIND_MIX, CHANGED_ROUNDS);
	guest_join(&vcpu);
	changing = false;
	pthread_join(changer, NULL);
	recorder_stop(&recorder);
	singles.count = recorder_vmexits(&recorder, &all);
	singles.list = all;
	batches_each(&recorder.session, compare, &singles);
	tap_note("%u changes, %llu round trips, %llu with words", changes, singles.trips,
		 singles.some);
	tap_expect(singles.trips == singles.count, "%llu round trips of %zu single events",
		   singles.trips, singles.count);
	tap_expect(changes > 20 && singles.some > singles.trips / 10 &&
		   singles.some < singles.trips, "the words did not change often");
	batches_tally(&recorder.session, &tallies);
	tap_expect(tallies.count == 1 && !tallies.list->missing && !tallies.list->first_seq,
		   "a record counter jumps");
	batches_free(&tallies);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	parameter_set("batch_words", "lean");
	parameter_set("batch_hypercalls", "0");
	words_set("default");
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	srand(SEED);
	parameter_set("batch_words", "lean");
	parameter_set("batch_hypercalls", "0");
	/* Single events come in the order of seq. */
	run_on_cpu(0);
	drops();
	words_change();
	return tap_exit();
}
