/*
 * probe - runs on one path, by a worker of its own.
 *
 * The worker is started when the first run needs it, and anew after it died or
 * the path changed under it. Blocks until a run is over, or a signal came and
 * the worker has tidied up, or a second one came.
 */
#ifndef SYNCPROBE_CLI_PROBE_H
#define SYNCPROBE_CLI_PROBE_H

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "core/histogram.h"
#include "core/result.h"

struct probe;

/* @program: the worker's; @path as given; both and the others must outlive it. */
int probe_new(struct probe **ret, const char *program, const char *path, struct interrupt *interrupt,
              struct progress *progress);
/* Ends the worker, and waits for that unless it hangs; NULL-safe. */
struct probe *probe_free(struct probe *p);

/* As resolved by the worker, or as given until then. */
const char *probe_path(const struct probe *p);
const char *probe_fstype(const struct probe *p); /* "" until it is known */

/* What lies under the path; NULL until a run or a look, and where it could not be found. Owned by @p. */
struct stack *probe_stack(const struct probe *p);

/* The administrator vouches for these from now on: CODE_BIT()s. */
void probe_accept(struct probe *p, uint32_t codes);

/* Only looks the path up and maps what lies under it: no byte is written. 0; -EINTR,
 * -ECANCELED: a signal; -ENODATA: it cannot be tested, and *ret says why. */
int probe_look(struct probe *p, struct result *ret);

/* Whether the path itself is at fault for the last failure: no test was tried. */
bool probe_is_refused(const struct probe *p);

/*
 * One run. *ret is filled in always, as a failed one where anything went
 * wrong; *ret_sync too. Returns 0; -EINTR: a signal ended it, tidily; or
 * -ECANCELED: a second signal came, the worker is left to itself, and stderr says so.
 */
int probe_run(struct probe *p, const struct spec *spec, const char *test, uint64_t min_free_bytes,
              struct result *ret, struct histogram *ret_sync);

#endif
