#include "CPixels.h"

#include <stdbool.h>
#include <string.h>

/// The number of pixels to compare together: enough for the compiler to turn the loops into vector instructions.
enum { group = 64 };

/// A mask of a pixel's colour bytes in memory order, without the fourth byte.
static const uint8_t colours[4] = {0xff, 0xff, 0xff, 0};

static inline uint32_t difference(const uint8_t *one, const uint8_t *other, uint32_t colour_bits) {
    uint32_t a, b;
    memcpy(&a, one, sizeof a);
    memcpy(&b, other, sizeof b);
    return (a ^ b) & colour_bits;
}

/// Returns whether any of `count` pixels differs.
static bool differs(const uint8_t *one, const uint8_t *other, size_t count, uint32_t colour_bits) {
    uint32_t found = 0;
    for (size_t pixel = 0; pixel < count; pixel++) found |= difference(one + 4 * pixel, other + 4 * pixel, colour_bits);
    return found != 0;
}

struct cpixels_span cpixels_difference(const uint8_t *one, const uint8_t *other, size_t count) {
    uint32_t colour_bits;
    memcpy(&colour_bits, colours, sizeof colour_bits);
    struct cpixels_span span = {0, 0};
    for (size_t first = 0; first < count; first += group) {
        size_t end = first + group < count ? first + group : count;
        if (!differs(one + 4 * first, other + 4 * first, end - first, colour_bits)) continue;
        for (size_t pixel = first; pixel < end; pixel++) {
            if (difference(one + 4 * pixel, other + 4 * pixel, colour_bits) == 0) continue;
            if (span.end == 0) span.first = pixel;
            span.end = pixel + 1;
        }
    }
    return span;
}

size_t cpixels_count(const uint8_t *one, const uint8_t *other, const uint8_t *mask, size_t count, uint8_t tolerance,
                     struct cpixels_span *span) {
    uint32_t colour_bits;
    memcpy(&colour_bits, colours, sizeof colour_bits);
    size_t found = 0;
    *span = (struct cpixels_span){0, 0};
    for (size_t first = 0; first < count; first += group) {
        size_t end = first + group < count ? first + group : count;
        if (!differs(one + 4 * first, other + 4 * first, end - first, colour_bits)) continue;
        for (size_t pixel = first; pixel < end; pixel++) {
            if (mask != NULL && mask[pixel] == 0) continue;
            bool is_another = false;
            for (int colour = 0; colour < 3; colour++) {
                int step = one[4 * pixel + colour] - other[4 * pixel + colour];
                is_another |= step > tolerance || -step > tolerance;
            }
            if (!is_another) continue;
            if (found == 0) span->first = pixel;
            span->end = pixel + 1;
            found++;
        }
    }
    return found;
}
