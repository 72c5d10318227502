// A preload that moves a process's wall clock but none of its other clocks. It simulates a change of the machine's
// clock for one process only.
//
// The file that HELIOGRAPH_WALL_CLOCK names holds how far, nanoseconds, as an int64_t of the
// machine; it may change at any time. Waits until an instant of the wall clock stay as they are.
// So code that waits by this clock waits wrongly by that much, and a test finds it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("HELIOGRAPH_WALL_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) offset = memory;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*_Atomic real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result != 0 || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
    int64_t moved = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + atomic_load(offset);
    time->tv_sec = moved / 1000000000;
    time->tv_nsec = moved % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
