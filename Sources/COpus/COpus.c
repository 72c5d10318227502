#include "COpus.h"

int copus_encoder_set_bitrate(OpusEncoder *encoder, opus_int32 bitrate) {
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bitrate));
}

int copus_encoder_set_prediction_disabled(OpusEncoder *encoder, opus_int32 disabled) {
    return opus_encoder_ctl(encoder, OPUS_SET_PREDICTION_DISABLED(disabled));
}

void copus_decoder_reset(OpusDecoder *decoder) {
    opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}

int copus_encoder_get_lookahead(OpusEncoder *encoder, opus_int32 *samples) {
    return opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(samples));
}
