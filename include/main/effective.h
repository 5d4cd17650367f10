/*
 * effective - the configuration that is in force, written out in its own form.
 *
 * What --check prints: defaults filled in, sizes and times also as plain numbers
 * of bytes and seconds in the comment behind them, and what each target writes
 * in a day. Pure.
 */
#ifndef SYNCPROBE_MAIN_EFFECTIVE_H
#define SYNCPROBE_MAIN_EFFECTIVE_H

#include "core/strbuf.h"
#include "main/config.h"

void effective_add(struct strbuf *b, const struct config *c);

#endif
