// Reads raw 8-bit grey pictures from standard input and reports their counters in one line of JSON:
//
//     ffmpeg -i in.h264 -f rawvideo -pix_fmt gray - | counter-read 1280 720
//
// X Y W H give the picture's rectangle when it is letterboxed.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "counter_pattern.h"

enum { EXIT_USAGE = 64 };

struct tally {
    uint64_t pictures, distinct, unreadable, repeats, backwards;
    int64_t first, last;
    uint8_t *seen;  // One bit for each value there is.
};

static void count(struct tally *tally, int64_t value) {
    tally->pictures++;
    if (value == COUNTER_PATTERN_UNREADABLE) {
        tally->unreadable++;
        return;
    }
    uint8_t *seen = &tally->seen[value / 8], bit = (uint8_t)(1 << value % 8);
    if (!(*seen & bit)) tally->distinct++;
    *seen |= bit;
    if (tally->first < 0) tally->first = value;
    if (value == tally->last) tally->repeats++;
    if (value < tally->last) tally->backwards++;
    tally->last = value;
}

static void print_value(const char *name, int64_t value) {
    if (value < 0) printf("\"%s\":null,", name);
    else printf("\"%s\":%lld,", name, (long long)value);
}

static bool parse(const char *text, uint32_t lowest, uint32_t *number) {
    char *end;
    unsigned long parsed = strtoul(text, &end, 10);
    *number = (uint32_t)parsed;
    return *text >= '0' && *text <= '9' && *end == '\0' && parsed >= lowest && parsed <= 32768;
}

int main(int argc, char **argv) {
    uint32_t width, height, x = 0, y = 0, w, h;
    bool valid = (argc == 3 || argc == 7) && parse(argv[1], 1, &width) && parse(argv[2], 1, &height);
    if (valid) {
        w = width, h = height;
        if (argc == 7) valid = parse(argv[3], 0, &x) && parse(argv[4], 0, &y) && parse(argv[5], 1, &w) && parse(argv[6], 1, &h);
    }
    if (!valid || x + w > width || y + h > height) {
        fprintf(stderr, "usage: counter-read WIDTH HEIGHT [X Y W H], the rectangle inside the picture\n");
        return EXIT_USAGE;
    }

    size_t size = (size_t)width * height, length;
    uint8_t *picture = malloc(size);
    struct tally tally = {.first = -1, .last = -1, .seen = calloc(1, (COUNTER_PATTERN_MASK + 1) / 8)};
    if (!picture || !tally.seen) {
        fprintf(stderr, "counter-read: out of memory\n");
        return EXIT_FAILURE;
    }
    while ((length = fread(picture, 1, size, stdin)) == size) {
        count(&tally, counter_pattern_read(picture, width, x, y, w, h));
    }

    printf("{\"pictures\":%llu,\"distinct\":%llu,\"unreadable\":%llu,\"repeats\":%llu,",
           (unsigned long long)tally.pictures, (unsigned long long)tally.distinct,
           (unsigned long long)tally.unreadable, (unsigned long long)tally.repeats);
    print_value("first", tally.first);
    print_value("last", tally.last);
    printf("\"backwards\":%llu}\n", (unsigned long long)tally.backwards);
    free(picture);
    free(tally.seen);
    if (length > 0) {
        fprintf(stderr, "counter-read: the input ends inside a picture of %ux%u\n", width, height);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
