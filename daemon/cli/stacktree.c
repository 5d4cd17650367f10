/*
 * A stack in text; see cli/stacktree.h.
 */
#include "cli/stacktree.h"

#include <string.h>

#include "cli/report.h"
#include "core/grounds.h"
#include "core/verdict.h"

/* --- the tree --- */

static bool has_later_sibling(const struct stack *s, size_t i) {
        for (size_t k = i + 1; k < s->n_nodes; k++)
                if (s->nodes[k].parent == s->nodes[i].parent)
                        return true;
        return false;
}

/* The lines of the ancestors, from the outermost on; the node's own branch at the end. */
static void add_branches(struct strbuf *b, const struct stack *s, size_t i) {
        size_t chain[STACK_NODES_MAX], n = 0;

        for (size_t at = i; s->nodes[at].parent >= 0; at = (size_t) s->nodes[at].parent)
                chain[n++] = at;
        while (n-- > 0)
                if (n == 0)
                        strbuf_add(b, has_later_sibling(s, chain[n]) ? "├─ " : "└─ ");
                else
                        strbuf_add(b, has_later_sibling(s, chain[n]) ? "│  " : "   ");
}

static void add_word(struct strbuf *b, const char **between, const char *word) {
        strbuf_add(b, *between);
        strbuf_add(b, word);
        *between = ", ";
}

static void add_properties(struct strbuf *b, const struct stack *s, size_t i) {
        static const struct {
                uint32_t fact;
                const char *text;
        } facts[] = {
                { FACT_SYNC_DISABLED, "sync=disabled" },   { FACT_NO_CACHE_FLUSH, "zfs_nocacheflush=1" },
                { FACT_NO_BARRIER, "nobarrier" },          { FACT_NO_BARRIER_FSYNC, "fsync_mode=nobarrier" },
                { FACT_VOLATILE, "volatile" },             { FACT_COMPRESSION, "compression" },
                { FACT_THROUGHPUT, "logbias=throughput" }, { FACT_CACHE_OVERRIDDEN, "told to the kernel as write through" },
        };
        const struct stack_node *n = &s->nodes[i];
        const char *between = " (";

        if (n->role != ROLE_DATA)
                add_word(b, &between, role_name((enum role) n->role));
        if (n->transport[0] != '\0')
                add_word(b, &between, n->transport);
        if (n->layer == LAYER_DISK && n->rotational >= 0)
                add_word(b, &between, n->rotational == 1 ? "rotating" : "flash");
        if (stack_node_is_device_leaf(s, i)) {
                const char *cache = write_cache_name((enum write_cache) n->write_cache);

                add_word(b, &between, "write cache: ");
                strbuf_add(b, cache ? cache : "not told");
        }
        for (size_t k = 0; k < sizeof facts / sizeof facts[0]; k++)
                if ((n->facts & facts[k].fact) != 0)
                        add_word(b, &between, facts[k].text);
        if (between[0] == ',')
                strbuf_add(b, ")");
}

static void add_node(struct strbuf *b, const struct stack *s, size_t i) {
        const struct stack_node *n = &s->nodes[i];

        add_branches(b, s, i);
        report_add_printable(b, n->name);
        if (n->layer != LAYER_FILESYSTEM)
                strbuf_printf(b, "  %s", layer_text((enum layer) n->layer));
        if (n->detail[0] != '\0') {
                strbuf_add(b, "  ");
                report_add_printable(b, n->detail);
        }
        add_properties(b, s, i);
        strbuf_add(b, "\n");
}

/* Children stand behind their parent in the array, but not right behind: from node to its children. */
static void add_below(struct strbuf *b, const struct stack *s, size_t i) {
        size_t path[STACK_NODES_MAX + 1], depth = 0, next = i + 1;

        add_node(b, s, i);
        path[depth] = i;
        for (;;) {
                while (next < s->n_nodes && s->nodes[next].parent != (int16_t) path[depth])
                        next++;
                if (next < s->n_nodes) {
                        add_node(b, s, next);
                        path[++depth] = next++;
                } else if (depth == 0) {
                        return;
                } else {
                        next = path[depth--] + 1;
                }
        }
}

void stacktree_add(struct strbuf *b, const struct stack *s) {
        if (s->n_nodes > 0)
                add_below(b, s, 0);
}

/* --- what a test can tell --- */

static void add_sentence(struct strbuf *b, const char *indent, const char *text) {
        strbuf_printf(b, "%s%s\n", indent, text);
}

static void add_leaves_sentence(struct strbuf *b, const struct stack *s, const char *indent, const char *before,
                                const char *after) {
        strbuf_printf(b, "%s%s", indent, before);
        stack_add_leaf_names(b, s);
        strbuf_printf(b, "%s\n", after);
}

static bool is_remote(const struct stack *s) {
        return stack_has_layer(s, LAYER_NETWORK_FILESYSTEM) || stack_has_layer(s, LAYER_FUSE) || stack_has_layer(s, LAYER_RBD) ||
               stack_has_layer(s, LAYER_NBD) || stack_has_layer(s, LAYER_DRBD);
}

static void add_cannot(struct strbuf *b, const struct stack *s, uint32_t accepted, const char *indent) {
        const struct {
                bool holds;
                enum code code;
                const char *text;
        } blind[] = {
                { is_remote(s), CODE_DEVICE_UNSEEN, "what the other end does with the bytes" },
                { !is_remote(s) && (s->incomplete || stack_has_layer(s, LAYER_UNSEEN) || stack_has_layer(s, LAYER_ZVOL)),
                  CODE_DEVICE_UNSEEN, "whether the bytes reach a device" },
                { stack_has_layer(s, LAYER_VIRTUAL), CODE_HOST_CACHE_UNSEEN,
                  "whether the host behind the virtual disk passes flushes on, or drops them (cache=unsafe)" },
                { stack_has_layer(s, LAYER_CONTROLLER), CODE_CONTROLLER_CACHE_UNSEEN,
                  "whether the RAID controller's cache has a battery, and is in write-back now" },
                { stack_has_layer(s, LAYER_FABRIC), CODE_CONTROLLER_CACHE_UNSEEN,
                  "whether the cache at the other end of the storage network is protected" },
        };

        for (size_t i = 0; i < sizeof blind / sizeof blind[0]; i++)
                if (blind[i].holds)
                        strbuf_printf(b, "%sIt cannot show %s: %s%s.\n", indent, blind[i].text, code_name(blind[i].code),
                                      (accepted & CODE_BIT(blind[i].code)) != 0 ? ", which is accepted" : "");
}

void stacktree_add_sight(struct strbuf *b, const struct stack *s, uint32_t accepted, const char *indent) {
        uint8_t leaves[STACK_LEAVES_MAX];
        bool more;

        if (stack_has_layer(s, LAYER_MEMORY_FILESYSTEM) || stack_has_layer(s, LAYER_MEMORY)) {
                add_sentence(b, indent, "A test here shows the speed of memory, and of no disk: memory-backed.");
                return;
        }
        if ((stack_facts(s) & FACTS_SYNC_DISABLED) != 0) {
                strbuf_printf(b, "%sSyncs are not honoured here (", indent);
                grounds_add_sync_disabled(b, s);
                strbuf_add(b, "): sync-disabled.\n");
        }
        if (stack_leaves(s, leaves, &more) > 0 && !is_remote(s))
                add_leaves_sentence(b, s, indent, "A test here can show how many bytes and flushes reach ", ".");
        else
                add_sentence(b, indent, "A test here can show how long writes and syncs take.");
        if ((stack_facts(s) & FACT_COMPRESSION) != 0)
                add_sentence(b, indent, "Zeros are compressed away here: only random data tell a rate.");
        add_cannot(b, s, accepted, indent);
}
