/*
 * listener - one listening socket for an address of the configuration.
 *
 * "host:port", "[v6]:port" or the absolute path of a Unix socket. Never asks a
 * name server: the host is an IP literal, localhost, or * for all addresses.
 */
#ifndef SYNCPROBE_MAIN_LISTENER_H
#define SYNCPROBE_MAIN_LISTENER_H

/* A bound, listening, non-blocking, close-on-exec socket in *ret_fd. Returns 0,
 * -EINVAL (no such address) or another -errno, as bind gave it (-EADDRINUSE). */
int listener_open(const char *address, int *ret_fd);

/* Closes it; the path of a Unix socket that we made is removed. */
void listener_close(const char *address, int fd);

#endif
