// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads ringbuf.bpf.o, runs a command, and writes the records of all vCPUs to a
 * file meanwhile: ringbuf OBJECT KILOBYTES FILE COMMAND...
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_record(void *file, void *data, size_t size)
{
	return fwrite(data, size, 1, file) == 1 ? 0 : -EIO;
}

static void fail(const char *what)
{
	fprintf(stderr, "ringbuf: %s: %s\n", what, strerror(errno));
	exit(2);
}

int main(int argc, char **argv)
{
	struct ring_buffer *ring;
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_map *map, *constants;
	unsigned long long lost;
	__u64 *wakeup;
	size_t size;
	int status, fd;
	__u32 key = 0;
	pid_t child;
	FILE *file;

	if (argc < 5) {
		fputs("usage: ringbuf OBJECT KILOBYTES FILE COMMAND...\n", stderr);
		return 2;
	}
	object = bpf_object__open_file(argv[1], NULL);
	if (!object)
		fail(argv[1]);
	map = bpf_object__find_map_by_name(object, "records");
	if (!map || bpf_map__set_max_entries(map, strtoul(argv[2], NULL, 0) << 10))
		fail("size of the ring buffer");
	constants = bpf_object__find_map_by_name(object, ".rodata");
	wakeup = constants ? bpf_map__initial_value(constants, &size) : NULL;
	if (!wakeup || size != sizeof(*wakeup))
		fail("when to wake the reader");
	*wakeup = (strtoul(argv[2], NULL, 0) << 10) / 2;
	if (bpf_object__load(object))
		fail("load the programs");
	bpf_object__for_each_program(program, object) {
		if (!bpf_program__attach(program))
			fail(bpf_program__name(program));
	}
	file = fopen(argv[3], "w");
	if (!file)
		fail(argv[3]);
	ring = ring_buffer__new(bpf_map__fd(map), write_record, file, NULL);
	if (!ring)
		fail("read the ring buffer");

	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		execvp(argv[4], argv + 4);
		fail(argv[4]);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		if (ring_buffer__poll(ring, 100) < 0 && errno != EINTR)
			fail("read the ring buffer");
	}
	if (ring_buffer__consume(ring) < 0 || fclose(file))
		fail(argv[3]);

	map = bpf_object__find_map_by_name(object, ".bss");
	fd = map ? bpf_map__fd(map) : -1;
	if (bpf_map_lookup_elem(fd, &key, &lost))
		fail("count of lost records");
	if (lost) {
		fprintf(stderr, "ringbuf: %llu records were lost: enlarge the buffer\n", lost);
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
