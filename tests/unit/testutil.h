/*
 * testutil - cmocka with what it must be preceded by, and random input that can
 * be had again.
 *
 * Each program prints the seed it runs with; SYNCPROBE_TEST_SEED=<seed> repeats
 * that run.
 */
#ifndef SYNCPROBE_TESTS_TESTUTIL_H
#define SYNCPROBE_TESTS_TESTUTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* The order matters: cmocka.h uses the types of those above. */
#include <cmocka.h>

/* Runs the group under its printed seed; returns what main() returns. */
#define testutil_run(tests) \
        (testutil_seed_init(), cmocka_run_group_tests_name(__FILE__, (tests), NULL, NULL))

/* Chooses the seed and prints it. testutil_run() does this. */
void testutil_seed_init(void);

/* The next 64 random bits (xorshift64*). */
uint64_t testutil_random(void);

/* A random number of [0, below); below is at least 1. */
uint64_t testutil_random_below(uint64_t below);

void testutil_random_bytes(void *buffer, size_t n_bytes);

#endif
