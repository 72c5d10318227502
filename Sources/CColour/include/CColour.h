// Packed 8-bit RGB to planar 4:2:0 in BT.709 limited range.
//
// libyuv, which does everything else with pixels here, converts RGB with BT.601 coefficients only. This is C because it is
// a loop of vector instructions with a choice by CPU feature at run time.
#ifndef CCOLOUR_H
#define CCOLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Destination planes of a 4:2:0 picture; u and v have half the width and half the height.
struct ccolour_planes {
    uint8_t *y, *u, *v;
    size_t y_stride, chroma_stride;
};

/// Converts `width` x `height` pixels of 4 bytes (both sides even) by ITU-R BT.709-6, 8-bit limited range: luma 16 to 235,
/// chroma 16 to 240, chroma the mean of four pixels and thus sited in their
/// middle. Byte order B G R x when `blue_first`, else R G B x.
void ccolour_rgb_to_i420(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                         struct ccolour_planes planes);

/// The same in plain C; the vector paths give exactly its results.
void ccolour_rgb_to_i420_portable(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                                  struct ccolour_planes planes);

#endif
