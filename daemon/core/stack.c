/*
 * What lies under a path; see core/stack.h.
 */
#include "core/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 4

static const struct {
        const char *name, *text;
        bool is_leaf, is_device;
} layers[LAYER_COUNT_] = {
        [LAYER_FILESYSTEM] = { "filesystem", "file system", false, false },
        [LAYER_MEMORY_FILESYSTEM] = { "memory-filesystem", "file system in memory", true, false },
        [LAYER_NETWORK_FILESYSTEM] = { "network-filesystem", "network file system", true, false },
        [LAYER_FUSE] = { "fuse", "file system in user space (FUSE)", true, false },
        [LAYER_PARTITION] = { "partition", "partition", false, true },
        [LAYER_LVM] = { "lvm", "logical volume", false, true },
        [LAYER_THIN] = { "thin", "thin volume", false, true },
        [LAYER_CRYPT] = { "crypt", "encrypted (dm-crypt)", false, true },
        [LAYER_MULTIPATH] = { "multipath", "multipath", false, true },
        [LAYER_CACHED] = { "cached", "cache before a slower device", false, true },
        [LAYER_VDO] = { "vdo", "compressing and deduplicating (VDO)", false, true },
        [LAYER_MAPPED] = { "mapped", "device-mapper device", false, true },
        [LAYER_MD] = { "md", "software RAID (md)", false, true },
        [LAYER_LOOP] = { "loop", "loop device", false, true },
        [LAYER_DISK] = { "disk", "disk", true, true },
        [LAYER_VIRTUAL] = { "virtual", "virtual disk", true, true },
        [LAYER_CONTROLLER] = { "controller", "RAID controller's volume", true, true },
        [LAYER_FABRIC] = { "fabric", "disk behind a network", true, true },
        [LAYER_RBD] = { "rbd", "Ceph block device (rbd)", true, true },
        [LAYER_NBD] = { "nbd", "network block device (nbd)", true, true },
        [LAYER_DRBD] = { "drbd", "replicated device (DRBD)", true, true },
        [LAYER_ZVOL] = { "zvol", "ZFS volume", true, true },
        [LAYER_MEMORY] = { "memory", "block device in memory", true, true },
        [LAYER_UNSEEN] = { "unseen", "not seen", true, false },
};

const char *layer_name(enum layer layer) {
        return (size_t) layer < LAYER_COUNT_ ? layers[layer].name : "unknown";
}

const char *layer_text(enum layer layer) {
        return (size_t) layer < LAYER_COUNT_ ? layers[layer].text : "unknown";
}

const char *role_name(enum role role) {
        static const char *const names[ROLE_COUNT_] = { "data", "log", "cache", "special" };

        return (size_t) role < ROLE_COUNT_ ? names[role] : "unknown";
}

const char *write_cache_name(enum write_cache write_cache) {
        return write_cache == WRITE_CACHE_BACK ? "write back" : write_cache == WRITE_CACHE_THROUGH ? "write through" : NULL;
}

/* --- one that came from elsewhere ------------------------------------------- */

static bool is_text(const char *text, size_t room) {
        return memchr(text, '\0', room) != NULL;
}

static bool node_is_valid(const struct stack_node *n, size_t i) {
        return is_text(n->name, sizeof n->name) && is_text(n->detail, sizeof n->detail) &&
               is_text(n->transport, sizeof n->transport) && n->layer < LAYER_COUNT_ && n->role < ROLE_COUNT_ &&
               n->write_cache < WRITE_CACHE_COUNT_ && n->rotational >= -1 && n->rotational <= 1 &&
               (i == 0 ? n->parent == -1 : n->parent >= 0 && (size_t) n->parent < i) &&
               (n->facts & ~(uint32_t) FACT_MASK_) == 0;
}

bool stack_is_valid(const struct stack *s) {
        unsigned char incomplete;

        memcpy(&incomplete, &s->incomplete, sizeof incomplete);
        if (incomplete > 1 || s->n_nodes > STACK_NODES_MAX || !is_text(s->fstype, sizeof s->fstype) ||
            !is_text(s->source, sizeof s->source) || !is_text(s->mount_point, sizeof s->mount_point) ||
            !is_text(s->options, sizeof s->options) || !is_text(s->remark, sizeof s->remark))
                return false;
        for (size_t i = 0; i < s->n_nodes; i++)
                if (!node_is_valid(&s->nodes[i], i))
                        return false;
        return true;
}

int stack_new(struct stack **ret, const struct stack *from) {
        size_t bytes = offsetof(struct stack, nodes) + from->n_nodes * sizeof from->nodes[0];
        void *copy = malloc(bytes);

        if (!copy)
                return -ENOMEM;
        memcpy(copy, from, bytes);
        *ret = copy;
        (*ret)->references = 1;
        return 0;
}

struct stack *stack_ref(struct stack *s) {
        if (s)
                s->references++;
        return s;
}

struct stack *stack_unref(struct stack *s) {
        if (s && --s->references == 0)
                free(s);
        return NULL;
}

/* --- leaves ------------------------------------------------------------------ */

bool stack_node_is_leaf(const struct stack *s, size_t i) {
        if ((s->nodes[i].facts & FACT_SHARED) != 0)
                return false;
        for (size_t k = i + 1; k < s->n_nodes; k++)
                if (s->nodes[k].parent == (int16_t) i)
                        return false;
        return true;
}

bool stack_node_is_device_leaf(const struct stack *s, size_t i) {
        return layers[s->nodes[i].layer].is_device && s->nodes[i].layer != LAYER_MEMORY && stack_node_is_leaf(s, i);
}

static bool takes_writes(const struct stack_node *n) {
        return n->role != ROLE_CACHE;
}

size_t stack_leaves(const struct stack *s, uint8_t ret[STACK_LEAVES_MAX], bool *ret_more) {
        size_t n = 0;

        *ret_more = false;
        for (size_t i = 0; i < s->n_nodes; i++) {
                if (!takes_writes(&s->nodes[i]) || !stack_node_is_device_leaf(s, i))
                        continue;
                if (n == STACK_LEAVES_MAX) {
                        *ret_more = true;
                        break;
                }
                ret[n++] = (uint8_t) i;
        }
        return n;
}

uint32_t stack_facts(const struct stack *s) {
        uint32_t facts = 0;

        for (size_t i = 0; i < s->n_nodes; i++)
                if (takes_writes(&s->nodes[i]))
                        facts |= s->nodes[i].facts;
        return facts;
}

bool stack_has_layer(const struct stack *s, enum layer layer) {
        for (size_t i = 0; i < s->n_nodes; i++)
                if (takes_writes(&s->nodes[i]) && s->nodes[i].layer == layer)
                        return true;
        return false;
}

/* --- media -------------------------------------------------------------------- */

/* Local file systems by type that several machines share. */
static bool is_cluster_filesystem(const char *fstype) {
        static const char *const names[] = { "gfs2", "ocfs2", "lustre", "gpfs" };

        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if (strcmp(fstype, names[i]) == 0)
                        return true;
        return false;
}

enum medium stack_medium(const struct stack *s) {
        enum medium medium = MEDIUM_UNKNOWN;

        for (size_t i = 0; i < s->n_nodes; i++) {
                const struct stack_node *n = &s->nodes[i];

                if (n->layer == LAYER_NETWORK_FILESYSTEM || n->layer == LAYER_FUSE || n->layer == LAYER_RBD ||
                    n->layer == LAYER_NBD || n->layer == LAYER_DRBD || n->layer == LAYER_FABRIC ||
                    (n->layer == LAYER_FILESYSTEM && is_cluster_filesystem(n->name)))
                        return MEDIUM_SHARED;
                /* Virtual disks and volumes of controllers call themselves rotating, whatever they are. */
                if (!takes_writes(n) || n->layer != LAYER_DISK || n->rotational < 0)
                        continue;
                if (n->rotational == 1)
                        medium = MEDIUM_ROTATING;
                else if (medium == MEDIUM_UNKNOWN)
                        medium = MEDIUM_FLASH;
        }
        return medium;
}

static const struct {
        const char *name, *text;
} media[MEDIUM_COUNT_] = {
        [MEDIUM_UNKNOWN] = { "unknown", "unknown medium" },
        [MEDIUM_FLASH] = { "flash", "local flash" },
        [MEDIUM_ROTATING] = { "rotating", "local rotating disks" },
        [MEDIUM_SHARED] = { "shared", "shared or network storage" },
};

const char *medium_name(enum medium medium) {
        return (size_t) medium < MEDIUM_COUNT_ ? media[medium].name : "unknown";
}

const char *medium_text(enum medium medium) {
        return (size_t) medium < MEDIUM_COUNT_ ? media[medium].text : "unknown";
}

void stack_add_leaf_names(struct strbuf *b, const struct stack *s) {
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;
        size_t n = stack_leaves(s, leaves, &more), shown = n <= NAMES_SHOWN ? n : NAMES_SHOWN - 1;

        if (n == 0)
                strbuf_add(b, "no device");
        for (size_t i = 0; i < shown; i++) {
                if (i > 0)
                        strbuf_add(b, i + 1 == n ? " and " : ", ");
                strbuf_add(b, s->nodes[leaves[i]].name);
        }
        if (shown < n)
                strbuf_printf(b, " and %zu more", n - shown);
}
