/*
 * judged - the part of a report that leads it: whether its numbers can be
 * believed, why, and what to do next. Pure.
 */
#ifndef SYNCPROBE_CLI_JUDGED_H
#define SYNCPROBE_CLI_JUDGED_H

#include "cli/report.h"

/* The verdicts of all tests of one path, each reason once, and one line of advice.
 * Nothing for tests that measured nothing, which say so themselves. */
void judged_add(struct strbuf *b, const struct report_item *items, size_t n, bool bold);

#endif
