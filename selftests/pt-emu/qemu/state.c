// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and memory of a virtual CPU, and what they say of where it is. What it
 * executes is not known here.
 */
#include <string.h>
#include "cpu.h"

#define CR0_PE		(1ULL << 0)
#define CR0_PG		(1ULL << 31)
#define CR4_PAE		(1ULL << 5)
#define EFER_LMA	(1ULL << 10)
#define EFLAGS_VM	(1ULL << 17)
#define DESC_D		(1U << 22)
#define DESC_L		(1U << 21)
#define RPL		3

static const char * const names[REGS] = {
	[REG_RAX] = "rax", [REG_RBX] = "rbx", [REG_RCX] = "rcx", [REG_RDX] = "rdx",
	[REG_RSP] = "rsp", [REG_RIP] = "rip", [REG_EFLAGS] = "eflags", [REG_CS] = "cs",
	[REG_CR0] = "cr0", [REG_CR3] = "cr3", [REG_CR4] = "cr4", [REG_EFER] = "efer",
};

static struct qemu_plugin_register *handles[REGS];

void registers_find(void)
{
	struct array *all = qemu_plugin_get_registers();
	const struct qemu_plugin_reg_descriptor *found = (void *)all->data;
	unsigned int i, reg;

	for (i = 0; i < all->len; i++) {
		for (reg = 0; reg < REGS; reg++) {
			if (!strcmp(found[i].name, names[reg]))
				handles[reg] = found[i].handle;
		}
	}
	g_array_free(all, true);
	for (reg = 0; reg < REGS; reg++) {
		if (!handles[reg])
			fatal("QEMU has no register %s: qemu-system-x86_64 is needed", names[reg]);
	}
}

__u64 reg_read(struct cpu *c, enum reg which)
{
	__u64 value = 0;

	g_byte_array_set_size(c->scratch, 0);
	if (!qemu_plugin_read_register(handles[which], c->scratch))
		fatal("QEMU does not tell register %s", names[which]);
	memcpy(&value, c->scratch->data,
	       c->scratch->len < sizeof(value) ? c->scratch->len : sizeof(value));
	return value;
}

void reg_write(struct cpu *c, enum reg which, __u64 value)
{
	g_byte_array_set_size(c->scratch, 0);
	g_byte_array_append(c->scratch, (const __u8 *)&value, sizeof(value));
	if (!qemu_plugin_write_register(handles[which], c->scratch))
		fatal("QEMU does not change register %s", names[which]);
}

/* Physical memory */
bool memory_read(struct cpu *c, __u64 address, void *data, size_t size)
{
	g_byte_array_set_size(c->scratch, 0);
	if (qemu_plugin_read_memory_hwaddr(address, c->scratch, size) || c->scratch->len < size)
		return false;
	memcpy(data, c->scratch->data, size);
	return true;
}

bool memory_write(struct cpu *c, __u64 address, const void *data, size_t size)
{
	g_byte_array_set_size(c->scratch, 0);
	g_byte_array_append(c->scratch, data, size);
	return !qemu_plugin_write_memory_hwaddr(address, c->scratch);
}

/* The plugin API has the selector of CS only; QEMU's dump has its descriptor. */
static void segment_read(const struct cpu *c, struct segment *segment, bool lma)
{
	unsigned long long base = 0;
	unsigned int flags = 0;
	char text[4096], *line;
	FILE *file = fmemopen(text, sizeof(text), "w");

	if (!file)
		fatal("no memory");
	cpu_dump_state(qemu_get_cpu(c->index), file, 0);
	fclose(file);
	line = strstr(text, "\nCS =");
	if (!line || sscanf(line + 5, "%*x %llx %*x %x", &base, &flags) != 2)
		fatal("QEMU's dump of registers has no CS");
	segment->base = base;
	if (lma && flags & DESC_L)
		segment->mode = PT_EMU_MODE_64;
	else
		segment->mode = flags & DESC_D ? PT_EMU_MODE_32 : PT_EMU_MODE_16;
}

/*
 * In long mode descriptors are taken to stay as they are, or each system call
 * would cost a dump.
 */
static struct segment *segment_find(struct cpu *c, __u16 selector)
{
	return &c->segments[c->guest][selector / 8 % SEGMENTS];
}

static const struct segment *segment_of_cs(struct cpu *c, __u16 selector, bool lma)
{
	struct segment *segment = segment_find(c, selector);

	if (!lma || !segment->known || segment->selector != selector) {
		segment_read(c, segment, lma);
		segment->selector = selector;
		segment->known = lma;
	}
	return segment;
}

static __u8 privilege(struct cpu *c, __u16 selector)
{
	if (!(reg_read(c, REG_CR0) & CR0_PE))
		return 0;
	if (reg_read(c, REG_EFLAGS) & EFLAGS_VM)
		return 3;
	return selector & RPL;
}

static bool pae(struct cpu *c, bool lma)
{
	return !lma && reg_read(c, REG_CR0) & CR0_PG && reg_read(c, REG_CR4) & CR4_PAE;
}

/* Where the virtual CPU is, at the start of a block. */
void state_read(struct cpu *c, struct pt_emu_state *state)
{
	const bool lma = reg_read(c, REG_EFER) & EFER_LMA;
	const __u16 selector = reg_read(c, REG_CS);
	const struct segment *segment = segment_of_cs(c, selector, lma);

	c->base = segment->base;
	state->ip = reg_read(c, REG_RIP) + c->base;
	state->cr3 = reg_read(c, REG_CR3);
	state->pae = pae(c, lma);
	state->cpl = privilege(c, selector);
	state->mode = segment->mode;
	state->non_root = c->guest;
}

/*
 * Where an event has just come from, after a far transfer that retired right before:
 * CS is on the handler's stack, behind the address, with an error code or without.
 */
void state_interrupted(struct cpu *c, __u64 ip, struct pt_emu_state *state)
{
	const bool lma = reg_read(c, REG_EFER) & EFER_LMA;
	const size_t width = lma ? 8 : 4;
	const struct segment *segment;
	__u64 word[3] = { 0 };
	__u16 selector;
	size_t i;

	*state = c->now;
	state->ip = ip;
	state->cr3 = reg_read(c, REG_CR3);
	if (!(reg_read(c, REG_CR0) & CR0_PE))
		return;
	g_byte_array_set_size(c->scratch, 0);
	if (!qemu_plugin_read_memory_vaddr(reg_read(c, REG_RSP), c->scratch, 3 * width))
		return;
	for (i = 0; i < 3; i++)
		memcpy(&word[i], c->scratch->data + i * width, width);
	selector = word[0] == ip ? word[1] : word[2];
	segment = segment_find(c, selector);
	state->cpl = selector & RPL;
	if (segment->known && segment->selector == selector)
		state->mode = segment->mode;
	else if (lma)
		state->mode = PT_EMU_MODE_64;
}
