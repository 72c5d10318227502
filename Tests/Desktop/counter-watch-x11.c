// Says when each value of the counter pattern appears on an X screen: a line for each, VALUE and monotonic ns.
//
//     counter-watch-x11 [--every US]
//
// --every US  how often the screen is looked at, by default every 500 us
//
// The picture must cover the screen. Only two rows of pixels are read, so looking costs the X server little. A value
// counts once both rows of cells say it: one may be drawn before the other. Ends at SIGTERM.

#define _GNU_SOURCE
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <xcb/xcb.h>

#include "counter_pattern.h"

enum { EXIT_USAGE = 64 };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "counter-watch-x11: %s\n", what);
    exit(EXIT_FAILURE);
}

/// Returns the bits that a row of pixels shows, or -1 if the server does not answer.
static int64_t bits(xcb_get_image_reply_t *row, uint32_t width) {
    if (!row) return -1;
    const uint8_t *pixels = xcb_get_image_data(row);
    uint32_t value = 0;
    for (uint32_t column = 0; column < COUNTER_PATTERN_BITS; column++) {
        // Green is most of the luma.
        value = value << 1 | (pixels[counter_pattern_centre(width, column, COUNTER_PATTERN_BITS) * 4 + 1] > 128);
    }
    return value;
}

int main(int argc, char **argv) {
    long every = 500;
    static const struct option options[] = {{"every", required_argument, NULL, 'e'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option != 'e' || (every = atol(optarg)) <= 0 || every >= 1000000) return EXIT_USAGE;
    }
    int number;
    xcb_connection_t *server = xcb_connect(NULL, &number);
    if (xcb_connection_has_error(server)) fail("no X server");
    xcb_screen_iterator_t screens = xcb_setup_roots_iterator(xcb_get_setup(server));
    for (; number > 0; number--) xcb_screen_next(&screens);
    const xcb_screen_t *screen = screens.data;
    const uint32_t width = screen->width_in_pixels, height = screen->height_in_pixels;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int64_t last = COUNTER_PATTERN_UNREADABLE;
    for (;;) {
        xcb_get_image_cookie_t asked[2];
        for (uint32_t row = 0; row < 2; row++) {
            const int16_t y = (int16_t)counter_pattern_centre(height, row, COUNTER_PATTERN_ROWS);
            asked[row] = xcb_get_image(server, XCB_IMAGE_FORMAT_Z_PIXMAP, screen->root, 0, y, (uint16_t)width, 1, ~0u);
        }
        int64_t values[2];
        for (int row = 0; row < 2; row++) {
            xcb_get_image_reply_t *reply = xcb_get_image_reply(server, asked[row], NULL);
            values[row] = bits(reply, width);
            free(reply);
        }
        if (values[0] < 0 || values[1] < 0) fail("the X server has gone");
        if ((values[0] ^ COUNTER_PATTERN_MASK) == values[1] && values[0] != last) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            last = values[0];
            if (printf("%lld %lld\n", (long long)last, now.tv_sec * 1000000000LL + now.tv_nsec) < 0) return EXIT_SUCCESS;
        }
        nanosleep(&(struct timespec){.tv_nsec = every * 1000}, NULL);
    }
}
