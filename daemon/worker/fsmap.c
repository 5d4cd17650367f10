/*
 * From a mount to its file system and the devices of that; see worker/stackmap.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/stackmap.h"
#include "worker/tool.h"
#include "worker/zpool.h"

/* A loop device on an overlay on a loop device …: deeper than anyone builds. */
#define BTRFS_MAX 64
#define VDEVS_MAX 64
#define TOOL_LIMIT_BYTES ((size_t) 256 << 10)

static const char *const memory_types[] = { "tmpfs", "ramfs", "hugetlbfs", "devtmpfs" };
static const char *const network_types[] = { "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "9p", "virtiofs", "afs", "lustre",
                                             "gpfs", "beegfs", "glusterfs", "orangefs", "coda", "vboxsf", "prl_fs", "vmhgfs" };

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static bool is_one_of(const char *text, const char *const *names, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(text, names[i]) == 0)
                        return true;
        return false;
}

static enum layer layer_of(const char *fstype) {
        if (is_one_of(fstype, memory_types, LENGTH(memory_types)))
                return LAYER_MEMORY_FILESYSTEM;
        if (is_one_of(fstype, network_types, LENGTH(network_types)))
                return LAYER_NETWORK_FILESYSTEM;
        if (strncmp(fstype, "fuse", 4) == 0 && strcmp(fstype, "fusectl") != 0)
                return LAYER_FUSE;
        return LAYER_FILESYSTEM;
}

int stackmap_add(struct stackmap *m, int parent, enum layer layer, enum role role, const char *name) {
        struct stack *s = m->stack;

        if (s->n_nodes == STACK_NODES_MAX) {
                stackmap_remark(m, "more devices than %d", STACK_NODES_MAX);
                return -1;
        }
        s->nodes[s->n_nodes] = (struct stack_node) {
                .layer = (uint8_t) layer, .role = (uint8_t) role, .rotational = -1, .parent = (int16_t) parent,
        };
        (void) snprintf(s->nodes[s->n_nodes].name, STACK_NAME_BYTES, "%.*s", STACK_NAME_BYTES - 1, name);
        return (int) s->n_nodes++;
}

void stackmap_remark(struct stackmap *m, const char *format, ...) {
        va_list arguments;

        m->stack->incomplete = true;
        if (m->stack->remark[0] != '\0')
                return;
        va_start(arguments, format);
        (void) vsnprintf(m->stack->remark, sizeof m->stack->remark, format, arguments);
        va_end(arguments);
}

/* --- options ---------------------------------------------------------------------- */

static bool has_value(const char *options, const char *name, const char *value) {
        size_t n;
        const char *found = mount_option_value(options, name, &n);

        return found && n == strlen(value) && strncmp(found, value, n) == 0;
}

static bool compresses(const char *options) {
        static const char *const names[] = { "compress", "compress-force", "compression" };

        for (size_t i = 0; i < LENGTH(names); i++) {
                size_t n;

                if (mount_has_option(options, names[i]))
                        return true;
                if (mount_option_value(options, names[i], &n) && !has_value(options, names[i], "no") &&
                    !has_value(options, names[i], "none"))
                        return true;
        }
        return false;
}

static uint32_t facts_of(const struct mount *mount) {
        const char *o = mount->super_options;
        uint32_t facts = 0;

        if (mount_has_option(o, "nobarrier") || has_value(o, "barrier", "0") || has_value(o, "barrier", "none"))
                facts |= FACT_NO_BARRIER;
        if (has_value(o, "fsync_mode", "nobarrier"))
                facts |= FACT_NO_BARRIER_FSYNC;
        if (strcmp(mount->fstype, "overlay") == 0 && (mount_has_option(o, "volatile") || has_value(o, "fsync", "volatile")))
                facts |= FACT_VOLATILE;
        if (compresses(o))
                facts |= FACT_COMPRESSION;
        return facts;
}

/* --- file systems with devices of their own finding ------------------------------------- */

/* The members of the btrfs that @source is one of. */
static void add_btrfs(struct stackmap *m, int node, enum role role, const char *source) {
        char (*ids)[SYSROOT_NAME_BYTES] = calloc((size_t) 2 * BTRFS_MAX, sizeof *ids), (*members)[SYSROOT_NAME_BYTES];
        char device[SYSROOT_PATH_BYTES], directory[SYSROOT_NAME_BYTES + 64];
        const char *name;
        int n;

        if (!ids) {
                stackmap_remark(m, "out of memory");
                return;
        }
        members = ids + BTRFS_MAX;
        if (sysroot_resolve(&m->root, source, device) < 0)
                (void) snprintf(device, sizeof device, "%.*s", (int) sizeof device - 1, source);
        name = strrchr(device, '/') ? strrchr(device, '/') + 1 : device;
        n = sysroot_list(&m->root, "/sys/fs/btrfs", ids, BTRFS_MAX);
        for (int i = 0; i < n; i++) {
                int k, found = 0;

                (void) snprintf(directory, sizeof directory, "/sys/fs/btrfs/%s/devices", ids[i]);
                k = sysroot_list(&m->root, directory, members, BTRFS_MAX);
                for (int j = 0; j < k; j++)
                        found |= strcmp(members[j], name) == 0;
                if (!found)
                        continue;
                for (int j = 0; j < k; j++)
                        blockmap_add_name(m, node, role, members[j]);
                free(ids);
                return;
        }
        free(ids);
        blockmap_add_path(m, node, role, source); /* an old kernel's, with one device */
}

/* bcachefs names all of its members as its source. */
static void add_sources(struct stackmap *m, int node, enum role role, const char *source) {
        while (*source != '\0') {
                char path[SYSROOT_PATH_BYTES];
                size_t n = strcspn(source, ":");

                (void) snprintf(path, sizeof path, "%.*s", (int) (n < sizeof path ? n : sizeof path - 1), source);
                blockmap_add_path(m, node, role, path);
                source += n + (source[n] == ':');
        }
}

static void add_zfs_facts(struct stackmap *m, int node, const char *dataset) {
        const char *const argv[] = { "zfs", "get", "-Hp", "-o", "property,value", "sync,compression,logbias", dataset, NULL };
        struct stack_node *n = &m->stack->nodes[node];
        char *text, number[16];

        n->facts |= FACT_LATE_BLOCKS;
        if (sysroot_read(&m->root, "/sys/module/zfs/parameters/zfs_nocacheflush", number, sizeof number) > 0 &&
            number[0] == '1')
                n->facts |= FACT_NO_CACHE_FLUSH;
        if (tool_run(argv, TOOL_LIMIT_BYTES, &text) < 0) {
                stackmap_remark(m, "zfs get %.60s says nothing", dataset);
                return;
        }
        n->facts |= zpool_parse_properties(text);
        free(text);
}

static void add_zfs(struct stackmap *m, int node, enum role role, const char *source) {
        char dataset[STACK_TEXT_BYTES], pool[STACK_TEXT_BYTES], *text;
        const char *const argv[] = { "zpool", "status", "-LP", pool, NULL };
        struct zpool_vdev *vdevs = calloc(VDEVS_MAX, sizeof *vdevs);
        size_t n = 0;

        if (!vdevs) {
                stackmap_remark(m, "out of memory");
                return;
        }
        (void) snprintf(dataset, sizeof dataset, "%.*s", (int) sizeof dataset - 1, source);
        (void) snprintf(pool, sizeof pool, "%.*s", (int) strcspn(dataset, "/"), dataset);
        add_zfs_facts(m, node, dataset);
        if (tool_run(argv, TOOL_LIMIT_BYTES, &text) == 0) {
                n = zpool_parse_status(text, vdevs, VDEVS_MAX);
                free(text);
        }
        if (n == 0) {
                (void) stackmap_add(m, node, LAYER_UNSEEN, role, "pool");
                stackmap_remark(m, "zpool status says nothing of %.80s", pool);
        } else if (n > VDEVS_MAX) {
                stackmap_remark(m, "%.60s has more than %d devices", pool, VDEVS_MAX);
        }
        for (size_t i = 0; i < n && i < VDEVS_MAX; i++) {
                enum role part = role == ROLE_DATA ? vdevs[i].role : role;

                if (strncmp(vdevs[i].path, "/dev/", 5) == 0)
                        blockmap_add_path(m, node, part, vdevs[i].path);
                else
                        fsmap_add_file(m, node, part, vdevs[i].path);
        }
        free(vdevs);
}

/* Of the path as it was given to mount(8), where commas and colons stand behind one. */
static void drop_backslashes(char *path) {
        char *to = path;

        for (const char *from = path; *from != '\0'; from++) {
                if (from[0] == '\\' && from[1] != '\0')
                        from++;
                *to++ = *from;
        }
        *to = '\0';
}

static void add_overlay(struct stackmap *m, int node, enum role role, const struct mount *mount) {
        size_t n;
        const char *upper = mount_option_value(mount->super_options, "upperdir", &n);
        char path[SYSROOT_PATH_BYTES];

        if (!upper || n >= sizeof path) {
                (void) stackmap_add(m, node, LAYER_UNSEEN, role, "upperdir");
                stackmap_remark(m, "the overlay names no upper directory");
                return;
        }
        (void) memcpy(path, upper, n);
        path[n] = '\0';
        mount_unescape(path);
        drop_backslashes(path);
        if (path[0] != '/') { /* relative to whoever mounted it */
                (void) stackmap_add(m, node, LAYER_UNSEEN, role, "upperdir");
                stackmap_remark(m, "the overlay's upper directory is told as %.80s", path);
                return;
        }
        fsmap_add_file(m, node, role, path);
}

/* --- mounts ----------------------------------------------------------------------------- */

static void add_devices(struct stackmap *m, int node, enum role role, const struct mount *mount) {
        if (strcmp(mount->fstype, "btrfs") == 0)
                add_btrfs(m, node, role, mount->source);
        else if (strcmp(mount->fstype, "zfs") == 0)
                add_zfs(m, node, role, mount->source);
        else if (strcmp(mount->fstype, "overlay") == 0)
                add_overlay(m, node, role, mount);
        else if (strcmp(mount->fstype, "bcachefs") == 0)
                add_sources(m, node, role, mount->source);
        else if (mount->major != 0)
                blockmap_add_number(m, node, role, mount->major, mount->minor);
        else if (strncmp(mount->source, "/dev/", 5) == 0)
                blockmap_add_path(m, node, role, mount->source);
        else {
                (void) stackmap_add(m, node, LAYER_UNSEEN, role, "device");
                stackmap_remark(m, "%.32s shows no device", mount->fstype);
        }
}

static void add_mount(struct stackmap *m, int parent, enum role role, const struct mount *mount) {
        enum layer layer = layer_of(mount->fstype);
        int node = stackmap_add(m, parent, layer, role, mount->fstype);

        if (node < 0)
                return;
        (void) snprintf(m->stack->nodes[node].detail, STACK_DETAIL_BYTES, "%.*s", STACK_DETAIL_BYTES - 1,
                        parent < 0 ? mount->source : mount->mount_point);
        m->stack->nodes[node].facts = facts_of(mount);
        if (layer != LAYER_FILESYSTEM)
                return;
        if (m->depth == STACKMAP_DEPTH_MAX) {
                stackmap_remark(m, "file systems nested deeper than %d", STACKMAP_DEPTH_MAX);
                return;
        }
        m->inside[m->depth++] = mount;
        add_devices(m, node, role, mount);
        m->depth--;
}

/* Nothing lies on itself: the path is one of another mount namespace, as an overlay's in a
 * container is, or its file has been mounted over. */
static bool is_inside(const struct stackmap *m, const struct mount *mount) {
        for (unsigned i = 0; i < m->depth; i++)
                if (m->inside[i] == mount)
                        return true;
        return false;
}

void fsmap_add_file(struct stackmap *m, int parent, enum role role, const char *path) {
        const struct mount *mount = mountinfo_find_path(&m->mounts, path);

        if (mount && is_inside(m, mount)) {
                (void) stackmap_add(m, parent, LAYER_UNSEEN, role, "file");
                stackmap_remark(m, "%.90s is not seen from here", path);
        } else if (mount) {
                add_mount(m, parent, role, mount);
        } else {
                (void) stackmap_add(m, parent, LAYER_UNSEEN, role, "file");
                stackmap_remark(m, "no mount holds %.90s", path);
        }
}

static void copy_text(char *to, size_t room, const char *from) {
        (void) snprintf(to, room, "%.*s", (int) room - 1, from);
}

/* Those of the mount and of its file system, which both begin with rw or ro: the file system's counts if it is ro. */
static void copy_options(char *to, size_t room, const struct mount *mount) {
        const char *super = mount->super_options;

        if (strncmp(super, "rw,", 3) == 0)
                super += 3;
        else if (strcmp(super, "rw") == 0)
                super = "";
        (void) snprintf(to, room, "%.200s%s%.300s", mount->options, super[0] != '\0' ? "," : "", super);
}

void stackmap_make(struct stack *ret, const char *root, const struct stackmap_place *place) {
        struct stackmap m = { .stack = ret, .root = { .fd = -1 } };
        const struct mount *mount = NULL;
        int r;

        (void) memset(ret, 0, sizeof *ret);
        r = sysroot_open(&m.root, root);
        if (r == 0)
                r = mountinfo_read(&m.mounts, &m.root);
        if (r == 0)
                mount = mountinfo_find(&m.mounts, place->mount_id, place->major, place->minor, place->path);
        if (!mount) {
                stackmap_remark(&m, "/proc/self/mountinfo does not show the mount: %s", strerror(r < 0 ? -r : ENOENT));
        } else {
                copy_text(ret->fstype, sizeof ret->fstype, mount->fstype);
                copy_text(ret->source, sizeof ret->source, mount->source);
                copy_text(ret->mount_point, sizeof ret->mount_point, mount->mount_point);
                copy_options(ret->options, sizeof ret->options, mount);
                add_mount(&m, -1, ROLE_DATA, mount);
        }
        mountinfo_done(&m.mounts);
        sysroot_close(&m.root);
}
