/*
 * run - `syncprobe run`: tests on paths, now, with no daemon.
 */
#ifndef SYNCPROBE_CLI_RUN_H
#define SYNCPROBE_CLI_RUN_H

/* @argv[0] is the subcommand's name. Returns the exit status. */
int run_main(int argc, char **argv);

#endif
