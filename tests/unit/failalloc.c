#include "failalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The linker's names for the wrapped functions and for the real ones. */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);

static unsigned n_calls;
static unsigned fail_at; /* 0: none */
static bool failed;

static bool refuse(void) {
        if (fail_at == 0 || ++n_calls != fail_at)
                return false;

        failed = true;
        errno = ENOMEM;
        return true;
}

void *__wrap_malloc(size_t size) {
        return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
        return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size) {
        return refuse() ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
        return refuse() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *s) {
        return refuse() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n) {
        return refuse() ? NULL : __real_strndup(s, n);
}

unsigned failalloc_each(void (*fn)(void *arg), void *arg) {
        unsigned turn = 0;

        do {
                n_calls = 0;
                failed = false;
                fail_at = ++turn;
                fn(arg);
                fail_at = 0;
        } while (failed);

        return n_calls;
}

bool failalloc_failed(void) {
        return failed;
}
