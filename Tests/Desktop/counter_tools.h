// What the clients and producers of counter pictures have in common.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "counter_pattern.h"

// CLOCK_MONOTONIC, ns.
static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// What a program knows that watches a screen for the counter: the value it has said last.
struct counter_watch {
    uint32_t last;
    bool has_said;
};

// Returns the bits that a row of cells shows, of a row of pixels in its middle. Green is most of the luma.
static inline uint32_t counter_row_bits(const uint8_t *pixels, uint32_t width) {
    uint32_t value = 0;
    for (uint32_t column = 0; column < COUNTER_PATTERN_BITS; column++) {
        value = value << 1 | (pixels[counter_pattern_centre(width, column, COUNTER_PATTERN_BITS) * 4 + 1] > 128);
    }
    return value;
}

// Says a value that the screen did not show before, with the time. False if nobody reads that.
static inline bool counter_watch_say(struct counter_watch *watch, uint32_t value, uint32_t complement) {
    if ((value ^ COUNTER_PATTERN_MASK) != complement || (watch->has_said && value == watch->last)) return true;
    watch->last = value, watch->has_said = true;
    return printf("%u %lld\n", value, (long long)now()) >= 0;
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
