/*
 * explain - `syncprobe explain`: what lies under paths, without testing them.
 */
#ifndef SYNCPROBE_CLI_EXPLAIN_H
#define SYNCPROBE_CLI_EXPLAIN_H

/* @argv[0] is the subcommand's name. Returns the exit status. */
int explain_main(int argc, char **argv);

#endif
