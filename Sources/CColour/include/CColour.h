// Conversion of packed 8-bit RGB to planar 4:2:0 or 4:4:4 in BT.709 limited range.
//
// libyuv does all other work on pixels here, but converts RGB only with BT.601 coefficients. This is C because it is a
// loop of vector instructions that is selected by CPU features at run time.
#ifndef CCOLOUR_H
#define CCOLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Pixels of 4 bytes, B G R x if `blue_first`, otherwise R G B x. A row begins `stride` bytes after the one before.
struct ccolour_picture {
    const uint8_t *pixels;
    size_t stride, width, height;
    bool blue_first;
};

/// The destination planes. In 4:2:0, u and v have half the width and half the height.
struct ccolour_planes {
    uint8_t *y, *u, *v;
    size_t y_stride, chroma_stride;
};

/// Converts a picture with even sides to ITU-R BT.709-6, 8-bit limited range: luma is 16 to 235, chroma 16 to 240.
///
/// Chroma is the mean of four pixels and therefore sited in their middle.
void ccolour_rgb_to_i420(struct ccolour_picture picture, struct ccolour_planes planes);

/// Converts likewise, with the chroma of each pixel.
void ccolour_rgb_to_i444(struct ccolour_picture picture, struct ccolour_planes planes);

/// The same in plain C; the vector versions give exactly the same results.
void ccolour_rgb_to_i420_portable(struct ccolour_picture picture, struct ccolour_planes planes);
void ccolour_rgb_to_i444_portable(struct ccolour_picture picture, struct ccolour_planes planes);

#endif
