/*
 * daemon - syncprobed put together: configuration, loop, schedule, HTTP, systemd.
 */
#ifndef SYNCPROBE_MAIN_DAEMON_H
#define SYNCPROBE_MAIN_DAEMON_H

/* The whole program. Returns the process's exit status. */
int daemon_main(int argc, char **argv);

#endif
