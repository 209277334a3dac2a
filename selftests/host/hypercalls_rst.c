// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the generated part of Documentation/hypercalls.rst: the tables of
 * include/kvm_trace/hypercalls*.h and the limits of reading guest memory.
 * hypercalls_rst.sh puts it there and compares.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "decode_hypercalls.h"
#include "types.h"

#define LINE_MAX_LEN	88

/* A paragraph under way: where its line is, and how far its lines are indented. */
static size_t column;
static size_t indent;

static void begin(size_t columns)
{
	indent = columns;
	column = 0;
}

/* One thing that is not broken, behind the one before it or on a new line. */
__printf(1, 2)
static void item(const char *format, ...)
{
	char text[256];
	va_list args;
	size_t len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (column && column + 1 + len > LINE_MAX_LEN) {
		putchar('\n');
		column = 0;
	}
	if (column)
		column += printf(" ");
	else
		column += printf("%*s", (int)indent, "");
	column += printf("%s", text);
}

static void end(void)
{
	printf("\n");
}

static const char *kind_name(enum kvm_trace_arg_kind kind)
{
	static const char * const names[] = {
		[KVM_TRACE_ARG_PTR] = "pointer",
		[KVM_TRACE_ARG_SUB] = "sub-operation",
		[KVM_TRACE_ARG_FLAGS] = "flags",
		[KVM_TRACE_ARG_COUNT] = "count",
		[KVM_TRACE_ARG_ID] = "id",
		[KVM_TRACE_ARG_NS] = "ns",
		[KVM_TRACE_ARG_GPA] = "gpa",
		[KVM_TRACE_ARG_GVA] = "gva",
		[KVM_TRACE_ARG_MASK] = "set",
		[KVM_TRACE_ARG_VALUE] = "value",
	};

	return names[kind];
}

static void print_args(const struct tabled_call *c)
{
	unsigned int i;

	begin(2);
	if (c->arg[0].kind == KVM_TRACE_ARG_NONE)
		item("no arguments");
	for (i = 0; i < KVM_TRACE_HC_REGS && c->arg[i].kind != KVM_TRACE_ARG_NONE; i++)
		item("a%u ``%s`` %s%s", i, c->arg[i].name, kind_name(c->arg[i].kind),
		     i + 1 < KVM_TRACE_HC_REGS && c->arg[i + 1].kind != KVM_TRACE_ARG_NONE ?
		     "," : "");
	if (c->abi == KVM_TRACE_ABI_HYPERV && c->how)
		item("(and more in XMM registers)");
	end();
}

static void print_subs(const struct tabled_call *c)
{
	const struct tabled_sub *s, *last = tabled_subs + ARRAY_SIZE(tabled_subs);
	const char *before = NULL;

	for (s = tabled_subs; s < last; s++) {
		if (s->abi != c->abi || s->number != c->number)
			continue;
		if (!before) {
			printf("\n");
			begin(2);
			item("Sub-operations:");
		}
		before = s->name;
		item("%u ``%s``%s", s->sub, s->name,
		     s + 1 < last && s[1].number == s->number ? "," : "");
	}
	if (before)
		end();
}

static const char *sub_name(const struct tabled_field *f)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_subs); i++)
		if (tabled_subs[i].abi == f->abi && tabled_subs[i].number == f->number &&
		    tabled_subs[i].sub == (__u32)f->sub)
			return tabled_subs[i].name;
	return "?";
}

/* A field, where it is, and of how many bytes. */
static void print_field(const struct tabled_field *f, const char *behind)
{
	char bytes[16], place[32];

	if (f->bytes)
		snprintf(bytes, sizeof(bytes), "%u", f->bytes);
	else
		strcpy(bytes, "4 or 8");
	if (f->offset[0] == f->offset[1])
		snprintf(place, sizeof(place), "%u", f->offset[0]);
	else
		snprintf(place, sizeof(place), "%u or %u", f->offset[0], f->offset[1]);
	item("a%u ``%s`` %s (%s at %s)%s", f->arg, f->name, kind_name(f->kind), bytes, place,
	     behind);
}

static bool is_next_to(const struct tabled_field *f, const struct tabled_field *g)
{
	return g < tabled_fields + ARRAY_SIZE(tabled_fields) && g->abi == f->abi &&
	       g->number == f->number && g->sub == f->sub;
}

/* Fields of any sub-operation are a paragraph, those of some a list. */
static void print_fields(const struct tabled_call *c)
{
	const struct tabled_field *f, *last = tabled_fields + ARRAY_SIZE(tabled_fields);
	bool first = true, next = false;

	for (f = tabled_fields; f < last; f++) {
		if (f->abi != c->abi || f->number != c->number)
			continue;
		if (first && f->sub == -1) {
			printf("\n");
			begin(2);
			item("In memory:");
		} else if (first) {
			printf("\n  In memory:\n\n");
		}
		if (!next && f->sub != -1) {
			begin(4);
			column = printf("  - ``%s``:", sub_name(f));
		}
		first = false;
		next = is_next_to(f, f + 1);
		print_field(f, next ? "," : "");
		if (!next)
			end();
	}
}

/* The bits of an argument follow each other in the table. */
static size_t count_bits(const struct tabled_flag *f)
{
	size_t n = 0;

	while (f + n < tabled_flags + ARRAY_SIZE(tabled_flags) && f[n].abi == f->abi &&
	       f[n].number == f->number && f[n].arg == f->arg)
		n++;
	return n;
}

static bool are_same_bits(const struct tabled_flag *f, const struct tabled_flag *g, size_t n)
{
	if (count_bits(g) != n)
		return false;
	while (n--)
		if (f[n].mask != g[n].mask || strcmp(f[n].name, g[n].name))
			return false;
	return true;
}

static void print_flags(const struct tabled_call *c)
{
	const struct tabled_flag *f, *next, *last = tabled_flags + ARRAY_SIZE(tabled_flags);
	size_t i, n;

	for (f = tabled_flags; f < last; f = next) {
		n = count_bits(f);
		next = f + n;
		if (f->abi != c->abi || f->number != c->number)
			continue;
		printf("\n");
		begin(2);
		item("Bits of a%u", f->arg);
		if (next < last && next->abi == f->abi && next->number == f->number &&
		    are_same_bits(f, next, n)) {
			item("and a%u", next->arg);
			next += n;
		}
		column += printf(":");
		for (i = 0; i < n; i++)
			item("0x%llx ``%s``%s", f[i].mask, f[i].name, i + 1 < n ? "," : "");
		end();
	}
}

static void print_list(const struct tabled_call *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_lists) && c->abi == KVM_TRACE_ABI_HYPERV; i++) {
		const struct tabled_list *l = &tabled_lists[i];

		if (l->number != c->number)
			continue;
		printf("\n");
		begin(2);
		item("Records of ``hypercall_sub``:");
		if (l->set)
			item("one for each bank of virtual processors (set at %u)%s", l->set,
			     l->list ? "," : "");
		if (l->list)
			item("one for each range of addresses (list at %u%s)", l->list,
			     l->set ? ", behind the banks" : "");
		end();
	}
}

static bool has_other_width(const struct tabled_call *c)
{
	return c + 1 < tabled_calls + ARRAY_SIZE(tabled_calls) && c[1].abi == c->abi &&
	       c[1].number == c->number;
}

static void print_call(const struct tabled_call *c)
{
	printf(c->abi == KVM_TRACE_ABI_HYPERV ? "0x%04x ``%s``" : "%u ``%s``", c->number, c->name);
	if (c->abi == KVM_TRACE_ABI_XEN && c->how)
		printf(", %u-bit caller", c->how);
	printf("\n");
	print_args(c);
	if (!has_other_width(c)) {
		print_subs(c);
		print_fields(c);
		print_flags(c);
		print_list(c);
	}
	printf("\n");
}

static void print_title(const char *title)
{
	size_t i;

	printf("%s\n", title);
	for (i = 0; i < strlen(title); i++)
		putchar('=');
	printf("\n\n");
}

static void print_calls(__u8 abi, const char *title)
{
	size_t i;

	print_title(title);
	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++)
		if (tabled_calls[i].abi == abi)
			print_call(&tabled_calls[i]);
}

#define SUB_FLAG(flag, name)	item("``%s``", name);

static void print_limits(void)
{
	print_title("Limits");
	printf("Of one hypercall, at most this much is read:\n\n");
	printf("- %u records of ``hypercall_sub`` are made;\n", KVM_TRACE_SUB_CALLS);
	printf("- %u bytes of guest memory are read, page tables not counted;\n",
	       KVM_TRACE_SUB_BYTES);
	printf("- %u guest-virtual pages are looked up in the guest's page tables.\n\n",
	       KVM_TRACE_SUB_WALKS);
	begin(0);
	item("What the word SUB may say, as the decoder prints it:");
	KVM_TRACE_SUB_FLAGS(SUB_FLAG)
	end();
	printf("\n");
}

int main(void)
{
	print_limits();
	print_calls(KVM_TRACE_ABI_KVM, "KVM");
	print_calls(KVM_TRACE_ABI_HYPERV, "Hyper-V");
	print_calls(KVM_TRACE_ABI_XEN, "Xen");
	return 0;
}
