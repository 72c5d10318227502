// The part of x264 that Swift cannot import.
#ifndef CX264_H
#define CX264_H

#include <stdint.h>
#include <x264.h>

/// `x264_encoder_open` is a macro that appends the library's build number.
x264_t *cx264_encoder_open(x264_param_t *parameters);

#endif
