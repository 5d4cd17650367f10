/*
 * machine - which machine this is, as the names of our files below a target say it.
 */
#ifndef SYNCPROBE_CHILD_MACHINE_H
#define SYNCPROBE_CHILD_MACHINE_H

#include "core/proto.h"

/*
 * machine-id(5), 32 hex digits. Where there is none (some containers), one that
 * is worked out of the host's name, so that the daemon and the command line
 * agree and hosts that share a storage differ. Reads a file: at start only.
 */
void machine_id(char ret[PROTO_MACHINE_BYTES]);

#endif
