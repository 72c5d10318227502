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

#include "counter_tools.h"

enum { EXIT_USAGE = 64 };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "counter-watch-x11: %s\n", what);
    exit(EXIT_FAILURE);
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
    struct counter_watch watch = {0};
    for (;;) {
        xcb_get_image_cookie_t asked[2];
        for (uint32_t row = 0; row < 2; row++) {
            const int16_t y = (int16_t)counter_pattern_centre(height, row, COUNTER_PATTERN_ROWS);
            asked[row] = xcb_get_image(server, XCB_IMAGE_FORMAT_Z_PIXMAP, screen->root, 0, y, (uint16_t)width, 1, ~0u);
        }
        uint32_t values[2];
        for (int row = 0; row < 2; row++) {
            xcb_get_image_reply_t *reply = xcb_get_image_reply(server, asked[row], NULL);
            if (!reply) fail("the X server has gone");
            values[row] = counter_row_bits(xcb_get_image_data(reply), width);
            free(reply);
        }
        if (!counter_watch_say(&watch, values[0], values[1])) return EXIT_SUCCESS;
        nanosleep(&(struct timespec){.tv_nsec = every * 1000}, NULL);
    }
}
