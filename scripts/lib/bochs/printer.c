// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints its input on a parallel port: L1's way out of Bochs, which writes what
 * is printed to a file at once. Needs no driver. The port's address is the
 * argument.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/io.h>
#include <unistd.h>

#define CONTROL		2	/* its register, from the port's address */
#define CONTROL_IDLE	0x0c	/* selected, not in reset */
#define CONTROL_STROBE	0x0d	/* take the byte */

int main(int argc, char **argv)
{
	static unsigned char buffer[65536];
	unsigned short port;
	ssize_t size, i;

	if (argc != 2)
		errx(2, "one port's address is needed");
	port = strtoul(argv[1], NULL, 0);
	if (ioperm(port, CONTROL + 1, 1))
		err(2, "no access to the port %#x", port);
	while ((size = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0) {
		for (i = 0; i < size; i++) {
			outb(buffer[i], port);
			outb(CONTROL_STROBE, port + CONTROL);
			outb(CONTROL_IDLE, port + CONTROL);
		}
	}
	return size < 0;
}
