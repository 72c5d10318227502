// Writes raw frames of the counter pattern to standard output at an even pace. The counter advances with each frame:
//
//     counter-frames WIDTH HEIGHT FPS [--format BGRx|RGBx|BGRA|RGBA] [--stop-at N | --hold-at N]
//
// --stop-at N  writes no more once the counter has reached N, and stays
// --hold-at N  repeats the picture of N from then on
//
// Pixels are 4 bytes and lines have no padding. The fourth byte is 255. The program waits for a slow reader and leaves
// out no value. It ends when nobody reads any more.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "counter_pattern.h"
#include "counter_tools.h"

enum { EXIT_USAGE = 64, LARGEST_SIDE = 16384, LARGEST_PIPE = 1 << 20 };

static const int64_t second = 1000000000;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "counter-frames: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void sleep_until(int64_t due) {
    struct timespec time = {.tv_sec = due / second, .tv_nsec = due % second};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
}

// MARK: - Frames

static void swap_red_and_blue(uint8_t *to, const uint8_t *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 4) {
        to[i] = from[i + 2];
        to[i + 1] = from[i + 1];
        to[i + 2] = from[i];
        to[i + 3] = from[i + 3];
    }
}

static void write_all(const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EPIPE) exit(EXIT_SUCCESS);
        if (written < 0) fail("cannot write");
        bytes += written;
        count -= (size_t)written;
    }
}

static void wait_for_the_reader_to_leave(void) {
    struct pollfd output = {.fd = STDOUT_FILENO};
    while (poll(&output, 1, -1) < 0 && errno == EINTR) {}
}

// MARK: - Arguments

static int64_t parse(const char *text, int64_t lowest, int64_t highest) {
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || number < lowest || number > highest) {
        fprintf(stderr, "counter-frames: '%s' is not a number from %lld to %lld\n", text, (long long)lowest, (long long)highest);
        exit(EXIT_USAGE);
    }
    return number;
}

static bool parse_format(const char *name) {
    if (strcmp(name, "BGRx") == 0 || strcmp(name, "BGRA") == 0) return false;
    if (strcmp(name, "RGBx") == 0 || strcmp(name, "RGBA") == 0) return true;
    fprintf(stderr, "counter-frames: there is no format '%s'\n", name);
    exit(EXIT_USAGE);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'},
        {"stop-at", required_argument, NULL, 's'},
        {"hold-at", required_argument, NULL, 'h'},
        {0},
    };
    bool red_first = false;
    int64_t stop_at = -1, hold_at = -1;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'f': red_first = parse_format(optarg); break;
        case 's': stop_at = parse(optarg, 0, COUNTER_PATTERN_MASK); break;
        case 'h': hold_at = parse(optarg, 0, COUNTER_PATTERN_MASK); break;
        default: return EXIT_USAGE;
        }
    }
    if (argc - optind != 3 || (stop_at >= 0 && hold_at >= 0)) {
        fprintf(stderr, "usage: counter-frames WIDTH HEIGHT FPS [--format FORMAT] [--stop-at N | --hold-at N]\n");
        return EXIT_USAGE;
    }
    uint32_t width = (uint32_t)parse(argv[optind], COUNTER_PATTERN_BITS, LARGEST_SIDE);
    uint32_t height = (uint32_t)parse(argv[optind + 1], COUNTER_PATTERN_ROWS, LARGEST_SIDE);
    int64_t interval = second / parse(argv[optind + 2], 1, 1000);

    uint32_t stride = width * 4;
    size_t bytes = (size_t)stride * height;
    uint8_t *drawn = malloc(bytes), *swapped = red_first ? malloc(bytes) : NULL;
    if (!drawn || (red_first && !swapped)) fail("no memory");
    counter_pattern_draw_background(drawn, stride, width, height);

    signal(SIGPIPE, SIG_IGN);
    // Fewer wake-ups, but never a whole frame in waiting. May fail, on a file or beyond the limit: it does not matter.
    fcntl(STDOUT_FILENO, F_SETPIPE_SZ, bytes / 2 < LARGEST_PIPE ? (int)(bytes / 2) : LARGEST_PIPE);
    int64_t value = 0;
    for (int64_t due = now();; due += interval) {
        int64_t time = now();
        if (time < due) sleep_until(due);
        else if (time > due + interval) due = time;  // Missed frames are skipped.
        counter_pattern_draw(drawn, stride, width, height, (uint32_t)value);
        counter_pattern_draw_motion(drawn, stride, width, height, (uint32_t)value);
        if (red_first) swap_red_and_blue(swapped, drawn, bytes);
        write_all(red_first ? swapped : drawn, bytes);
        if (value == stop_at) break;
        if (value != hold_at) value = (value + 1) & COUNTER_PATTERN_MASK;
    }
    wait_for_the_reader_to_leave();
    return EXIT_SUCCESS;
}
