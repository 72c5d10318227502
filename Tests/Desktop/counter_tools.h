// What the clients and producers of counter pictures have in common.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// CLOCK_MONOTONIC, ns.
static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Readers never see half a file: it is written aside and renamed. False where that fails, with errno.
static inline bool replace_file(const char *name, void (*write)(FILE *)) {
    char *aside;
    if (asprintf(&aside, "%s.new", name) < 0) return false;
    FILE *file = fopen(aside, "w");
    bool written = file;
    if (file) {
        write(file);
        written = fclose(file) == 0 && rename(aside, name) == 0;
    }
    free(aside);
    return written;
}
