// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explores every state that can be reached in each scenario, by every order of
 * actions and every choice within one, until there is no new one.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "world.h"

#define MOST_STATES	(1U << 22)
#define TABLE_SIZE	(MOST_STATES * 2)	/* a power of two */
#define LANES		4
#define NO_STATE	~0U

#define HOST_ALONE	(1U << KVM_TRACE_PT_HOST)
#define BOTH		(HOST_ALONE | 1U << KVM_TRACE_PT_GUEST)

/* How a state was first reached. */
struct origin {
	u64 hash[2];
	u32 from;
	u16 run;
	u8 action;
	u8 depth;
};

static struct {
	struct origin *origin;
	u32 *table;
	u32 count;
	struct world **state;
} found;

/*
 * Four lanes, which run side by side, folded into 128 bits. Two different states are
 * taken for one with a chance of about one in 2^64.
 */
static void hash_world(u64 hash[2])
{
	u64 lane[LANES] = { 0x9e3779b97f4a7c15ULL, 0xc2b2ae3d27d4eb4fULL,
			    0x165667b19e3779f9ULL, 0x27d4eb2f165667c5ULL };
	u64 word[LANES];
	unsigned int i;
	size_t at;

	static_assert(sizeof(world) % sizeof(word) == 0, "a state is whole lanes");
	for (at = 0; at < sizeof(world); at += sizeof(word)) {
		memcpy(word, (const char *)&world + at, sizeof(word));
		for (i = 0; i < LANES; i++) {
			lane[i] = (lane[i] ^ word[i]) * 0xff51afd7ed558ccdULL;
			lane[i] ^= lane[i] >> 32;
		}
	}
	hash[0] = 0;
	hash[1] = ~0ULL;
	for (i = 0; i < LANES; i++) {
		hash[0] = (hash[0] ^ lane[i]) * 0xc4ceb9fe1a85ec53ULL;
		hash[1] = (hash[1] + lane[i]) * 0x9e3779b97f4a7c15ULL;
		hash[0] ^= hash[0] >> 33;
		hash[1] ^= hash[1] >> 29;
	}
}

/* Keeps the state of the world if it is a new one. */
static void note(u32 from, unsigned int action, unsigned int run, unsigned int depth)
{
	struct origin *origin = &found.origin[found.count];
	u32 at;

	hash_world(origin->hash);
	for (at = origin->hash[0] % TABLE_SIZE; found.table[at] != NO_STATE;
	     at = (at + 1) % TABLE_SIZE) {
		const struct origin *other = &found.origin[found.table[at]];

		if (other->hash[0] == origin->hash[0] && other->hash[1] == origin->hash[1])
			return;
	}
	if (found.count == MOST_STATES - 1 || depth > 0xff || run > 0xffff)
		tap_die("%s: more states than the model can count", scenario->name);
	found.table[at] = found.count;
	origin->from = from;
	origin->action = action;
	origin->run = run;
	origin->depth = depth;
	found.state[found.count] = malloc(sizeof(world));
	if (!found.state[found.count])
		tap_die("memory for a state");
	*found.state[found.count++] = world;
}

/* Does the @run-th run of an action in the state of the world. */
static void repeat(unsigned int action, unsigned int run)
{
	const struct world before = world;

	choices_start();
	while (run--) {
		action_run(action);
		choices_next();
		world = before;
	}
	tell_accesses = true;
	action_run(action);
	tell_accesses = false;
}

/* How a state was reached, with all accesses: the same once more, from the start. */
static void tell_path(u32 to)
{
	const struct origin *origin = &found.origin[to];

	if (origin->from == NO_STATE) {
		world_start();
		return;
	}
	tell_path(origin->from);
	printf("#   ");
	action_print(origin->action);
	printf("\n");
	repeat(origin->action, origin->run);
}

/* Every run of an action in a state; false if a rule is broken. */
static bool explore(u32 from, const struct world *state, unsigned int action,
		    unsigned long *steps)
{
	unsigned int run = 0;

	choices_start();
	do {
		world = *state;
		if (!action_run(action))
			return true;
		++*steps;
		if (broken_text()) {
			tap_expect(false, "%s", broken_text());
			tell_path(from);
			printf("#   ");
			action_print(action);
			printf("\n");
			repeat(action, run);
			return false;
		}
		note(from, action, run++, found.origin[from].depth + 1);
	} while (choices_next());
	return true;
}

static void forget(void)
{
	u32 i;

	for (i = 0; i < found.count; i++)
		free(found.state[i]);
	found.count = 0;
	memset(found.table, 0xff, TABLE_SIZE * sizeof(*found.table));
	broken_forget();
}

static unsigned long all_states, all_steps;
static u8 only_sides;

static void run(const struct scenario *which)
{
	unsigned long steps = 0;
	unsigned int action;
	bool holds = true;
	u32 at;

	scenario = which;
	forget();
	world_start();
	note(NO_STATE, 0, 0, 0);
	for (at = 0; holds && at < found.count; at++) {
		struct world state = *found.state[at];

		free(found.state[at]);
		found.state[at] = NULL;
		for (action = 0; holds && action < action_count; action++)
			holds = explore(at, &state, action, &steps);
	}
	tap_note("%u states, %lu steps, depth %u", found.count, steps,
		 found.origin[found.count - 1].depth);
	all_states += found.count;
	all_steps += steps;
}

static const struct scenario scenarios[] = {
	{ .name = "one vCPU and its nested guest", .cpus = 1, .threads = 1, .nested = true,
	  .kvm_writes = true },
	{ .name = "KVM's own Intel PT", .cpus = 1, .threads = 1, .nested = true,
	  .kvm_writes = true, .kvm_loads = true },
	{ .name = "CTL left behind, streams that end", .cpus = 1, .threads = 1,
	  .found_ctl = 0x2508, .base_stays = true, .ends = true },
	{ .name = "perf before and after", .cpus = 1, .threads = 1, .perf = true },
	{ .name = "no trace in VMX operation", .cpus = 1, .threads = 1, .not_in_vmx = true },
	{ .name = "a vCPU that migrates, CPUs that go", .cpus = 2, .threads = 1,
	  .hotplug = true },
	{ .name = "events of a CPU, suspend", .cpus = 2, .threads = 1, .per_cpu = true,
	  .hotplug = true, .suspends = true },
	{ .name = "perf at any time, by NMI too", .cpus = 1, .threads = 1, .perf = true,
	  .unreserved = true },
	{ .name = "accesses that fault", .cpus = 1, .threads = 1, .faults = 2,
	  .kvm_writes = true },
	{ .name = "two vCPUs on two CPUs", .cpus = 2, .threads = 2 },
};

static const char *const modes[] = { "off", "host", "guest", "host_guest" };
static const char *const methods[] = { "vmcs", "window" };

/* All modes and methods of a scenario, as one case of the test each. */
static void run_all(struct scenario which)
{
	for (which.sides = 1; which.sides <= BOTH; which.sides++) {
		/* Two streams with all of it would be ten times the steps. */
		if (which.sides == BOTH && which.faults) {
			which.faults = 1;
			which.kvm_writes = false;
		}
		for (which.method = 0; which.method < ARRAY_SIZE(methods); which.method++) {
			/* A host stream alone is switched in one way only. */
			if (which.sides == HOST_ALONE && which.method)
				continue;
			if (only_sides && which.sides != only_sides)
				continue;
			tap_begin("rules_hold: %s: %s, %s", which.name, modes[which.sides],
				  methods[which.method]);
			run(&which);
			tap_end();
			if (broken_text())
				return;
		}
	}
}

/*
 * Arguments, for tests of the model itself: bits of the hooks that are left out, and the
 * only mode, as bits of its sides. The first rule that is broken ends it then.
 */
int main(int argc, char **argv)
{
	const bool of_itself = argc > 1;
	unsigned int i;

	without = of_itself ? strtoul(argv[1], NULL, 0) : 0;
	only_sides = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	found.origin = malloc(MOST_STATES * sizeof(*found.origin));
	found.table = malloc(TABLE_SIZE * sizeof(*found.table));
	found.state = malloc(MOST_STATES * sizeof(*found.state));
	if (!found.origin || !found.table || !found.state)
		tap_die("memory for states");

	tap_plan(ARRAY_SIZE(scenarios) * (BOTH * ARRAY_SIZE(methods) - 1));
	for (i = 0; i < ARRAY_SIZE(scenarios); i++) {
		run_all(scenarios[i]);
		if (of_itself && broken_text())
			return EXIT_FAILURE;
	}
	tap_note("all: %lu states, %lu steps", all_states, all_steps);
	return tap_exit();
}
