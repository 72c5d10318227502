// Comparison of rows of pixels. C, because the loops become vector instructions.
//
// A pixel has 4 bytes: three colours and one that is ignored.
#ifndef CPIXELS_H
#define CPIXELS_H

#include <stddef.h>
#include <stdint.h>

/// A span of pixels in a row: from the first one up to, but not including, the end. Empty if both are equal.
struct cpixels_span {
    size_t first, end;
};

/// Returns the span from the first to the last pixel that differs between two rows of `count` pixels.
struct cpixels_span cpixels_difference(const uint8_t *one, const uint8_t *other, size_t count);

/// Returns how many pixels of two rows differ by more than `tolerance` in a colour, and sets `span` from the first to
/// the last of them.
///
/// `mask` has one byte per pixel, 0 for pixels that do not count; NULL if all count.
size_t cpixels_count(const uint8_t *one, const uint8_t *other, const uint8_t *mask, size_t count, uint8_t tolerance,
                     struct cpixels_span *span);

#endif
