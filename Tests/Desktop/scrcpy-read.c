// Takes a session's stream in scrcpy framing apart: writes the Annex B bytes to a file, and prints one line of JSON
// about the timestamps:
//
//     scrcpy-read OUT.h264 < /dev/tcp/127.0.0.1/9200
//
// A packet is a 64-bit word (bit 63 configuration, bit 62 keyframe, the rest the PTS in µs), a 32-bit size and that
// many bytes, all big-endian. `seconds` is the time from the first picture to the last. A packet that the end of the
// input cuts off does not count.

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 64, HEADER = 12, LARGEST = 16 << 20 };

static const uint64_t configuration_flag = UINT64_C(1) << 63, keyframe_flag = UINT64_C(1) << 62;

static uint64_t big_endian(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: scrcpy-read OUT.h264\n");
        return EXIT_USAGE;
    }
    FILE *out = fopen(argv[1], "wb");
    uint8_t *body = malloc(LARGEST);
    if (!out || !body) {
        perror(argv[1]);
        return 1;
    }
    uint64_t pictures = 0, keyframes = 0, configurations = 0, unordered = 0, first = 0, last = 0;
    uint8_t header[HEADER];
    while (fread(header, 1, HEADER, stdin) == HEADER) {
        const uint64_t word = big_endian(header, 8), size = big_endian(header + 8, 4);
        if (size > LARGEST) {
            fprintf(stderr, "scrcpy-read: a packet of %" PRIu64 " bytes: this is not scrcpy framing\n", size);
            return 1;
        }
        if (fread(body, 1, size, stdin) != size) break;
        if (fwrite(body, 1, size, out) != size) {
            perror(argv[1]);
            return 1;
        }
        if (word & configuration_flag) {
            configurations++;
            continue;
        }
        const uint64_t pts = word & (keyframe_flag - 1);
        if (pictures == 0) first = pts;
        else if (pts <= last) unordered++;
        last = pts;
        pictures++;
        if (word & keyframe_flag) keyframes++;
    }
    if (fclose(out) != 0) {
        perror(argv[1]);
        return 1;
    }
    printf("{\"pictures\":%" PRIu64 ",\"keyframes\":%" PRIu64 ",\"configurations\":%" PRIu64 ",\"unordered\":%" PRIu64
           ",\"seconds\":%.6f}\n",
           pictures, keyframes, configurations, unordered, (double)(last - first) / 1e6);
    return 0;
}
