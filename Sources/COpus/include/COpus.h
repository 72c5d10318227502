// The part of libopus that Swift cannot import: the variadic control functions.
#ifndef COPUS_H
#define COPUS_H

#include <opus/opus.h>

/// Sets the bitrate in bits per second. Returns OPUS_OK, or an error of libopus.
int copus_encoder_set_bitrate(OpusEncoder *encoder, opus_int32 bitrate);

/// Sets whether packets refer to the ones before them (0) or not (1). Returns OPUS_OK, or an error of libopus.
int copus_encoder_set_prediction_disabled(OpusEncoder *encoder, opus_int32 disabled);

/// Gets the number of samples by which the encoder delays its input. Returns OPUS_OK, or an error of libopus.
int copus_encoder_get_lookahead(OpusEncoder *encoder, opus_int32 *samples);

/// Makes the decoder as it was when it was new.
void copus_decoder_reset(OpusDecoder *decoder);

#endif
