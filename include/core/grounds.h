/*
 * grounds - a verdict's reasons in sentences: what was seen and what was
 * expected, in numbers; and what to do next. Pure.
 */
#ifndef SYNCPROBE_CORE_GROUNDS_H
#define SYNCPROBE_CORE_GROUNDS_H

#include "core/result.h"
#include "core/strbuf.h"

/* One sentence without a full stop. @code is one of r->judgement.codes. */
void grounds_add_text(struct strbuf *b, const struct result *r, enum code code);

/* One line on what to do about the gravest reason that is not accepted; nothing
 * where there is none. */
void grounds_add_advice(struct strbuf *b, const struct result *r);

/* "sync=disabled on tank/vz", "mounted with nobarrier": the facts by which syncs are
 * not honoured on this stack, comma-separated. */
void grounds_add_sync_disabled(struct strbuf *b, const struct stack *s);

#endif
