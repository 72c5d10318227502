// Encodes a sine as Heliograph's agent does, each packet when it is due, and prints what that took.
//
//     opus-loop SECONDS [BITRATE]
//
// The processor's time in s is one line on standard output. The sine is of 1 kHz; packets have 20 ms, at BITRATE in
// kbit/s, by default 128.

#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <opus/opus.h>

enum { RATE = 48000, CHANNELS = 2, PACKET = 960, EXIT_USAGE = 64 };

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    if (seconds <= 0) {
        fputs("usage: opus-loop SECONDS [BITRATE]\n", stderr);
        return EXIT_USAGE;
    }
    int error;
    OpusEncoder *encoder = opus_encoder_create(RATE, CHANNELS, OPUS_APPLICATION_AUDIO, &error);
    if (error != OPUS_OK) return EXIT_FAILURE;
    opus_encoder_ctl(encoder, OPUS_SET_BITRATE(argc > 2 ? atoi(argv[2]) * 1000 : 128000));
    static float samples[PACKET * CHANNELS];
    static unsigned char packet[4000];
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (long position = 0, count = (long)(seconds * RATE); position < count; position += PACKET) {
        for (int i = 0; i < PACKET; i++) {
            // 1 kHz has whole periods in a packet.
            float value = 0.5f * cosf(2 * 3.14159265f * 1000 * i / RATE);
            samples[i * CHANNELS] = samples[i * CHANNELS + 1] = value;
        }
        due.tv_nsec += 20000000;
        if (due.tv_nsec >= 1000000000) due.tv_sec++, due.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        if (opus_encode_float(encoder, samples, PACKET, packet, sizeof packet) < 0) return EXIT_FAILURE;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    printf("%.4f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return EXIT_SUCCESS;
}
