/*
 * From a block device to what it is made of; see worker/stackmap.h.
 *
 * By sysfs: partitions by their directory, device-mapper, md and bcache by
 * `slaves`, a loop device by its backing file, an NVMe head by its paths. What
 * has nothing below it is a leaf.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/diskclass.h"
#include "worker/stackmap.h"

#define CHILDREN_MAX 64
#define CLASS_BLOCK "/sys/class/block/"

struct device {
        struct stackmap *map;
        const char *name;
        char path[SYSROOT_PATH_BYTES]; /* in /sys, links followed */
        struct stack_node *node;
        int index;
};

static int read_attribute(const struct device *d, const char *attribute, char *ret, size_t room) {
        char path[SYSROOT_PATH_BYTES + 128];

        ret[0] = '\0';
        (void) snprintf(path, sizeof path, "%s/%s", d->path, attribute);
        return sysroot_read(&d->map->root, path, ret, room);
}

static bool has_attribute(const struct device *d, const char *attribute) {
        char path[SYSROOT_PATH_BYTES + 128];

        (void) snprintf(path, sizeof path, "%s/%s", d->path, attribute);
        return sysroot_has(&d->map->root, path);
}

static int list_attribute(const struct device *d, const char *directory, char (*ret)[SYSROOT_NAME_BYTES], size_t room) {
        char path[SYSROOT_PATH_BYTES + 128];

        (void) snprintf(path, sizeof path, "%s/%s", d->path, directory);
        return sysroot_list(&d->map->root, path, ret, room);
}

static bool begins(const char *text, const char *with) {
        return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with) {
        size_t n = strlen(text), k = strlen(with);

        return n >= k && strcmp(text + n - k, with) == 0;
}

/* --- attributes that every device has ------------------------------------------ */

static void read_numbers(const struct device *d) {
        char text[64], *end;

        if (read_attribute(d, "dev", text, sizeof text) > 0) {
                d->node->major = (uint32_t) strtoul(text, &end, 10);
                if (*end == ':')
                        d->node->minor = (uint32_t) strtoul(end + 1, NULL, 10);
        }
        if (read_attribute(d, "diskseq", text, sizeof text) > 0)
                d->node->diskseq = strtoull(text, NULL, 10);
        if (read_attribute(d, "queue/rotational", text, sizeof text) > 0)
                d->node->rotational = (int8_t) (text[0] == '1');
        if (read_attribute(d, "queue/fua", text, sizeof text) > 0 && text[0] == '1')
                d->node->facts |= FACT_FUA;
        if (read_attribute(d, "queue/write_cache", text, sizeof text) > 0)
                d->node->write_cache = begins(text, "write back") ? WRITE_CACHE_BACK : WRITE_CACHE_THROUGH;
}

/* The drive's own word on its cache, which the kernel's can be set against. */
static void read_scsi_cache(const struct device *d) {
        char names[2][SYSROOT_NAME_BYTES], attribute[128], text[64];

        if (list_attribute(d, "device/scsi_disk", names, 2) < 1)
                return;
        (void) snprintf(attribute, sizeof attribute, "device/scsi_disk/%s/cache_type", names[0]);
        if (read_attribute(d, attribute, text, sizeof text) <= 0 || !begins(text, "write back"))
                return;
        if (d->node->write_cache == WRITE_CACHE_THROUGH)
                d->node->facts |= FACT_CACHE_OVERRIDDEN;
        d->node->write_cache = WRITE_CACHE_BACK;
}

/* --- leaves --------------------------------------------------------------------- */

/* The number behind "/host" in the path: the SCSI host that drives the device. */
static void read_scsi_driver(const struct device *d, char *ret, size_t room) {
        const char *host = strstr(d->path, "/host");
        char path[128];

        ret[0] = '\0';
        if (!host || strlen(host) < 6 || host[5] < '0' || host[5] > '9')
                return;
        (void) snprintf(path, sizeof path, "/sys/class/scsi_host/host%lu/proc_name", strtoul(host + 5, NULL, 10));
        if (sysroot_read(&d->map->root, path, ret, room) < 0)
                ret[0] = '\0';
}

static void read_leaf(const struct device *d) {
        char vendor[64], model[64], scsi_driver[64], nvme_transport[64];
        const struct diskclass_facts facts = {
                .name = d->name, .path = d->path, .vendor = vendor, .model = model,
                .scsi_driver = scsi_driver, .nvme_transport = nvme_transport,
        };

        (void) read_attribute(d, "device/vendor", vendor, sizeof vendor);
        if (begins(vendor, "0x")) /* PCI's number, of virtio */
                vendor[0] = '\0';
        (void) read_attribute(d, "device/model", model, sizeof model);
        (void) read_attribute(d, "device/transport", nvme_transport, sizeof nvme_transport);
        read_scsi_driver(d, scsi_driver, sizeof scsi_driver);
        diskclass_apply(d->node, &facts);
        (void) snprintf(d->node->detail, sizeof d->node->detail, "%s%s%s", vendor,
                        vendor[0] != '\0' && model[0] != '\0' ? " " : "", model);
}

/* --- what stands on others ------------------------------------------------------ */

static void add_children(const struct device *d, char (*names)[SYSROOT_NAME_BYTES], int n) {
        enum role role = (enum role) d->node->role;

        for (int i = 0; i < n; i++)
                blockmap_add_name(d->map, d->index, role, names[i]);
        if (n == CHILDREN_MAX)
                stackmap_remark(d->map, "%s has more devices than fit", d->name);
}

static bool is_partition(const struct device *d) {
        char whole[SYSROOT_PATH_BYTES], *slash;

        if (!has_attribute(d, "partition"))
                return false;
        d->node->layer = LAYER_PARTITION;
        (void) snprintf(whole, sizeof whole, "%s", d->path);
        slash = strrchr(whole, '/');
        if (slash) {
                *slash = '\0';
                slash = strrchr(whole, '/');
        }
        if (slash)
                blockmap_add_name(d->map, d->index, (enum role) d->node->role, slash + 1);
        return true;
}

/* A loop device may stand on a block device as well, which the kernel names without links. */
static bool add_backing_device(const struct device *d, const char *file) {
        char path[PATH_MAX + sizeof CLASS_BLOCK];

        if (!begins(file, "/dev/") || strchr(file + 5, '/'))
                return false;
        (void) snprintf(path, sizeof path, CLASS_BLOCK "%s", file + 5);
        if (!sysroot_has(&d->map->root, path))
                return false;
        blockmap_add_name(d->map, d->index, (enum role) d->node->role, file + 5);
        return true;
}

static bool is_loop(const struct device *d) {
        char file[PATH_MAX];

        if (!begins(d->name, "loop"))
                return false;
        d->node->layer = LAYER_LOOP;
        if (read_attribute(d, "loop/backing_file", file, sizeof file) <= 0) {
                stackmap_remark(d->map, "%s has no backing file", d->name);
                (void) stackmap_add(d->map, d->index, LAYER_UNSEEN, (enum role) d->node->role, "nothing");
                return true;
        }
        /* It sends flushes on, unless somebody told the kernel that there is no cache. */
        if (d->node->write_cache == WRITE_CACHE_THROUGH) {
                char read_only[8];

                if (read_attribute(d, "ro", read_only, sizeof read_only) > 0 && read_only[0] == '0')
                        d->node->facts |= FACT_CACHE_OVERRIDDEN;
        }
        if (ends(file, " (deleted)"))
                file[strlen(file) - strlen(" (deleted)")] = '\0';
        (void) snprintf(d->node->detail, sizeof d->node->detail, "%.*s", (int) sizeof d->node->detail - 1, file);
        if (!add_backing_device(d, file))
                fsmap_add_file(d->map, d->index, (enum role) d->node->role, file);
        return true;
}

/* What device-mapper's uuid and name give away; LVM's hidden volumes end in a word for what they are. */
static enum layer mapped_layer(const char *uuid, const char *name) {
        if (ends(uuid, "-tpool") || ends(name, "-tpool") || ends(uuid, "-pool"))
                return LAYER_THIN;
        if (begins(uuid, "LVM-"))
                return LAYER_LVM;
        if (begins(uuid, "CRYPT-"))
                return LAYER_CRYPT;
        if (begins(uuid, "mpath-"))
                return LAYER_MULTIPATH;
        if (begins(uuid, "VDO-"))
                return LAYER_VDO;
        if (begins(uuid, "part") && strstr(uuid, "-mpath-"))
                return LAYER_PARTITION;
        return LAYER_MAPPED;
}

/* A volume is thin, or cached, by what it stands on. */
static enum layer mapped_layer_by_children(const struct device *d, enum layer own, char (*names)[SYSROOT_NAME_BYTES], int n) {
        for (int i = 0; i < n; i++) {
                char path[SYSROOT_NAME_BYTES + 64], uuid[160] = "", name[160] = "";

                (void) snprintf(path, sizeof path, CLASS_BLOCK "%s/dm/uuid", names[i]);
                (void) sysroot_read(&d->map->root, path, uuid, sizeof uuid);
                (void) snprintf(path, sizeof path, CLASS_BLOCK "%s/dm/name", names[i]);
                (void) sysroot_read(&d->map->root, path, name, sizeof name);
                if (ends(uuid, "-tpool") || ends(name, "-tpool"))
                        return LAYER_THIN;
                if (ends(uuid, "-cdata") || ends(uuid, "-cvol") || ends(name, "_cdata") || ends(name, "_cvol") ||
                    ends(name, "_wcorig"))
                        return LAYER_CACHED;
                if (ends(uuid, "-vpool") || ends(name, "-vpool"))
                        return LAYER_VDO;
        }
        return own;
}

static void read_mapped(const struct device *d, char (*names)[SYSROOT_NAME_BYTES], int n) {
        char uuid[160], level[32];

        if (begins(d->name, "dm-")) {
                (void) read_attribute(d, "dm/name", d->node->detail, sizeof d->node->detail);
                (void) read_attribute(d, "dm/uuid", uuid, sizeof uuid);
                d->node->layer = mapped_layer_by_children(d, mapped_layer(uuid, d->node->detail), names, n);
        } else if (has_attribute(d, "md")) {
                d->node->layer = LAYER_MD;
                if (read_attribute(d, "md/level", level, sizeof level) > 0)
                        (void) snprintf(d->node->detail, sizeof d->node->detail, "%s", level);
        } else if (begins(d->name, "drbd")) {
                d->node->layer = LAYER_DRBD;
        } else if (begins(d->name, "bcache")) {
                d->node->layer = LAYER_CACHED;
                (void) snprintf(d->node->detail, sizeof d->node->detail, "bcache");
        } else {
                d->node->layer = LAYER_MAPPED;
        }
}

/* An NVMe head stands on hidden paths, nvme0c0n1 and so on, whose counters are the real ones. */
static bool is_nvme_head(const struct device *d) {
        char (*controllers)[SYSROOT_NAME_BYTES], (*names)[SYSROOT_NAME_BYTES];
        char subsystem[SYSROOT_PATH_BYTES], *slash;
        int n, found = 0;

        if (!begins(d->name, "nvme") || !strstr(d->path, "/nvme-subsystem/"))
                return false;
        (void) snprintf(subsystem, sizeof subsystem, "%s", d->path);
        slash = strrchr(subsystem, '/');
        if (slash)
                *slash = '\0';
        controllers = calloc((size_t) 2 * CHILDREN_MAX, sizeof *controllers);
        if (!controllers) {
                stackmap_remark(d->map, "out of memory");
                return false;
        }
        names = controllers + CHILDREN_MAX;
        n = sysroot_list(&d->map->root, subsystem, controllers, CHILDREN_MAX);
        for (int i = 0; i < n; i++) {
                char path[SYSROOT_PATH_BYTES + SYSROOT_NAME_BYTES + 2];
                char *end;
                unsigned long controller, head_namespace = strtoul(strrchr(d->name, 'n') + 1, NULL, 10);
                unsigned long subsystem_number = strtoul(d->name + 4, NULL, 10);

                if (!begins(controllers[i], "nvme") || !isdigit((unsigned char) controllers[i][4]))
                        continue;
                controller = strtoul(controllers[i] + 4, &end, 10);
                if (*end != '\0') /* "nvme0n1", the head itself */
                        continue;
                (void) snprintf(names[found], sizeof names[0], "nvme%luc%lun%lu", subsystem_number, controller,
                                head_namespace);
                (void) snprintf(path, sizeof path, "%s/%s/%s", subsystem, controllers[i], names[found]);
                if (found < CHILDREN_MAX - 1 && sysroot_has(&d->map->root, path))
                        found++;
        }
        if (found > 0) {
                d->node->layer = LAYER_MULTIPATH;
                add_children(d, names, found);
        }
        free(controllers);
        return found > 0;
}

static void map_below(const struct device *d) {
        char (*names)[SYSROOT_NAME_BYTES];
        int n;

        if (is_partition(d) || is_loop(d) || is_nvme_head(d))
                return;
        names = calloc(CHILDREN_MAX, sizeof *names);
        if (!names) {
                stackmap_remark(d->map, "out of memory");
                return;
        }
        n = list_attribute(d, "slaves", names, CHILDREN_MAX);
        if (n > 0 || begins(d->name, "dm-") || has_attribute(d, "md")) {
                read_mapped(d, names, n);
                add_children(d, names, n);
        } else {
                read_leaf(d);
                read_scsi_cache(d);
        }
        free(names);
}

/* A disk that holds several parts of a pool: it takes writes as soon as one of them does, and
 * syncs go to the log. */
static void adopt_role(struct stackmap *m, size_t i, enum role role) {
        struct stack_node *n = &m->stack->nodes[i];

        if (role != ROLE_LOG && n->role != ROLE_CACHE)
                return;
        n->role = (uint8_t) role;
        for (size_t k = i + 1; k < m->stack->n_nodes; k++)
                if (m->stack->nodes[k].parent == (int16_t) i)
                        adopt_role(m, k, role);
}

void blockmap_add_name(struct stackmap *m, int parent, enum role role, const char *name) {
        struct device d = { .map = m, .name = name };
        char path[SYSROOT_NAME_BYTES + sizeof CLASS_BLOCK];

        for (size_t i = 0; i < m->stack->n_nodes; i++) {
                const struct stack_node *n = &m->stack->nodes[i];

                /* Reached before: it is counted once. File systems are named by their type, and never meant. */
                if (strcmp(n->name, name) == 0 && n->layer >= LAYER_PARTITION && n->layer != LAYER_UNSEEN) {
                        m->stack->nodes[parent].facts |= FACT_SHARED;
                        adopt_role(m, i, role);
                        return;
                }
        }
        (void) snprintf(path, sizeof path, CLASS_BLOCK "%s", name);
        if (strlen(name) >= STACK_NAME_BYTES || sysroot_resolve(&m->root, path, d.path) < 0) {
                int index = stackmap_add(m, parent, LAYER_UNSEEN, role, "device");

                if (index >= 0)
                        (void) snprintf(m->stack->nodes[index].detail, STACK_DETAIL_BYTES, "%.100s", name);
                stackmap_remark(m, "the kernel shows no device %.64s", name);
                return;
        }
        d.index = stackmap_add(m, parent, LAYER_DISK, role, name);
        if (d.index < 0)
                return;
        d.node = &m->stack->nodes[d.index];
        read_numbers(&d);
        map_below(&d);
}

void blockmap_add_number(struct stackmap *m, int parent, enum role role, uint32_t major, uint32_t minor) {
        char link[64], path[SYSROOT_PATH_BYTES];
        const char *slash;

        (void) snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major, minor);
        if (sysroot_resolve(&m->root, link, path) < 0) {
                (void) stackmap_add(m, parent, LAYER_UNSEEN, role, "device");
                stackmap_remark(m, "the kernel shows no device %u:%u", major, minor);
                return;
        }
        slash = strrchr(path, '/');
        blockmap_add_name(m, parent, role, slash ? slash + 1 : path);
}

void blockmap_add_path(struct stackmap *m, int parent, enum role role, const char *path) {
        char resolved[SYSROOT_PATH_BYTES];
        const char *slash;

        if (sysroot_resolve(&m->root, path, resolved) < 0)
                (void) snprintf(resolved, sizeof resolved, "%.*s", (int) sizeof resolved - 1, path);
        slash = strrchr(resolved, '/');
        blockmap_add_name(m, parent, role, slash ? slash + 1 : resolved);
}
