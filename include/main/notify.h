/*
 * notify - systemd's readiness protocol (sd_notify(3)), without ever waiting.
 *
 * sd_notify() itself blocks once its receiver stalls. A state that counts
 * (READY, STOPPING) stays pending until it was sent: call notify_flush() from time to time.
 */
#ifndef SYNCPROBE_MAIN_NOTIFY_H
#define SYNCPROBE_MAIN_NOTIFY_H

#include <stdbool.h>

struct notify {
        int socket; /* -1: nobody wants to know */
        bool ready_pending, stopping_pending;
        char status[256]; /* pending with them */
};

/* Takes $NOTIFY_SOCKET out of the environment, so that no child has it. 0 or -errno. */
int notify_init(struct notify *n);
void notify_done(struct notify *n);

void notify_ready(struct notify *n, const char *status);
void notify_stopping(struct notify *n);

/* Whether nothing is pending any more. */
bool notify_flush(struct notify *n);

#endif
