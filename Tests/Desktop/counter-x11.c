// A fullscreen X11 client that shows the counter pattern and advances by one step with each frame it draws.
//
//     counter-x11 [--scene NAME] [--fps N] [--state FILE] [--dump FILE] [--stamps FILE]
//
// Options, files and signals mean the same as in counter-client.c.

#define _GNU_SOURCE
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <xcb/shm.h>
#include <xcb/xcb.h>

#include "counter_scenes.h"
#include "counter_tools.h"

enum { EXIT_USAGE = 64 };

static struct {
    int64_t interval;  // ns
    enum counter_scene scene;
    const char *state_file, *dump_file;
    FILE *stamps;  // NULL: none are wanted
    xcb_connection_t *server;
    xcb_window_t window;
    xcb_gcontext_t context;
    xcb_shm_seg_t segment;
    uint8_t depth, *pixels;
    uint16_t width, height;
    int64_t value;  // Last drawn, -1: none
    bool paused, finished;
} client = {.interval = 1000000000 / 60, .value = -1};

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "counter-x11: %s\n", what);
    exit(EXIT_FAILURE);
}

static void replace(const char *name, void (*write)(FILE *)) {
    if (!replace_file(name, write)) fail(name);
}

static void write_state(FILE *file) {
    fprintf(file, "%s %lld\n", client.paused ? "paused" : "running", (long long)client.value);
}

static void write_picture(FILE *file) {
    fprintf(file, "P6\n%u %u\n255\n", client.width, client.height);
    const uint8_t *end = client.pixels + (size_t)client.width * client.height * 4;
    for (const uint8_t *pixel = client.pixels; pixel < end; pixel += 4) {
        putc_unlocked(pixel[2], file);
        putc_unlocked(pixel[1], file);
        putc_unlocked(pixel[0], file);
    }
}

static void tell(void) {
    if (client.dump_file && client.paused) replace(client.dump_file, write_picture);
    if (client.state_file) replace(client.state_file, write_state);
}

static void open_window(void) {
    int number;
    client.server = xcb_connect(NULL, &number);
    if (xcb_connection_has_error(client.server)) fail("no X server");
    xcb_screen_iterator_t screens = xcb_setup_roots_iterator(xcb_get_setup(client.server));
    for (; number > 0; number--) xcb_screen_next(&screens);
    const xcb_screen_t *screen = screens.data;
    client.width = screen->width_in_pixels;
    client.height = screen->height_in_pixels;
    client.depth = screen->root_depth;
    client.window = xcb_generate_id(client.server);
    const uint32_t unmanaged = 1;
    xcb_create_window(client.server, XCB_COPY_FROM_PARENT, client.window, screen->root, 0, 0, client.width, client.height, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_OVERRIDE_REDIRECT, &unmanaged);
    xcb_map_window(client.server, client.window);
    client.context = xcb_generate_id(client.server);
    xcb_create_gc(client.server, client.context, client.window, 0, NULL);

    size_t bytes = (size_t)client.width * client.height * 4;
    int memory = memfd_create("counter-x11", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)bytes) != 0) fail("no shared memory");
    client.pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (client.pixels == MAP_FAILED) fail("no shared memory");
    client.segment = xcb_generate_id(client.server);
    xcb_shm_attach_fd(client.server, client.segment, memory, 1);
    counter_scene_draw_background(client.scene, client.pixels, client.width * 4u, client.width, client.height);
}

// Returns when the picture is on the screen.
static void draw(int64_t value) {
    uint32_t stride = client.width * 4u;
    counter_scene_draw(client.scene, client.pixels, stride, client.width, client.height, (uint32_t)value);
    if (client.stamps) {
        fprintf(client.stamps, "%lld %lld\n", (long long)value, (long long)now());
        fflush(client.stamps);
    }
    xcb_shm_put_image(client.server, client.window, client.context, client.width, client.height, 0, 0, client.width,
                      client.height, 0, 0, client.depth, XCB_IMAGE_FORMAT_Z_PIXMAP, 0, client.segment, 0);
    free(xcb_get_input_focus_reply(client.server, xcb_get_input_focus(client.server), NULL));
    if (xcb_connection_has_error(client.server)) fail("the X server is gone");
    client.value = value;
}

static void handle_signals(int signals) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2) {
            client.finished = true;
            continue;
        }
        client.paused = info.ssi_signo == SIGUSR1;
        tell();
    }
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"fps", required_argument, NULL, 'f'},
        {"state", required_argument, NULL, 't'},
        {"dump", required_argument, NULL, 'd'},
        {"scene", required_argument, NULL, 'c'},
        {"stamps", required_argument, NULL, 'l'},
        {0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'f': client.interval = 1000000000 / (atoi(optarg) > 0 ? atoi(optarg) : 60); break;
        case 't': client.state_file = optarg; break;
        case 'd': client.dump_file = optarg; break;
        case 'c':
            if (counter_scene_named(optarg) < 0) fail("there is no such scene");
            client.scene = (enum counter_scene)counter_scene_named(optarg);
            break;
        case 'l':
            client.stamps = fopen(optarg, "w");
            if (!client.stamps) fail(optarg);
            break;
        default: return EXIT_USAGE;
        }
    }
    sigset_t set;
    sigemptyset(&set);
    for (const int *signal = (const int[]){SIGUSR1, SIGUSR2, SIGTERM, SIGINT, 0}; *signal; signal++) sigaddset(&set, *signal);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);

    open_window();
    int64_t due = now();
    draw(0);
    tell();
    while (!client.finished) {
        int64_t wait = due - now();
        struct timespec limit = {.tv_sec = wait > 0 ? wait / 1000000000 : 0, .tv_nsec = wait > 0 ? wait % 1000000000 : 0};
        struct pollfd fds[] = {
            {.fd = signals, .events = POLLIN},
            {.fd = xcb_get_file_descriptor(client.server), .events = POLLIN},
        };
        ppoll(fds, 2, client.paused ? NULL : &limit, NULL);
        handle_signals(signals);
        for (void *event; (event = xcb_poll_for_event(client.server));) free(event);
        if (xcb_connection_has_error(client.server)) fail("the X server is gone");
        if (client.paused || now() < due) continue;
        draw((client.value + 1) & COUNTER_PATTERN_MASK);
        due = now() > due + client.interval ? now() + client.interval : due + client.interval;
    }
    return EXIT_SUCCESS;
}
