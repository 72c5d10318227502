// Reports what a stream's pictures show, what they cost to decode, and how true they are:
//
//     PictureReader SCENE EVERY <STREAM
//
// Reads H.264 in Annex B to its end and decodes it in one thread. Prints a line for each picture:
//
// - the end of its access unit, in bytes from the beginning of the stream
// - the counter's value, or -1 if it cannot be read
// - how long libavcodec took for it, in ns
//
// The last line is "psnr" with a value in dB, or "none" without pictures. It compares the luma of every EVERY-th
// picture with the picture that SCENE has for its value, and is of the mean square error of all of them. A stream may
// leave out its matrix and range, so the program tries BT.709 and BT.601, limited and full. The best one counts.
//
// In C to decode without anything around it.

#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libavcodec/avcodec.h>

#include "counter_scenes.h"

enum { EXIT_USAGE = 64, MATRICES = 4 };

static struct {
    uint8_t *bytes;
    size_t count;
} stream;

static struct {
    enum counter_scene scene;
    uint32_t width, height;
    uint8_t *pixels;  // NULL before the first picture
    double squares[MATRICES];
    uint64_t samples;
} truth;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "PictureReader: %s\n", what);
    exit(EXIT_FAILURE);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: - Stream

static void read_stream(void) {
    size_t room = 1 << 20;
    stream.bytes = malloc(room);
    while (stream.bytes) {
        const size_t got = fread(stream.bytes + stream.count, 1, room - AV_INPUT_BUFFER_PADDING_SIZE - stream.count, stdin);
        stream.count += got;
        if (got == 0) break;
        if (room - AV_INPUT_BUFFER_PADDING_SIZE == stream.count) stream.bytes = realloc(stream.bytes, room *= 2);
    }
    if (!stream.bytes) fail("no memory");
    memset(stream.bytes + stream.count, 0, AV_INPUT_BUFFER_PADDING_SIZE);
}

// Returns the offset of the next start code, its leading zero included, or of the stream's end if there is none.
static size_t next_start(size_t from) {
    for (size_t i = from; i + 3 < stream.count; i++) {
        if (stream.bytes[i] || stream.bytes[i + 1] || stream.bytes[i + 2] != 1) continue;
        return i > from && stream.bytes[i - 1] == 0 ? i - 1 : i;
    }
    return stream.count;
}

// Whether an access unit that has a slice already ends before this NAL unit.
static bool begins_unit(const uint8_t *unit, bool *is_slice) {
    while (*unit == 0) unit++;
    const int type = unit[1] & 31;
    *is_slice = type == 1 || type == 5;
    return type == 6 || type == 7 || type == 8 || type == 9 || (*is_slice && unit[2] & 0x80);
}

// Where the access unit that begins at `from` ends.
static size_t unit_end(size_t from) {
    bool has_slice = false;
    for (size_t place = from; place < stream.count; place = next_start(place + 4)) {
        bool is_slice;
        if (begins_unit(stream.bytes + place, &is_slice) && has_slice) return place;
        has_slice |= is_slice;
    }
    return stream.count;
}

// MARK: - Pictures

// The luma of a pixel in 16.16: BT.709 and BT.601 in limited range, then both in full range.
static uint32_t luma(const uint8_t *pixel, int matrix) {
    static const uint32_t weights[MATRICES][3] = {
        {4064, 40254, 11966}, {6416, 33039, 16829}, {4732, 46871, 13933}, {7471, 38470, 19595},
    };
    return (matrix < 2 ? 16u << 16 : 0) + weights[matrix][0] * pixel[0] + weights[matrix][1] * pixel[1] + weights[matrix][2] * pixel[2];
}

static void compare(const AVFrame *frame, uint32_t value) {
    const uint32_t stride = truth.width * 4;
    counter_scene_draw(truth.scene, truth.pixels, stride, truth.width, truth.height, value);
    for (uint32_t y = 0; y < truth.height; y++) {
        const uint8_t *pixel = truth.pixels + (size_t)y * stride, *decoded = frame->data[0] + (size_t)y * (size_t)frame->linesize[0];
        for (int matrix = 0; matrix < MATRICES; matrix++) {
            uint64_t sum = 0;
            for (uint32_t x = 0; x < truth.width; x++) {
                const int difference = (int)((luma(pixel + x * 4, matrix) + 32768) >> 16) - decoded[x];
                sum += (uint64_t)(difference * difference);
            }
            truth.squares[matrix] += (double)sum;
        }
    }
    truth.samples += (uint64_t)truth.width * truth.height;
}

static void prepare(const AVFrame *frame) {
    if (truth.pixels && truth.width == (uint32_t)frame->width && truth.height == (uint32_t)frame->height) return;
    truth.width = (uint32_t)frame->width;
    truth.height = (uint32_t)frame->height;
    truth.pixels = realloc(truth.pixels, (size_t)truth.width * truth.height * 4);
    if (!truth.pixels) fail("no memory");
    counter_scene_draw_background(truth.scene, truth.pixels, truth.width * 4, truth.width, truth.height);
}

static void read_pictures(int every) {
    AVCodecContext *decoder = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264));
    if (!decoder) fail("libavcodec has no decoder for H.264");
    decoder->thread_count = 1;
    decoder->flags |= AV_CODEC_FLAG_LOW_DELAY;
    if (avcodec_open2(decoder, NULL, NULL) < 0) fail("the decoder does not open");
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int number = 0;
    for (size_t begin = next_start(0); begin < stream.count;) {
        const size_t end = unit_end(begin);
        packet->data = stream.bytes + begin;
        packet->size = (int)(end - begin);
        const int64_t start = now();
        int result = avcodec_send_packet(decoder, packet);
        if (result == 0) result = avcodec_receive_frame(decoder, frame);
        const int64_t took = now() - start;
        begin = end;
        if (result < 0) continue;  // The last one may be cut off, the first may have joined too late.
        prepare(frame);
        const int64_t value = counter_pattern_read(frame->data[0], (uint32_t)frame->linesize[0], 0, 0, truth.width, truth.height);
        printf("%zu %lld %lld\n", end, (long long)value, (long long)took);
        if (value >= 0 && number++ % every == 0) compare(frame, (uint32_t)value);
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&decoder);
}

int main(int count, char **arguments) {
    const int every = count == 3 ? atoi(arguments[2]) : 0;
    if (every < 1 || counter_scene_named(arguments[1]) < 0) {
        fputs("usage: PictureReader SCENE EVERY <STREAM\n", stderr);
        return EXIT_USAGE;
    }
    truth.scene = (enum counter_scene)counter_scene_named(arguments[1]);
    av_log_set_level(AV_LOG_QUIET);
    read_stream();
    read_pictures(every);
    double least = truth.squares[0];
    for (int matrix = 1; matrix < MATRICES; matrix++) least = fmin(least, truth.squares[matrix]);
    if (truth.samples == 0) puts("psnr none");
    else printf("psnr %.2f\n", 10 * log10(255.0 * 255.0 * (double)truth.samples / fmax(least, 1)));
    return EXIT_SUCCESS;
}
