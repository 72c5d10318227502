// Conversion of packed 8-bit RGB to planar 4:2:0 in BT.709 limited range.
//
// libyuv does all other work on pixels here, but converts RGB only with BT.601 coefficients. This is C because it is a
// loop of vector instructions that is selected by CPU features at run time.
#ifndef CCOLOUR_H
#define CCOLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The destination planes of a 4:2:0 picture; u and v have half the width and half the height.
struct ccolour_planes {
    uint8_t *y, *u, *v;
    size_t y_stride, chroma_stride;
};

/// Converts `width` x `height` pixels of 4 bytes (both sides even) to ITU-R BT.709-6, 8-bit limited range.
///
/// Luma is 16 to 235, chroma 16 to 240. Chroma is the mean of four pixels and therefore sited in their middle. The byte
/// order is B G R x if `blue_first`, otherwise R G B x.
void ccolour_rgb_to_i420(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                         struct ccolour_planes planes);

/// Does the same in plain C; the vector versions give exactly the same results.
void ccolour_rgb_to_i420_portable(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                                  struct ccolour_planes planes);

#endif
