/*
 * What a finished run measured; see core/result.h.
 */
#include "core/result.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/rules.h"

/* The errno of an `ok` that was none. No call on a target has it. */
#define NOTHING_DONE ENODATA

static double per_second(uint64_t amount, uint64_t ns) {
        return ns > 0 ? (double) amount * 1e9 / (double) ns : (double) NAN;
}

static void work_out_rates(struct result *r) {
        r->syncs_per_second = r->stream_bytes_per_second = (double) NAN;
        if (!result_is_ok(r))
                return;
        switch (r->spec.kind) {
        case KIND_STREAM:
                r->stream_bytes_per_second = per_second(r->written_bytes, r->elapsed_ns);
                break;
        case KIND_CREATE:
                r->syncs_per_second = per_second(r->samples, r->elapsed_ns);
                break;
        case KIND_COMMIT:
        case KIND_PULSE:
                r->syncs_per_second = per_second(r->samples, r->sync.sum_ns + r->write.sum_ns);
                break;
        case KIND_COUNT_:
                break;
        }
}

static void summarize_nothing(struct histogram_summary *s) {
        *s = (struct histogram_summary) {
                .min_ns = HISTOGRAM_NONE, .mean_ns = HISTOGRAM_NONE, .p50_ns = HISTOGRAM_NONE,
                .p90_ns = HISTOGRAM_NONE, .p99_ns = HISTOGRAM_NONE, .p999_ns = HISTOGRAM_NONE,
                .max_ns = HISTOGRAM_NONE,
        };
}

static bool did_nothing(const struct result *r) {
        return r->written_bytes == 0 || r->samples == 0 || r->sync.samples == 0;
}

void result_from_report(struct result *ret, const struct spec *spec, const struct proto_report *report,
                        const struct histogram *sync, const struct histogram *write) {
        *ret = (struct result) {
                .spec = *spec,
                .outcome = report->outcome,
                .reason = report->reason,
                .skip = SKIP_LOWSPACE, /* the one that a worker can find */
                .phase = report->outcome == OUTCOME_OK ? PHASE_NONE : report->phase,
                .error = report->error,
                .truncated = report->truncated,
                .started_realtime_ns = report->started_realtime_ns,
                .ended_realtime_ns = report->started_realtime_ns + report->elapsed_ns,
                .elapsed_ns = report->elapsed_ns,
                .written_bytes = report->written_bytes,
                .laid_out_bytes = report->laid_out_bytes,
                .samples = report->samples,
                .writeback = report->writeback,
        };
        memcpy(ret->fstype, report->fstype, sizeof ret->fstype);
        ret->fstype[sizeof ret->fstype - 1] = '\0';
        histogram_summarize(sync, &ret->sync);
        histogram_summarize(write, &ret->write);
        if (ret->outcome == OUTCOME_OK && did_nothing(ret)) {
                ret->outcome = OUTCOME_FAILED;
                ret->reason = REASON_INTERNAL;
                ret->error = NOTHING_DONE;
        }
        work_out_rates(ret);
        rules_judge(&ret->judgement, ret, 0);
}

int result_judge(struct result *r, struct stack *stack, const struct proto_evidence *seen, uint32_t accepted) {
        int error = evidence_new(&r->evidence, stack, seen);

        rules_judge(&r->judgement, r, accepted);
        return error;
}

void result_copy(struct result *ret, const struct result *from) {
        *ret = *from;
        (void) evidence_ref(ret->evidence);
}

void result_done(struct result *r) {
        r->evidence = evidence_unref(r->evidence);
}

void result_from_failure(struct result *ret, const struct spec *spec, enum reason reason, enum phase phase,
                         int error, uint64_t started_realtime_ns, uint64_t ended_realtime_ns) {
        *ret = (struct result) {
                .spec = *spec,
                .outcome = OUTCOME_FAILED,
                .reason = reason,
                .phase = phase,
                .error = error,
                .started_realtime_ns = started_realtime_ns,
                .ended_realtime_ns = ended_realtime_ns,
        };
        summarize_nothing(&ret->sync);
        summarize_nothing(&ret->write);
        work_out_rates(ret);
        rules_judge(&ret->judgement, ret, 0);
}

/* The call that the phase stands for in this kind of run. */
static const char *call_name(const struct result *r) {
        if (r->phase == PHASE_LOOKUP)
                return "looking the directory up";
        if (r->phase != PHASE_SYNC)
                return phase_name(r->phase);
        if (r->spec.kind == KIND_CREATE)
                return "fsync";
        return r->spec.kind == KIND_COMMIT ? sync_mode_name(r->spec.sync) : "fdatasync";
}

/* What an error asks of its reader, where that is more than the reason says. */
static const char *error_text(const struct result *r) {
        switch (r->error) {
        case ENOTDIR:
                return "not a directory; devices and files are never tested";
        case ELOOP:
                return "a symbolic link stands on the way; write the resolved path";
        case EKEYREJECTED:
                return "others own the directory or may write to it; give it to the service's user, mode 0700";
        case EEXIST:
                return "something that is not ours stands where our file belongs";
        default:
                return reason_text(r->reason);
        }
}

void result_add_failure(struct strbuf *b, const struct result *r) {
        if (r->outcome == OUTCOME_OK)
                return;
        if (r->outcome == OUTCOME_SKIPPED) {
                strbuf_add(b, skip_text(r->skip));
                return;
        }
        if (r->phase != PHASE_NONE)
                strbuf_printf(b, "%s: ", call_name(r));
        strbuf_add(b, error_text(r));
        if (r->error == NOTHING_DONE)
                strbuf_add(b, ": a run that wrote nothing, or synced nothing, called itself done");
        else if (r->error > 0) {
                const char *name = strerrorname_np(r->error);

                if (name)
                        strbuf_printf(b, " (%s)", name);
                else
                        strbuf_printf(b, " (errno %d)", r->error);
        }
}
