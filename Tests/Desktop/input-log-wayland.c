// A fullscreen Wayland client that logs what pointer, keyboard and touch do to it, on standard output: input_log.h.
//
//     input-log-wayland

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <wayland-client.h>

#include "input_log.h"
#include "xdg-shell-client-protocol.h"

enum { LARGEST_SIDE = 16384 };

static struct {
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct wl_shm *shm;
    struct wl_seat *seat;
    struct xdg_wm_base *shell;
    struct wl_surface *surface;
    uint32_t width, height;
    bool is_configured, is_resized, is_ready, is_finished;
    struct wl_pointer *pointer;
    struct wl_keyboard *keyboard;
    struct wl_touch *touch;
    double x, y;
    struct { double dx, dy, nx, ny; bool has_some; } wheel;  // Since the last frame of the pointer.
    struct finger { bool is_down; int32_t id; double x, y; } fingers[16];
    struct xkb_context *xkb;
    struct xkb_keymap *keymap;
    struct xkb_state *state;
} client;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "input-log-wayland: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

// MARK: - Picture

// Pictures are kept, and only what has changed is damaged, as toolkits do it: the compositor uploads no more.
static struct picture {
    struct wl_buffer *buffer;
    uint8_t *pixels;
    uint32_t width, height;
    size_t bytes;
    bool is_busy;  // The compositor reads it.
} pictures[3];

static void buffer_released(void *data, struct wl_buffer *buffer) {
    (void)buffer;
    ((struct picture *)data)->is_busy = false;
}

static const struct wl_buffer_listener buffer_listener = {.release = buffer_released};

static void make(struct picture *picture) {
    if (picture->buffer) {
        wl_buffer_destroy(picture->buffer);
        munmap(picture->pixels, picture->bytes);
    }
    uint32_t stride = client.width * 4;
    picture->width = client.width;
    picture->height = client.height;
    picture->bytes = (size_t)stride * client.height;
    int fd = memfd_create("input-log-wayland", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)picture->bytes) != 0) fail("shared memory");
    picture->pixels = mmap(NULL, picture->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (picture->pixels == MAP_FAILED) fail("shared memory");
    struct wl_shm_pool *pool = wl_shm_create_pool(client.shm, fd, (int32_t)picture->bytes);
    picture->buffer = wl_shm_pool_create_buffer(
        pool, 0, (int32_t)client.width, (int32_t)client.height, (int32_t)stride, WL_SHM_FORMAT_XRGB8888);
    wl_shm_pool_destroy(pool);
    close(fd);
    wl_buffer_add_listener(picture->buffer, &buffer_listener, picture);
}

static struct picture *free_picture(void) {
    for (;;) {
        for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
            if (!pictures[i].is_busy) return &pictures[i];
        }
        if (wl_display_dispatch(client.display) < 0) fail("the compositor is gone");
    }
}

static void damage(void) {
    static struct { uint32_t width, height; bool entered; } last;
    if (last.width == client.width && last.height == client.height && last.entered == shown.entered) {
        wl_surface_damage_buffer(client.surface, BUTTON_LEFT_EDGE, BUTTON_TOP_EDGE, BUTTON_WIDTH, BUTTON_HEIGHT);
        wl_surface_damage_buffer(
            client.surface, FIELD_LEFT_EDGE, BUTTON_TOP_EDGE, FIELD_BARS * FIELD_STEP, BUTTON_HEIGHT);
        return;
    }
    wl_surface_damage_buffer(client.surface, 0, 0, (int32_t)client.width, (int32_t)client.height);
    last.width = client.width;
    last.height = client.height;
    last.entered = shown.entered;
}

static void draw(void) {
    struct picture *picture = free_picture();
    if (picture->width != client.width || picture->height != client.height) make(picture);
    draw_picture(picture->pixels, client.width, client.height);
    picture->is_busy = true;
    wl_surface_attach(client.surface, picture->buffer, 0, 0);
    damage();
    wl_surface_commit(client.surface);
}

// MARK: - Pointer

static void pointer_entered(
    void *data, struct wl_pointer *pointer, uint32_t serial, struct wl_surface *surface, wl_fixed_t x, wl_fixed_t y
) {
    (void)data, (void)pointer, (void)serial, (void)surface;
    client.x = wl_fixed_to_double(x);
    client.y = wl_fixed_to_double(y);
    log_place("enter", client.x, client.y);
}

static void pointer_left(void *data, struct wl_pointer *pointer, uint32_t serial, struct wl_surface *surface) {
    (void)data, (void)pointer, (void)serial, (void)surface;
    log_name("leave", NULL);
}

static void pointer_moved(void *data, struct wl_pointer *pointer, uint32_t time, wl_fixed_t x, wl_fixed_t y) {
    (void)data, (void)pointer, (void)time;
    client.x = wl_fixed_to_double(x);
    client.y = wl_fixed_to_double(y);
    log_place("motion", client.x, client.y);
}

static void pointer_button(
    void *data, struct wl_pointer *pointer, uint32_t serial, uint32_t time, uint32_t button, uint32_t state
) {
    (void)data, (void)pointer, (void)serial, (void)time;
    log_button(button, state == WL_POINTER_BUTTON_STATE_PRESSED, client.x, client.y);
}

static void pointer_axis(void *data, struct wl_pointer *pointer, uint32_t time, uint32_t axis, wl_fixed_t value) {
    (void)data, (void)pointer, (void)time;
    *(axis == WL_POINTER_AXIS_VERTICAL_SCROLL ? &client.wheel.dy : &client.wheel.dx) += wl_fixed_to_double(value);
    client.wheel.has_some = true;
}

static void pointer_notches(void *data, struct wl_pointer *pointer, uint32_t axis, int32_t notches) {
    (void)data, (void)pointer;
    *(axis == WL_POINTER_AXIS_VERTICAL_SCROLL ? &client.wheel.ny : &client.wheel.nx) += notches;
    client.wheel.has_some = true;
}

static void pointer_framed(void *data, struct wl_pointer *pointer) {
    (void)data, (void)pointer;
    if (!client.wheel.has_some) return;
    log_wheel(client.wheel.dx, client.wheel.dy, client.wheel.nx, client.wheel.ny);
    memset(&client.wheel, 0, sizeof client.wheel);
}

static void pointer_axis_source(void *data, struct wl_pointer *pointer, uint32_t source) {
    (void)data, (void)pointer, (void)source;
}

static void pointer_axis_stopped(void *data, struct wl_pointer *pointer, uint32_t time, uint32_t axis) {
    (void)data, (void)pointer, (void)time, (void)axis;
}

static const struct wl_pointer_listener pointer_listener = {
    .enter = pointer_entered, .leave = pointer_left, .motion = pointer_moved, .button = pointer_button,
    .axis = pointer_axis, .frame = pointer_framed, .axis_source = pointer_axis_source, .axis_stop = pointer_axis_stopped,
    .axis_discrete = pointer_notches,
};

// MARK: - Keyboard

static void keyboard_keymap(void *data, struct wl_keyboard *keyboard, uint32_t format, int32_t fd, uint32_t size) {
    (void)data, (void)keyboard;
    char *text = format == WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (text == MAP_FAILED) return;
    struct xkb_keymap *keymap =
        xkb_keymap_new_from_string(client.xkb, text, XKB_KEYMAP_FORMAT_TEXT_V1, XKB_KEYMAP_COMPILE_NO_FLAGS);
    munmap(text, size);
    if (!keymap) fail("the keymap is broken");
    xkb_state_unref(client.state);
    xkb_keymap_unref(client.keymap);
    client.keymap = keymap;
    client.state = xkb_state_new(keymap);
}

static void keyboard_entered(
    void *data, struct wl_keyboard *keyboard, uint32_t serial, struct wl_surface *surface, struct wl_array *keys
) {
    (void)data, (void)keyboard, (void)serial, (void)surface;
    log_name("focus", "in");
    uint32_t *key;
    wl_array_for_each(key, keys) if (client.state) log_key(client.state, *key + 8, "down");
}

static void keyboard_left(void *data, struct wl_keyboard *keyboard, uint32_t serial, struct wl_surface *surface) {
    (void)data, (void)keyboard, (void)serial, (void)surface;
    log_name("focus", "out");
}

static void keyboard_key(
    void *data, struct wl_keyboard *keyboard, uint32_t serial, uint32_t time, uint32_t key, uint32_t state
) {
    (void)data, (void)keyboard, (void)serial, (void)time;
    if (client.state) log_key(client.state, key + 8, state == WL_KEYBOARD_KEY_STATE_PRESSED ? "down" : "up");
}

static void keyboard_modifiers(
    void *data, struct wl_keyboard *keyboard, uint32_t serial, uint32_t depressed, uint32_t latched, uint32_t locked,
    uint32_t group
) {
    (void)data, (void)keyboard, (void)serial;
    if (client.state) xkb_state_update_mask(client.state, depressed, latched, locked, 0, 0, group);
}

static void keyboard_repeat(void *data, struct wl_keyboard *keyboard, int32_t rate, int32_t delay) {
    (void)data, (void)keyboard, (void)rate, (void)delay;
}

static const struct wl_keyboard_listener keyboard_listener = {
    .keymap = keyboard_keymap, .enter = keyboard_entered, .leave = keyboard_left, .key = keyboard_key,
    .modifiers = keyboard_modifiers, .repeat_info = keyboard_repeat,
};

// MARK: - Touch

// finger ID: the finger with that id, or a free one. Compositors choose the ids; the log numbers fingers from 0.
static struct finger *finger(int32_t id) {
    struct finger *unused = NULL;
    for (struct finger *finger = client.fingers + 15; finger >= client.fingers; finger--) {
        if (finger->is_down && finger->id == id) return finger;
        if (!finger->is_down) unused = finger;
    }
    if (unused) *unused = (struct finger){.is_down = true, .id = id};
    return unused;
}

static void touched(int32_t id, const char *phase, wl_fixed_t x, wl_fixed_t y) {
    struct finger *touching = finger(id);
    if (!touching) return;
    touching->x = wl_fixed_to_double(x);
    touching->y = wl_fixed_to_double(y);
    log_touch((int)(touching - client.fingers), phase, touching->x, touching->y);
}

static void lifted(struct finger *finger, const char *phase) {
    if (!finger) return;
    log_touch((int)(finger - client.fingers), phase, finger->x, finger->y);
    finger->is_down = false;
}

static void touch_down(
    void *data, struct wl_touch *touch, uint32_t serial, uint32_t time, struct wl_surface *surface, int32_t id, wl_fixed_t x,
    wl_fixed_t y
) {
    (void)data, (void)touch, (void)serial, (void)time, (void)surface;
    touched(id, "down", x, y);
}

static void touch_up(void *data, struct wl_touch *touch, uint32_t serial, uint32_t time, int32_t id) {
    (void)data, (void)touch, (void)serial, (void)time;
    lifted(finger(id), "up");
}

static void touch_moved(void *data, struct wl_touch *touch, uint32_t time, int32_t id, wl_fixed_t x, wl_fixed_t y) {
    (void)data, (void)touch, (void)time;
    touched(id, "move", x, y);
}

static void touch_framed(void *data, struct wl_touch *touch) { (void)data, (void)touch; }

static void touch_cancelled(void *data, struct wl_touch *touch) {
    (void)data, (void)touch;
    for (struct finger *finger = client.fingers; finger < client.fingers + 16; finger++) {
        if (finger->is_down) lifted(finger, "cancel");
    }
}

static void touch_shape(void *data, struct wl_touch *touch, int32_t id, wl_fixed_t major, wl_fixed_t minor) {
    (void)data, (void)touch, (void)id, (void)major, (void)minor;
}

static void touch_orientation(void *data, struct wl_touch *touch, int32_t id, wl_fixed_t orientation) {
    (void)data, (void)touch, (void)id, (void)orientation;
}

static const struct wl_touch_listener touch_listener = {
    .down = touch_down, .up = touch_up, .motion = touch_moved, .frame = touch_framed, .cancel = touch_cancelled,
    .shape = touch_shape, .orientation = touch_orientation,
};

// MARK: - Seat

// Devices come and go: a headless desktop has none before a program offers one.
static void seat_changed(void *data, struct wl_seat *seat, uint32_t has) {
    (void)data;
    if (!(has & WL_SEAT_CAPABILITY_POINTER) && client.pointer) {
        wl_pointer_release(client.pointer);
        client.pointer = NULL;
    } else if (has & WL_SEAT_CAPABILITY_POINTER && !client.pointer) {
        client.pointer = wl_seat_get_pointer(seat);
        wl_pointer_add_listener(client.pointer, &pointer_listener, NULL);
    }
    if (!(has & WL_SEAT_CAPABILITY_KEYBOARD) && client.keyboard) {
        wl_keyboard_release(client.keyboard);
        client.keyboard = NULL;
    } else if (has & WL_SEAT_CAPABILITY_KEYBOARD && !client.keyboard) {
        client.keyboard = wl_seat_get_keyboard(seat);
        wl_keyboard_add_listener(client.keyboard, &keyboard_listener, NULL);
    }
    if (!(has & WL_SEAT_CAPABILITY_TOUCH) && client.touch) {
        wl_touch_release(client.touch);
        client.touch = NULL;
    } else if (has & WL_SEAT_CAPABILITY_TOUCH && !client.touch) {
        client.touch = wl_seat_get_touch(seat);
        wl_touch_add_listener(client.touch, &touch_listener, NULL);
    }
}

static void seat_named(void *data, struct wl_seat *seat, const char *name) { (void)data, (void)seat, (void)name; }

static const struct wl_seat_listener seat_listener = {.capabilities = seat_changed, .name = seat_named};

// MARK: - Shell

static void ping(void *data, struct xdg_wm_base *shell, uint32_t serial) {
    (void)data;
    xdg_wm_base_pong(shell, serial);
}

static const struct xdg_wm_base_listener shell_listener = {.ping = ping};

static void toplevel_configured(
    void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height, struct wl_array *states
) {
    (void)data, (void)toplevel, (void)states;
    if (width < 1 || height < 1 || width > LARGEST_SIDE || height > LARGEST_SIDE) width = 1280, height = 720;
    if ((uint32_t)width == client.width && (uint32_t)height == client.height) return;
    client.width = (uint32_t)width;
    client.height = (uint32_t)height;
    client.is_resized = true;
}

static void toplevel_closed(void *data, struct xdg_toplevel *toplevel) {
    (void)data, (void)toplevel;
    client.is_finished = true;
}

static const struct xdg_toplevel_listener toplevel_listener = {
    .configure = toplevel_configured, .close = toplevel_closed,
};

static void surface_configured(void *data, struct xdg_surface *surface, uint32_t serial) {
    (void)data;
    xdg_surface_ack_configure(surface, serial);
    client.is_configured = true;
    shown.changed = true;
}

static const struct xdg_surface_listener surface_listener = {.configure = surface_configured};

static void *bind_global(
    struct wl_registry *registry, uint32_t name, const struct wl_interface *interface, uint32_t offered, uint32_t wanted
) {
    return wl_registry_bind(registry, name, interface, offered < wanted ? offered : wanted);
}

static void global_added(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version) {
    (void)data;
    if (strcmp(interface, wl_compositor_interface.name) == 0) {
        client.compositor = bind_global(registry, name, &wl_compositor_interface, version, 4);
    } else if (strcmp(interface, wl_shm_interface.name) == 0) {
        client.shm = bind_global(registry, name, &wl_shm_interface, version, 1);
    } else if (strcmp(interface, xdg_wm_base_interface.name) == 0) {
        client.shell = bind_global(registry, name, &xdg_wm_base_interface, version, 1);
        xdg_wm_base_add_listener(client.shell, &shell_listener, NULL);
    } else if (strcmp(interface, wl_seat_interface.name) == 0 && !client.seat) {
        client.seat = bind_global(registry, name, &wl_seat_interface, version, 7);
        wl_seat_add_listener(client.seat, &seat_listener, NULL);
    }
}

static void global_removed(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {.global = global_added, .global_remove = global_removed};

static void open_window(void) {
    client.display = wl_display_connect(NULL);
    if (!client.display) fail("no Wayland display");
    client.xkb = xkb_context_new(XKB_CONTEXT_NO_FLAGS);
    if (!client.xkb) fail("no xkbcommon");
    wl_registry_add_listener(wl_display_get_registry(client.display), &registry_listener, NULL);
    if (wl_display_roundtrip(client.display) < 0) fail("Wayland");
    if (!client.compositor || !client.shm || !client.shell || !client.seat) {
        fputs("input-log-wayland: the compositor lacks wl_compositor, wl_shm, wl_seat or xdg_wm_base\n", stderr);
        exit(EXIT_FAILURE);
    }
    client.surface = wl_compositor_create_surface(client.compositor);
    struct xdg_surface *surface = xdg_wm_base_get_xdg_surface(client.shell, client.surface);
    xdg_surface_add_listener(surface, &surface_listener, NULL);
    struct xdg_toplevel *toplevel = xdg_surface_get_toplevel(surface);
    xdg_toplevel_add_listener(toplevel, &toplevel_listener, NULL);
    xdg_toplevel_set_title(toplevel, "input");
    xdg_toplevel_set_app_id(toplevel, "input-log-wayland");
    xdg_toplevel_set_fullscreen(toplevel, NULL);
    wl_surface_commit(client.surface);
}

int main(void) {
    open_window();
    while (!client.is_finished) {
        if (client.is_configured && shown.changed) {
            draw();
            // What the compositor has taken is on the screen.
            if (wl_display_roundtrip(client.display) < 0) fail("the compositor is gone");
            if (!client.is_ready || client.is_resized) {
                begin_line("ready");
                printf(" %u %u", client.width, client.height);
                end_line();
                client.is_ready = true;
                client.is_resized = false;
            }
            continue;
        }
        if (wl_display_dispatch(client.display) < 0) fail("the compositor is gone");
    }
    return EXIT_SUCCESS;
}
