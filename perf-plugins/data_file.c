// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes perf.data. See data_file.h. The layout of the file is that of
 * tools/perf/Documentation/perf.data-file-format.txt in Linux's source.
 */
#include <errno.h>
#include "data_file.h"

void data_file_fail(struct data_file *data, int error)
{
	if (!data->error)
		data->error = error;
}

void data_file_put(struct data_file *data, const void *bytes, size_t size)
{
	if (!data->error && size && fwrite(bytes, size, 1, data->file) != 1)
		data_file_fail(data, errno);
}

void data_file_put_number(struct data_file *data, __u64 number, size_t size)
{
	data_file_put(data, &number, size);
}

__u64 data_file_here(struct data_file *data)
{
	const long at = data->file ? ftell(data->file) : 0;

	if (at >= 0)
		return at;
	data_file_fail(data, errno);
	return 0;
}

void data_file_go_to(struct data_file *data, __u64 at)
{
	if (!data->error && fseek(data->file, at, SEEK_SET))
		data_file_fail(data, errno);
}

void data_file_begin(struct data_file *data, const char *path)
{
	*data = (struct data_file){
		.file = fopen(path, "w"),
		.header = {
			.magic = DATA_FILE_MAGIC,
			.size = sizeof(data->header),
		},
	};
	if (!data->file)
		data_file_fail(data, errno);
	data_file_put(data, &data->header, sizeof(data->header));
}

bool data_file_end(struct data_file *data)
{
	data_file_go_to(data, 0);
	data_file_put(data, &data->header, sizeof(data->header));
	if (data->file && fclose(data->file))
		data_file_fail(data, errno);
	errno = data->error;
	return !data->error;
}
