// What the system calls of a point select cost a client: a loop over connections that are logged in and have prepared
// their statement, which sends the same bytes each time but for the row's number, and looks at nothing of what comes
// back but how it ends.
//
//     floor SECONDS ROWS REQUEST_HEX OFFSET mysql|postgres CONNECTION...
//
// CONNECTION is the number of an open socket. Prints statements, seconds, and seconds of processor time.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "client.h"

static unsigned char request[256];
static size_t length, offset;
static int big_endian;
static unsigned rows, seed = 1;

static void ask(int connection) {
    seed = seed * 1664525u + 1013904223u;
    unsigned row = 1 + (seed >> 8) % rows;
    row = big_endian ? htonl(row) : row;
    memcpy(request + offset, &row, sizeof row);
    if (send(connection, request, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

// Whether all of the answer is there.
static int take(int connection) {
    unsigned char reply[4096];
    ssize_t got = recv(connection, reply, sizeof reply, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) fail("recv");
    if (got < 9) return 0;
    return big_endian ? reply[got - 6] == 'Z' : reply[got - 5] == 0xfe;
}

int main(int count, char **arguments) {
    if (count < 7) return 2;
    double seconds = atof(arguments[1]);
    rows = atoi(arguments[2]);
    for (const char *hex = arguments[3]; hex[0] && length < sizeof request; hex += 2)
        sscanf(hex, "%2hhx", &request[length++]);
    offset = atoi(arguments[4]);
    big_endian = strcmp(arguments[5], "postgres") == 0;
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);  // as the engine's threads
    int set = epoll_create1(0);
    for (int n = 6; n < count; n++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = atoi(arguments[n])};
        if (epoll_ctl(set, EPOLL_CTL_ADD, event.data.fd, &event)) fail("epoll_ctl");
        ask(event.data.fd);
    }
    struct epoll_event ready[AT_ONCE];
    long made = 0;
    double began = now(), used = processor_s();
    while (now() - began < seconds) {
        int many = epoll_wait(set, ready, AT_ONCE, 1000);
        for (int n = 0; n < many; n++) {
            if (!take(ready[n].data.fd)) continue;
            ask(ready[n].data.fd);
            made++;
        }
    }
    printf("%ld %.9f %.9f\n", made, now() - began, processor_s() - used);
    return 0;
}
