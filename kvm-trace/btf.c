// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the BTF that the kernel shows in /sys/kernel/btf and compares the
 * prototypes of tracepoints with those that the module was compiled for. The
 * kernel's own BTF interface is not exported. Format: Documentation/bpf/btf.rst.
 */
#include <linux/btf.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/path.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "btf.h"

/* Largest BTF that is read; vmlinux of Debian's kernels has 4 to 7 MB. */
#define MAX_BTF		(64 << 20)
/* What every version of the header has; later kernels know more. */
#define HEADER_LEN	offsetofend(struct btf_header, str_len)
/* Deepest chain of typedefs and qualifiers that is followed. */
#define MAX_DEPTH	32

/* One BTF file: the types of vmlinux, or those a module adds to them. */
struct blob {
	void *data;
	const char *strings;
	u32 strings_len;
	u32 strings_start;	/* offset of strings[0] in the common space */
	const u8 *types;
	u32 types_len;
	u32 first_id;
	u32 count;
	u32 *offsets;		/* of each type in types */
};

/**
 * struct kvm_trace_btf - types of a module, and of vmlinux below them
 * @base:	vmlinux
 * @module:	the module's; empty if it is built in
 */
struct kvm_trace_btf {
	struct blob base;
	struct blob module;
};

/* Bytes of the type at @type, or 0 if its kind is not known. */
static size_t type_size(const struct btf_type *type)
{
	u32 vlen = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*type);
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(*type) + sizeof(u32);
	case BTF_KIND_ARRAY:
		return sizeof(*type) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*type) + vlen * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*type) + vlen * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*type) + vlen * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*type) + vlen * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return sizeof(*type) + vlen * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

/* Calls for every type; with @offsets it fills them in, else it counts. */
static int walk(const struct blob *blob, u32 *offsets)
{
	u32 offset = 0, n = 0;

	while (offset < blob->types_len) {
		u32 left = blob->types_len - offset;
		size_t size;

		if (left < sizeof(struct btf_type))
			return -EINVAL;
		size = type_size((const void *)(blob->types + offset));
		if (!size || size > left)
			return -EINVAL;
		if (offsets)
			offsets[n] = offset;
		n++;
		offset += size;
	}
	return n;
}

static void blob_close(struct blob *blob)
{
	kvfree(blob->offsets);
	vfree(blob->data);
	memset(blob, 0, sizeof(*blob));
}

/*
 * A file as process 1 sees it. The caller may live in a container without
 * sysfs, and kernel threads of recent kernels see no file system at all.
 */
static struct file *open_file(const char *path)
{
	struct task_struct *init = init_pid_ns.child_reaper;
	struct file *file;
	struct path root;

	task_lock(init);
	get_fs_root(init->fs, &root);
	task_unlock(init);
	file = file_open_root(&root, path, O_RDONLY, 0);
	path_put(&root);
	return file;
}

/*
 * All of a file of sysfs. Not by kernel_read_file(): that asks security modules,
 * and IPE warns of every reason that it has no rule for.
 */
static ssize_t read_as_kernel(const char *path, void **data)
{
	struct file *file = open_file(path);
	ssize_t ret, size;
	loff_t pos = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	size = i_size_read(file_inode(file));
	ret = -EFBIG;
	if (size <= 0 || size > MAX_BTF)
		goto close;
	ret = -ENOMEM;
	*data = vmalloc(size);
	if (!*data)
		goto close;
	while (pos < size) {
		ret = kernel_read(file, *data + pos, size - pos, &pos);
		if (ret <= 0)
			break;
	}
	if (pos < size) {
		vfree(*data);
		*data = NULL;
		ret = ret < 0 ? ret : -EIO;
	} else {
		ret = size;
	}
close:
	fput(file);
	return ret;
}

/* Not with the caller's rights: what one may not read would count for all. */
static ssize_t read_file(const char *path, void **data)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	const struct cred *old;
	ssize_t ret;

	if (!cred)
		return -ENOMEM;
	old = override_creds(cred);
	ret = read_as_kernel(path, data);
	revert_creds(old);
	put_cred(cred);
	return ret;
}

static int blob_open(struct blob *blob, const char *name, u32 first_id,
		     u32 strings_start)
{
	const struct btf_header *header;
	char path[64];
	ssize_t size;
	int ret;

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", name);
	size = read_file(path, &blob->data);
	if (size < 0)
		return size;

	ret = -EINVAL;
	header = blob->data;
	if (size < HEADER_LEN || header->magic != BTF_MAGIC ||
	    header->hdr_len < HEADER_LEN || header->hdr_len > size)
		goto fail;
	size -= header->hdr_len;
	if (header->type_off > size ||
	    header->type_len > size - header->type_off ||
	    header->str_off > size || header->str_len > size - header->str_off)
		goto fail;
	blob->types = blob->data + header->hdr_len + header->type_off;
	blob->types_len = header->type_len;
	blob->strings = blob->data + header->hdr_len + header->str_off;
	blob->strings_len = header->str_len;
	blob->strings_start = strings_start;
	if (!blob->strings_len || blob->strings[blob->strings_len - 1])
		goto fail;

	ret = walk(blob, NULL);
	if (ret < 0)
		goto fail;
	blob->first_id = first_id;
	blob->count = ret;
	blob->offsets = kvmalloc_array(blob->count, sizeof(u32), GFP_KERNEL);
	if (!blob->offsets) {
		ret = -ENOMEM;
		goto fail;
	}
	walk(blob, blob->offsets);
	return 0;

fail:
	blob_close(blob);
	return ret;
}

/**
 * kvm_trace_btf_close() - free what kvm_trace_btf_open() returned
 * @btf: the BTF, or NULL
 */
void kvm_trace_btf_close(struct kvm_trace_btf *btf)
{
	if (!btf)
		return;
	blob_close(&btf->module);
	blob_close(&btf->base);
	kfree(btf);
}

/**
 * kvm_trace_btf_open() - read the BTF of a module
 * @module: its name, or NULL for what is built in
 *
 * Context: process context, sleeps; reads some megabytes.
 * Return: the BTF, or an ERR_PTR: -ENOENT if there is none, -EINVAL if it is
 *         not understood, -ENOMEM
 */
struct kvm_trace_btf *kvm_trace_btf_open(const char *module)
{
	struct kvm_trace_btf *btf = kzalloc(sizeof(*btf), GFP_KERNEL);
	int ret;

	if (!btf)
		return ERR_PTR(-ENOMEM);
	/* Id 0 is void and has no entry. */
	ret = blob_open(&btf->base, "vmlinux", 1, 0);
	if (!ret && module)
		ret = blob_open(&btf->module, module,
				btf->base.first_id + btf->base.count,
				btf->base.strings_len);
	if (!ret)
		return btf;
	kvm_trace_btf_close(btf);
	return ERR_PTR(ret);
}

static const struct btf_type *type_of(const struct kvm_trace_btf *btf, u32 id)
{
	const struct blob *blob = &btf->base;

	if (id >= blob->first_id + blob->count)
		blob = &btf->module;
	if (id < blob->first_id || id - blob->first_id >= blob->count)
		return NULL;
	return (const void *)(blob->types +
			      blob->offsets[id - blob->first_id]);
}

static const char *name_of(const struct kvm_trace_btf *btf, u32 offset)
{
	const struct blob *blob = &btf->base;

	if (offset >= blob->strings_len)
		blob = &btf->module;
	if (offset < blob->strings_start ||
	    offset - blob->strings_start >= blob->strings_len)
		return "";
	return blob->strings + offset - blob->strings_start;
}

/* The type behind typedefs and qualifiers. */
static const struct btf_type *resolve(const struct kvm_trace_btf *btf, u32 id)
{
	int depth;

	for (depth = 0; depth < MAX_DEPTH; depth++) {
		const struct btf_type *type = type_of(btf, id);

		if (!type)
			return NULL;
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = type->type;
			break;
		default:
			return type;
		}
	}
	return NULL;
}

static bool is_kind(const struct btf_type *type, u32 kind)
{
	return type && BTF_INFO_KIND(type->info) == kind;
}

static const struct btf_type *find_typedef(const struct kvm_trace_btf *btf,
					   const struct blob *blob,
					   const char *name)
{
	u32 i;

	for (i = 0; i < blob->count; i++) {
		const struct btf_type *type =
			(const void *)(blob->types + blob->offsets[i]);

		if (is_kind(type, BTF_KIND_TYPEDEF) &&
		    !strcmp(name_of(btf, type->name_off), name))
			return type;
	}
	return NULL;
}

static int check_arg(const struct kvm_trace_btf *btf,
		     const struct kvm_trace_arg *arg, u32 id, unsigned int i,
		     char *why, size_t why_len)
{
	const struct btf_type *type = resolve(btf, id);
	const char *name;

	if (!arg->pointee) {
		if (is_kind(type, BTF_KIND_INT) && type->size == arg->size)
			return 0;
		snprintf(why, why_len, "argument %u is not an integer of %zu bytes",
			 i, arg->size);
		return -EPROTOTYPE;
	}

	if (!arg->size) {
		/* Void has no entry. */
		if (is_kind(type, BTF_KIND_PTR) && !resolve(btf, type->type))
			return 0;
		snprintf(why, why_len, "argument %u is not a void *", i);
		return -EPROTOTYPE;
	}
	type = is_kind(type, BTF_KIND_PTR) ? resolve(btf, type->type) : NULL;
	name = is_kind(type, BTF_KIND_STRUCT) || is_kind(type, BTF_KIND_INT) ?
	       name_of(btf, type->name_off) : "";
	if (strcmp(name, arg->pointee)) {
		snprintf(why, why_len, "argument %u does not point to %s",
			 i, arg->pointee);
		return -EPROTOTYPE;
	}
	if (type->size != arg->size) {
		snprintf(why, why_len,
			 "%s has %u bytes, this module was built for %zu",
			 name, type->size, arg->size);
		return -EPROTOTYPE;
	}
	return 0;
}

/**
 * kvm_trace_btf_check() - compare a tracepoint's prototype
 * @btf:     BTF of the module that has the tracepoint
 * @proto:   what the probe was compiled for
 * @why:     where to put the difference, in words
 * @why_len: its size
 *
 * Return: 0 if they agree, -EPROTOTYPE if not
 */
int kvm_trace_btf_check(const struct kvm_trace_btf *btf,
			const struct kvm_trace_proto *proto,
			char *why, size_t why_len)
{
	const struct btf_type *type;
	const struct btf_param *params;
	char name[64];
	unsigned int i;
	int ret;

	/* TRACE_EVENT leaves such a typedef of the probe for BPF. */
	snprintf(name, sizeof(name), "btf_trace_%s", proto->name);
	type = find_typedef(btf, &btf->module, name);
	if (!type)
		type = find_typedef(btf, &btf->base, name);
	type = type ? resolve(btf, type->type) : NULL;
	type = is_kind(type, BTF_KIND_PTR) ? resolve(btf, type->type) : NULL;
	if (!is_kind(type, BTF_KIND_FUNC_PROTO)) {
		snprintf(why, why_len, "BTF does not know its prototype");
		return -EPROTOTYPE;
	}
	if (BTF_INFO_VLEN(type->info) != proto->nargs + 1) {
		snprintf(why, why_len, "it has %d arguments, not %u",
			 (int)BTF_INFO_VLEN(type->info) - 1, proto->nargs);
		return -EPROTOTYPE;
	}
	params = (const void *)(type + 1);
	for (i = 0; i < proto->nargs; i++) {
		ret = check_arg(btf, &proto->args[i], params[i + 1].type, i + 1,
				why, why_len);
		if (ret)
			return ret;
	}
	return 0;
}
