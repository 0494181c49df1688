// A library to preload: the time of day is wrong by WRONG_CLOCK seconds. libfaketime stops programs whose allocator is mimalloc: it
// allocates while the allocator asks it for the time to set itself up.

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    const char *seconds = getenv("WRONG_CLOCK");
    if (!failed && clock == CLOCK_REALTIME && seconds) now->tv_sec += atol(seconds);
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    int failed = clock_gettime(CLOCK_REALTIME, &exact);
    if (!failed) *now = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
    return failed;
}

time_t time(time_t *to) {
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    if (to) *to = exact.tv_sec;
    return exact.tv_sec;
}
