/*
 * diskclass - what kind of thing a leaf is, by what sysfs says of it. Pure.
 *
 * By drivers, buses and the names that controllers and hypervisors give their
 * volumes; never by a model's fame.
 */
#ifndef SYNCPROBE_WORKER_DISKCLASS_H
#define SYNCPROBE_WORKER_DISKCLASS_H

#include "core/stack.h"

struct diskclass_facts {
        const char *name;      /* the kernel's: "sda" */
        const char *path;      /* below /sys, all links followed */
        const char *vendor, *model;
        const char *scsi_driver; /* scsi_host's proc_name, or "" */
        const char *nvme_transport; /* "pcie", "tcp", …, or "" */
};

/* Fills in layer, transport and FACT_ATTACHED. */
void diskclass_apply(struct stack_node *node, const struct diskclass_facts *facts);

#endif
