// Time, processor time, and the end of a client that measures system calls.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define AT_ONCE 256  // events

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double processor_s(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *why) {
    perror(why);
    exit(1);
}
