#include "CX264.h"

x264_t *cx264_encoder_open(x264_param_t *parameters) {
    return x264_encoder_open(parameters);
}
