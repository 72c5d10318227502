// Moves the pointer of a compositor of wlroots, by zwlr_virtual_pointer_v1, which no package ships as a file.
//
//     pointer-wlroots
//
// Each line of standard input, "X Y WIDTH HEIGHT", moves the pointer to X, Y on a screen of that size. The pointer
// exists until the input ends.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wayland-client.h>

extern const struct wl_interface wl_seat_interface;

// Requests of zwlr_virtual_pointer_v1, version 1, by their opcodes; those that are not used have no types either.
enum { MOTION, MOTION_ABSOLUTE, BUTTON, AXIS, FRAME, POINTER_REQUESTS };
static const struct wl_interface *const no_types[5] = {0};
static const struct wl_message pointer_requests[POINTER_REQUESTS] = {
    {"motion", "uff", (const struct wl_interface **)no_types},
    {"motion_absolute", "uuuuu", (const struct wl_interface **)no_types},
    {"button", "uuu", (const struct wl_interface **)no_types},
    {"axis", "uuf", (const struct wl_interface **)no_types},
    {"frame", "", (const struct wl_interface **)no_types},
};
static const struct wl_interface pointer_interface = {
    "zwlr_virtual_pointer_v1", 1, POINTER_REQUESTS, pointer_requests, 0, NULL,
};

enum { CREATE_VIRTUAL_POINTER };
static const struct wl_interface *const create_types[] = {&wl_seat_interface, &pointer_interface};
static const struct wl_message manager_requests[] = {
    {"create_virtual_pointer", "?on", (const struct wl_interface **)create_types},
};
static const struct wl_interface manager_interface = {
    "zwlr_virtual_pointer_manager_v1", 1, 1, manager_requests, 0, NULL,
};

static struct wl_proxy *manager;

static void global(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version) {
    (void)data, (void)version;
    if (strcmp(interface, manager_interface.name) == 0)
        manager = wl_registry_bind(registry, name, &manager_interface, 1);
}

static void global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

int main(void) {
    struct wl_display *display = wl_display_connect(NULL);
    if (!display) {
        fputs("pointer-wlroots: no compositor\n", stderr);
        return EXIT_FAILURE;
    }
    struct wl_registry *registry = wl_display_get_registry(display);
    static const struct wl_registry_listener listener = {global, global_remove};
    wl_registry_add_listener(registry, &listener, NULL);
    wl_display_roundtrip(display);
    if (!manager) {
        fputs("pointer-wlroots: the compositor has no virtual pointers\n", stderr);
        return EXIT_FAILURE;
    }
    struct wl_proxy *pointer =
        wl_proxy_marshal_flags(manager, CREATE_VIRTUAL_POINTER, &pointer_interface, 1, 0, NULL, NULL);

    char line[100];
    for (uint32_t time = 1; fgets(line, sizeof line, stdin); time++) {
        unsigned x, y, width, height;
        if (sscanf(line, "%u %u %u %u", &x, &y, &width, &height) != 4) continue;
        wl_proxy_marshal_flags(pointer, MOTION_ABSOLUTE, NULL, 1, 0, time, x, y, width, height);
        wl_proxy_marshal_flags(pointer, FRAME, NULL, 1, 0);
        if (wl_display_roundtrip(display) < 0) {
            fputs("pointer-wlroots: the compositor is gone\n", stderr);
            return EXIT_FAILURE;
        }
    }
    wl_display_disconnect(display);
}
