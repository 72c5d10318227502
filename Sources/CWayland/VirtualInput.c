#include "CWayland.h"

enum {
    POINTER_MOTION,
    POINTER_MOTION_ABSOLUTE,
    POINTER_BUTTON,
    POINTER_AXIS,
    POINTER_FRAME,
    POINTER_AXIS_SOURCE,
    POINTER_AXIS_STOP,
    POINTER_AXIS_DISCRETE,
    POINTER_DESTROY,
    POINTER_REQUESTS
};
enum { POINTERS_CREATE, POINTERS_DESTROY, POINTERS_CREATE_WITH_OUTPUT, POINTERS_REQUESTS };
enum { KEYBOARD_KEYMAP, KEYBOARD_KEY, KEYBOARD_MODIFIERS, KEYBOARD_DESTROY, KEYBOARD_REQUESTS };
enum { KEYBOARDS_CREATE, KEYBOARDS_REQUESTS };

// The interface of every argument, NULL for arguments that are not objects.
static const struct wl_interface *no_types[5];

static const struct wl_message pointer_requests[POINTER_REQUESTS] = {
    [POINTER_MOTION] = {"motion", "uff", no_types},
    [POINTER_MOTION_ABSOLUTE] = {"motion_absolute", "uuuuu", no_types},
    [POINTER_BUTTON] = {"button", "uuu", no_types},
    [POINTER_AXIS] = {"axis", "uuf", no_types},
    [POINTER_FRAME] = {"frame", "", no_types},
    [POINTER_AXIS_SOURCE] = {"axis_source", "u", no_types},
    [POINTER_AXIS_STOP] = {"axis_stop", "uu", no_types},
    [POINTER_AXIS_DISCRETE] = {"axis_discrete", "uufi", no_types},
    [POINTER_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_interface pointer_interface = {
    "zwlr_virtual_pointer_v1", 2, POINTER_REQUESTS, pointer_requests, 0, NULL,
};

static const struct wl_interface *create_pointer_types[] = {&wl_seat_interface, &pointer_interface};
static const struct wl_interface *create_pointer_with_output_types[] = {&wl_seat_interface, &wl_output_interface,
                                                                        &pointer_interface};
static const struct wl_message pointers_requests[POINTERS_REQUESTS] = {
    [POINTERS_CREATE] = {"create_virtual_pointer", "?on", create_pointer_types},
    [POINTERS_DESTROY] = {"destroy", "", no_types},
    [POINTERS_CREATE_WITH_OUTPUT] = {"create_virtual_pointer_with_output", "2?o?on", create_pointer_with_output_types},
};
static const struct wl_interface pointers_interface = {
    "zwlr_virtual_pointer_manager_v1", 2, POINTERS_REQUESTS, pointers_requests, 0, NULL,
};

static const struct wl_message keyboard_requests[KEYBOARD_REQUESTS] = {
    [KEYBOARD_KEYMAP] = {"keymap", "uhu", no_types},
    [KEYBOARD_KEY] = {"key", "uuu", no_types},
    [KEYBOARD_MODIFIERS] = {"modifiers", "uuuu", no_types},
    [KEYBOARD_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_interface keyboard_interface = {
    "zwp_virtual_keyboard_v1", 1, KEYBOARD_REQUESTS, keyboard_requests, 0, NULL,
};

static const struct wl_interface *create_keyboard_types[] = {&wl_seat_interface, &keyboard_interface};
static const struct wl_message keyboards_requests[KEYBOARDS_REQUESTS] = {
    [KEYBOARDS_CREATE] = {"create_virtual_keyboard", "on", create_keyboard_types},
};
static const struct wl_interface keyboards_interface = {
    "zwp_virtual_keyboard_manager_v1", 1, KEYBOARDS_REQUESTS, keyboards_requests, 0, NULL,
};

const char *const cwayland_virtual_pointer_manager_name = "zwlr_virtual_pointer_manager_v1";
const char *const cwayland_virtual_keyboard_manager_name = "zwp_virtual_keyboard_manager_v1";

// Calls a request without arguments for new objects. The proxies of this file have the version of their manager.
#define SEND(object, opcode, ...)                                                                                      \
    wl_proxy_marshal_flags((struct wl_proxy *)(object), (opcode), NULL, wl_proxy_get_version((struct wl_proxy *)(object)), \
                           __VA_ARGS__)

struct wl_seat *cwayland_bind_seat(struct wl_registry *registry, uint32_t name) {
    return wl_registry_bind(registry, name, &wl_seat_interface, 1);
}

struct cwayland_virtual_pointer_manager *cwayland_bind_virtual_pointer_manager(struct wl_registry *registry, uint32_t name) {
    return wl_registry_bind(registry, name, &pointers_interface, 2);
}

struct cwayland_virtual_keyboard_manager *cwayland_bind_virtual_keyboard_manager(struct wl_registry *registry,
                                                                                uint32_t name) {
    return wl_registry_bind(registry, name, &keyboards_interface, 1);
}

struct cwayland_virtual_pointer *cwayland_create_virtual_pointer(struct cwayland_virtual_pointer_manager *manager,
                                                                struct wl_seat *seat, struct wl_output *output) {
    return (struct cwayland_virtual_pointer *)wl_proxy_marshal_flags((struct wl_proxy *)manager, POINTERS_CREATE_WITH_OUTPUT,
                                                                     &pointer_interface, 2, 0, seat, output, NULL);
}

void cwayland_virtual_pointer_move(struct cwayland_virtual_pointer *pointer, uint32_t time, wl_fixed_t dx, wl_fixed_t dy) {
    SEND(pointer, POINTER_MOTION, 0, time, dx, dy);
    SEND(pointer, POINTER_FRAME, 0);
}

void cwayland_virtual_pointer_place(struct cwayland_virtual_pointer *pointer, uint32_t time, uint32_t x, uint32_t y,
                                    uint32_t width, uint32_t height) {
    SEND(pointer, POINTER_MOTION_ABSOLUTE, 0, time, x, y, width, height);
    SEND(pointer, POINTER_FRAME, 0);
}

void cwayland_virtual_pointer_button(struct cwayland_virtual_pointer *pointer, uint32_t time, uint32_t button,
                                     uint32_t state) {
    SEND(pointer, POINTER_BUTTON, 0, time, button, state);
    SEND(pointer, POINTER_FRAME, 0);
}

static void scroll_axis(struct cwayland_virtual_pointer *pointer, uint32_t time, uint32_t axis, wl_fixed_t distance) {
    if (!distance) return;
    SEND(pointer, POINTER_AXIS, 0, time, axis, distance);
    // wlroots takes a source for that of the axis before it. If two axes of a frame have different ones, it aborts.
    SEND(pointer, POINTER_AXIS_SOURCE, 0, WL_POINTER_AXIS_SOURCE_CONTINUOUS);
}

void cwayland_virtual_pointer_scroll(struct cwayland_virtual_pointer *pointer, uint32_t time, wl_fixed_t dx, wl_fixed_t dy) {
    scroll_axis(pointer, time, WL_POINTER_AXIS_HORIZONTAL_SCROLL, dx);
    scroll_axis(pointer, time, WL_POINTER_AXIS_VERTICAL_SCROLL, dy);
    SEND(pointer, POINTER_FRAME, 0);
}

void cwayland_virtual_pointer_destroy(struct cwayland_virtual_pointer *pointer) {
    SEND(pointer, POINTER_DESTROY, WL_MARSHAL_FLAG_DESTROY);
}

struct cwayland_virtual_keyboard *cwayland_create_virtual_keyboard(struct cwayland_virtual_keyboard_manager *manager,
                                                                  struct wl_seat *seat) {
    return (struct cwayland_virtual_keyboard *)wl_proxy_marshal_flags((struct wl_proxy *)manager, KEYBOARDS_CREATE,
                                                                      &keyboard_interface, 1, 0, seat, NULL);
}

void cwayland_virtual_keyboard_keymap(struct cwayland_virtual_keyboard *keyboard, int32_t descriptor, uint32_t size) {
    SEND(keyboard, KEYBOARD_KEYMAP, 0, WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1, descriptor, size);
}

void cwayland_virtual_keyboard_key(struct cwayland_virtual_keyboard *keyboard, uint32_t time, uint32_t key, uint32_t state) {
    SEND(keyboard, KEYBOARD_KEY, 0, time, key, state);
}

void cwayland_virtual_keyboard_modifiers(struct cwayland_virtual_keyboard *keyboard, uint32_t depressed, uint32_t locked) {
    SEND(keyboard, KEYBOARD_MODIFIERS, 0, depressed, 0u, locked, 0u);
}

void cwayland_virtual_keyboard_destroy(struct cwayland_virtual_keyboard *keyboard) {
    SEND(keyboard, KEYBOARD_DESTROY, WL_MARSHAL_FLAG_DESTROY);
}
