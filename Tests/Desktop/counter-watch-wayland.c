// Says when each value of the counter pattern appears on a screen of wlroots: a line for each, VALUE and monotonic ns.
//
//     counter-watch-wayland
//
// The picture must cover the screen. Each change of the screen is copied by zwlr_screencopy. Ends at SIGTERM.

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <wayland-client.h>

#include "CWayland.h"
#include "counter_tools.h"

static struct {
    struct wl_display *display;
    struct wl_shm *shm;
    struct wl_output *output;
    struct cwayland_screencopy_manager *manager;
    struct wl_buffer *buffer;
    uint8_t *pixels;
    uint32_t width, height, stride;
    bool done;
} watch;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "counter-watch-wayland: %s\n", what);
    exit(EXIT_FAILURE);
}

static void global(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version) {
    (void)data;
    if (strcmp(interface, wl_shm_interface.name) == 0) {
        watch.shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    } else if (strcmp(interface, wl_output_interface.name) == 0 && !watch.output) {
        watch.output = wl_registry_bind(registry, name, &wl_output_interface, 1);
    } else if (strcmp(interface, cwayland_screencopy_manager_name) == 0) {
        watch.manager = cwayland_bind_screencopy_manager(registry, name, version < 2 ? version : 2);
    }
}

static void global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static void make_buffer(uint32_t format) {
    const size_t bytes = (size_t)watch.stride * watch.height;
    const int memory = memfd_create("counter-watch", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)bytes) != 0) fail("no shared memory");
    watch.pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (watch.pixels == MAP_FAILED) fail("no shared memory");
    struct wl_shm_pool *pool = wl_shm_create_pool(watch.shm, memory, (int32_t)bytes);
    watch.buffer = wl_shm_pool_create_buffer(
        pool, 0, (int32_t)watch.width, (int32_t)watch.height, (int32_t)watch.stride, format
    );
    wl_shm_pool_destroy(pool);
    close(memory);
}

static void buffer(
    void *data, struct cwayland_screencopy_frame *frame, uint32_t format, uint32_t width, uint32_t height, uint32_t stride
) {
    (void)data;
    if (!watch.buffer) {
        watch.width = width, watch.height = height, watch.stride = stride;
        make_buffer(format);
    }
    cwayland_screencopy_copy_with_damage(frame, watch.buffer);
}

static void flags(void *data, struct cwayland_screencopy_frame *frame, uint32_t flags) {
    (void)data, (void)frame, (void)flags;
}

static void ready(
    void *data, struct cwayland_screencopy_frame *frame, uint32_t seconds_high, uint32_t seconds_low, uint32_t nanoseconds
) {
    (void)data, (void)frame, (void)seconds_high, (void)seconds_low, (void)nanoseconds;
    watch.done = true;
}

static void failed(void *data, struct cwayland_screencopy_frame *frame) {
    (void)data, (void)frame;
    watch.done = true;
}

static void damage(
    void *data, struct cwayland_screencopy_frame *frame, uint32_t x, uint32_t y, uint32_t width, uint32_t height
) {
    (void)data, (void)frame, (void)x, (void)y, (void)width, (void)height;
}

static uint32_t bits(uint32_t row) {
    const uint32_t y = counter_pattern_centre(watch.height, row, COUNTER_PATTERN_ROWS);
    return counter_row_bits(watch.pixels + (size_t)y * watch.stride, watch.width);
}

int main(void) {
    watch.display = wl_display_connect(NULL);
    if (!watch.display) fail("no compositor");
    struct wl_registry *registry = wl_display_get_registry(watch.display);
    static const struct wl_registry_listener globals = {global, global_remove};
    wl_registry_add_listener(registry, &globals, NULL);
    wl_display_roundtrip(watch.display);
    if (!watch.manager || !watch.shm || !watch.output) fail("the compositor lets nobody copy its screen");
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const struct cwayland_screencopy_frame_listener listener = {buffer, flags, ready, failed, damage};
    struct counter_watch said = {0};
    for (;;) {
        struct cwayland_screencopy_frame *frame = cwayland_screencopy_capture(watch.manager, 0, watch.output);
        cwayland_screencopy_frame_add_listener(frame, &listener, NULL);
        for (watch.done = false; !watch.done;) {
            if (wl_display_dispatch(watch.display) < 0) fail("the compositor has gone");
        }
        cwayland_screencopy_frame_destroy(frame);
        if (watch.pixels && !counter_watch_say(&said, bits(0), bits(1))) return EXIT_SUCCESS;
    }
}
