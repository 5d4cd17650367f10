/*
 * failalloc - fails every allocation of a piece of code, one after the other.
 *
 * Every unit test is linked with --wrap, so that malloc, calloc, realloc,
 * aligned_alloc, strdup and strndup of our own objects pass through here; those inside shared
 * libraries do not (for jansson: json_set_alloc_funcs(malloc, free) in the test
 * brings them in). Freeing is not touched: asan and valgrind see what leaks.
 */
#ifndef SYNCPROBE_TESTS_FAILALLOC_H
#define SYNCPROBE_TESTS_FAILALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Runs fn(arg) with its 1st, 2nd, 3rd, … allocation failing, until it runs
 * through with none failed; returns how many it made then. fn must leave
 * nothing allocated, and asserts what its code made of a failure.
 *
 *     static void parse(void *arg)
 *     {
 *             struct spec *spec = NULL;
 *             int r = spec_parse(&spec, arg);
 *             assert_int_equal(r, failalloc_failed() ? -ENOMEM : 0);
 *             spec_free(spec);
 *     }
 *     assert_true(failalloc_each(parse, "4KiB") > 0);
 */
unsigned failalloc_each(void (*fn)(void *arg), void *arg);

/* Whether an allocation was made to fail in the present run of fn. */
bool failalloc_failed(void);

#endif
