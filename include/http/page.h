/*
 * page - a snapshot as the page that people open. Pure.
 *
 * Plain HTML without script; relative links only, so that it works below any
 * path prefix.
 */
#ifndef SYNCPROBE_HTTP_PAGE_H
#define SYNCPROBE_HTTP_PAGE_H

#include "core/snapshot.h"
#include "core/strbuf.h"

/* Want of memory is @b's sticky error. */
void page_add(struct strbuf *b, const struct snapshot *s);

#endif
