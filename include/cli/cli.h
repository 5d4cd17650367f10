/*
 * cli - the command line's subcommands.
 */
#ifndef SYNCPROBE_CLI_CLI_H
#define SYNCPROBE_CLI_CLI_H

/* What main() returns. */
enum cli_exit {
        CLI_OK = 0,
        CLI_FAILED = 1, /* a test failed or could not run */
        CLI_USAGE = 2,
        CLI_SIGNAL = 128, /* plus the signal's number */
};

/* The whole program: finds the subcommand and runs it. Returns the exit status. */
int cli_main(int argc, char **argv);

#endif
