// A fullscreen X11 client that logs what pointer and keyboard do to it, on standard output: input_log.h.
//
//     input-log-x11

#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>

#include <xcb/xcb.h>
#include <xcb/xkb.h>
#include <xkbcommon/xkbcommon-x11.h>

#include "input_log.h"

static struct {
    xcb_connection_t *server;
    xcb_window_t window;
    xcb_gcontext_t context;
    uint8_t depth, *pixels;
    uint16_t width, height;
    struct xkb_context *xkb;
    struct xkb_keymap *keymap;
    struct xkb_state *state;
    int32_t keyboard;
    uint8_t xkb_event;
    bool held[256];
    bool has_focus, is_ready;
} client;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "input-log-x11: %s\n", what);
    exit(EXIT_FAILURE);
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
    client.pixels = malloc((size_t)client.width * client.height * 4);
    if (!client.pixels) fail("no memory");
    client.window = xcb_generate_id(client.server);
    const uint32_t values[] = {
        1,  // No window manager places it.
        XCB_EVENT_MASK_EXPOSURE | XCB_EVENT_MASK_KEY_PRESS | XCB_EVENT_MASK_KEY_RELEASE | XCB_EVENT_MASK_BUTTON_PRESS |
            XCB_EVENT_MASK_BUTTON_RELEASE | XCB_EVENT_MASK_POINTER_MOTION | XCB_EVENT_MASK_ENTER_WINDOW |
            XCB_EVENT_MASK_LEAVE_WINDOW | XCB_EVENT_MASK_FOCUS_CHANGE,
    };
    xcb_create_window(client.server, XCB_COPY_FROM_PARENT, client.window, screen->root, 0, 0, client.width, client.height, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, values);
    xcb_map_window(client.server, client.window);
    client.context = xcb_generate_id(client.server);
    xcb_create_gc(client.server, client.context, client.window, 0, NULL);
}

// MARK: - Keyboard

static void read_keymap(void) {
    struct xkb_keymap *keymap =
        xkb_x11_keymap_new_from_device(client.xkb, client.server, client.keyboard, XKB_KEYMAP_COMPILE_NO_FLAGS);
    if (!keymap) fail("no keymap");
    xkb_state_unref(client.state);
    xkb_keymap_unref(client.keymap);
    client.keymap = keymap;
    client.state = xkb_state_new(keymap);
}

static void open_keyboard(void) {
    client.xkb = xkb_context_new(XKB_CONTEXT_NO_FLAGS);
    if (!client.xkb || !xkb_x11_setup_xkb_extension(client.server, XKB_X11_MIN_MAJOR_XKB_VERSION, XKB_X11_MIN_MINOR_XKB_VERSION,
                                                    XKB_X11_SETUP_XKB_EXTENSION_NO_FLAGS, NULL, NULL, &client.xkb_event, NULL))
        fail("no XKB");
    client.keyboard = xkb_x11_get_core_keyboard_device_id(client.server);
    if (client.keyboard < 0) fail("no keyboard");
    // A client that uses XKB gets no MappingNotify.
    const uint16_t events = XCB_XKB_EVENT_TYPE_NEW_KEYBOARD_NOTIFY | XCB_XKB_EVENT_TYPE_MAP_NOTIFY;
    const uint16_t parts = XCB_XKB_MAP_PART_KEY_TYPES | XCB_XKB_MAP_PART_KEY_SYMS | XCB_XKB_MAP_PART_MODIFIER_MAP;
    xcb_xkb_select_events(client.server, (xcb_xkb_device_spec_t)client.keyboard, events, 0, events, parts, parts, NULL);
    // A key that repeats is pressed again and again, and released once.
    const uint32_t repeats = XCB_XKB_PER_CLIENT_FLAG_DETECTABLE_AUTO_REPEAT;
    xcb_xkb_per_client_flags(client.server, (xcb_xkb_device_spec_t)client.keyboard, repeats, repeats, 0, 0, 0);
    read_keymap();
}

static void handle_key(const xcb_key_press_event_t *event, bool is_down) {
    // Bits 13 and 14 are the group.
    xkb_state_update_mask(client.state, event->state & 0xFF, 0, 0, 0, 0, event->state >> 13 & 3);
    log_key(client.state, event->detail, !is_down ? "up" : client.held[event->detail] ? "repeat" : "down");
    client.held[event->detail] = is_down;
}

// MARK: - Pointer

static void handle_button(const xcb_button_press_event_t *event, bool is_down) {
    static const unsigned codes[] = {[1] = 0x110, [2] = 0x112, [3] = 0x111, [8] = 0x113, [9] = 0x114, [10] = 0x115};
    static const int notches[][2] = {[4] = {0, -1}, [5] = {0, 1}, [6] = {-1, 0}, [7] = {1, 0}};
    unsigned button = event->detail;
    if (button >= 4 && button <= 7) {
        if (is_down) log_wheel(0, 0, notches[button][0], notches[button][1]);
    } else {
        log_button(button < sizeof codes / sizeof *codes ? codes[button] : button, is_down, event->event_x, event->event_y);
    }
}

// MARK: - Events

static void draw(void) {
    draw_picture(client.pixels, client.width, client.height);
    // In strips, because a request has a longest length.
    uint32_t rows = 65536 / (client.width * 4u) > 0 ? 65536 / (client.width * 4u) : 1;
    for (uint32_t y = 0; y < client.height; y += rows) {
        uint32_t count = y + rows < client.height ? rows : client.height - y;
        xcb_put_image(client.server, XCB_IMAGE_FORMAT_Z_PIXMAP, client.window, client.context, client.width, (uint16_t)count, 0,
                      (int16_t)y, 0, client.depth, count * client.width * 4, client.pixels + (size_t)y * client.width * 4);
    }
    xcb_flush(client.server);
}

static void handle(const xcb_generic_event_t *event) {
    uint8_t type = event->response_type & 0x7F;
    if (type == client.xkb_event) {
        read_keymap();
        return;
    }
    switch (type) {
    case XCB_EXPOSE:
        shown.changed = true;
        // Only a window that is on the screen can have the focus.
        xcb_set_input_focus(client.server, XCB_INPUT_FOCUS_POINTER_ROOT, client.window, XCB_CURRENT_TIME);
        break;
    case XCB_KEY_PRESS: handle_key((const void *)event, true); break;
    case XCB_KEY_RELEASE: handle_key((const void *)event, false); break;
    case XCB_BUTTON_PRESS: handle_button((const void *)event, true); break;
    case XCB_BUTTON_RELEASE: handle_button((const void *)event, false); break;
    case XCB_MOTION_NOTIFY: {
        const xcb_motion_notify_event_t *motion = (const void *)event;
        log_place("motion", motion->event_x, motion->event_y);
        break;
    }
    case XCB_ENTER_NOTIFY: {
        const xcb_enter_notify_event_t *enter = (const void *)event;
        log_place("enter", enter->event_x, enter->event_y);
        break;
    }
    case XCB_LEAVE_NOTIFY: log_name("leave", NULL); break;
    case XCB_FOCUS_IN:
        client.has_focus = true;
        log_name("focus", "in");
        break;
    case XCB_FOCUS_OUT: log_name("focus", "out"); break;
    }
}

int main(void) {
    open_window();
    open_keyboard();
    xcb_flush(client.server);
    struct pollfd server = {.fd = xcb_get_file_descriptor(client.server), .events = POLLIN};
    while (true) {
        xcb_generic_event_t *event = xcb_poll_for_event(client.server);
        if (event) {
            handle(event);
            free(event);
            continue;
        }
        if (xcb_connection_has_error(client.server)) fail("the X server is gone");
        if (shown.changed) {
            draw();
            continue;  // Sending reads events, too.
        }
        if (client.has_focus && !client.is_ready) {
            client.is_ready = true;
            begin_line("ready");
            printf(" %u %u", client.width, client.height);
            end_line();
        }
        poll(&server, 1, -1);
    }
}
