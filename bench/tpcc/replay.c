// What the system calls of TPC-C's transactions cost a client: connections that are logged in and have prepared their
// statements send the requests of a recorded load again, each from another transaction on, and read of the answers only
// where they end.
//
//     replay SECONDS RECORD CONNECTION...
//
// RECORD has, for each write of the recorded load, three 32-bit numbers: the answers to it, whether it begins a
// transaction, and its length; then its bytes. CONNECTION is the number of an open socket of MySQL's protocol without
// EOF packets. Prints transactions, seconds, and seconds of processor time.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "../sql_engine/client.h"

#define LONGEST 65536

struct part {
    uint32_t answers, begins, length;
    const unsigned char *bytes;
};

struct connection {
    int socket;
    size_t next, held;
    uint32_t awaited;
    int within_rows;
    unsigned char reply[LONGEST];
};

static struct part *parts;
static size_t count;
static long transactions;

static void read_record(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("open");
    uint32_t head[3];
    while (fread(head, sizeof head, 1, file) == 1) {
        unsigned char *bytes = malloc(head[2]);
        if (fread(bytes, head[2], 1, file) != 1) fail("read");
        parts = realloc(parts, (count + 1) * sizeof *parts);
        parts[count++] = (struct part){head[0], head[1], head[2], bytes};
    }
    fclose(file);
    if (count == 0) exit(2);
}

static void ask(struct connection *one) {
    const struct part *part = &parts[one->next];
    one->next = (one->next + 1) % count;
    transactions += part->begins;
    one->awaited = part->answers;
    if (send(one->socket, part->bytes, part->length, MSG_NOSIGNAL) != (ssize_t)part->length) fail("send");
}

// Whether all answers to the latest request are there.
static int take(struct connection *one) {
    ssize_t got = recv(one->socket, one->reply + one->held, LONGEST - one->held, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) fail("recv");
    size_t end = one->held + (got > 0 ? got : 0), at = 0;
    while (end - at >= 5) {
        const unsigned char *packet = one->reply + at;
        size_t length = 4 + (packet[0] | packet[1] << 8 | packet[2] << 16);
        if (end - at < length) break;
        unsigned char first = packet[4];
        if (one->within_rows ? first == 0xfe : first == 0 || first == 0xff) {
            one->within_rows = 0;
            one->awaited--;
        } else {
            one->within_rows = 1;
        }
        at += length;
    }
    one->held = end - at;
    memmove(one->reply, one->reply + at, one->held);
    return one->awaited == 0;
}

int main(int given, char **arguments) {
    if (given < 4) return 2;
    double seconds = atof(arguments[1]);
    read_record(arguments[2]);
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);  // as the engine's threads
    int set = epoll_create1(0), many = given - 3;
    struct connection *all = calloc(many, sizeof *all);
    double began = now(), used = processor_s();
    for (int n = 0; n < many; n++) {
        all[n].socket = atoi(arguments[3 + n]);
        all[n].next = count / many * n;
        while (!parts[all[n].next].begins) all[n].next = (all[n].next + 1) % count;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[n]};
        if (epoll_ctl(set, EPOLL_CTL_ADD, all[n].socket, &event)) fail("epoll_ctl");
        ask(&all[n]);
    }
    struct epoll_event ready[AT_ONCE];
    while (now() - began < seconds) {
        int events = epoll_wait(set, ready, AT_ONCE, 1000);
        for (int n = 0; n < events; n++) {
            struct connection *one = ready[n].data.ptr;
            if (take(one)) ask(one);
        }
    }
    printf("%ld %.9f %.9f\n", transactions, now() - began, processor_s() - used);
    return 0;
}
