/*
 * extents - how a file lies on its file system, by FIEMAP
 * (Documentation/filesystems/fiemap.rst).
 */
#ifndef SYNCPROBE_WORKER_EXTENTS_H
#define SYNCPROBE_WORKER_EXTENTS_H

#include "core/proto.h"

/* Fills in extent_bytes, encoded_bytes and delayed_bytes; leaves them alone where the
 * file system has no FIEMAP, or the file more extents than are worth reading. May block. */
void extents_read(int fd, struct proto_evidence *e);

#endif
