/*
 * syncprobe-worker: started by syncprobed and syncprobe, not by hand.
 */
#include <stdio.h>
#include <sys/socket.h>

#include "core/proto.h"
#include "worker/worker.h"

int main(void) {
        int type;
        socklen_t size = sizeof type;

        if (getsockopt(PROTO_SOCKET_FD, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_SEQPACKET) {
                fputs("syncprobe-worker is started by syncprobed and by syncprobe run, not by hand\n", stderr);
                return 2;
        }
        return worker_main();
}
