#include "CWayland.h"

enum { FRAME_COPY, FRAME_DESTROY, FRAME_COPY_WITH_DAMAGE, FRAME_REQUESTS };
enum { FRAME_BUFFER, FRAME_FLAGS, FRAME_READY, FRAME_FAILED, FRAME_DAMAGE, FRAME_EVENTS };
enum { MANAGER_CAPTURE_OUTPUT, MANAGER_CAPTURE_OUTPUT_REGION, MANAGER_DESTROY, MANAGER_REQUESTS };

// The interface of every argument, NULL for arguments that are not objects.
static const struct wl_interface *no_types[4];
static const struct wl_interface *copy_types[] = {&wl_buffer_interface};

static const struct wl_message frame_requests[FRAME_REQUESTS] = {
    [FRAME_COPY] = {"copy", "o", copy_types},
    [FRAME_DESTROY] = {"destroy", "", no_types},
    [FRAME_COPY_WITH_DAMAGE] = {"copy_with_damage", "2o", copy_types},
};
static const struct wl_message frame_events[FRAME_EVENTS] = {
    [FRAME_BUFFER] = {"buffer", "uuuu", no_types},
    [FRAME_FLAGS] = {"flags", "u", no_types},
    [FRAME_READY] = {"ready", "uuu", no_types},
    [FRAME_FAILED] = {"failed", "", no_types},
    [FRAME_DAMAGE] = {"damage", "2uuuu", no_types},
};
static const struct wl_interface frame_interface = {
    "zwlr_screencopy_frame_v1", 2, FRAME_REQUESTS, frame_requests, FRAME_EVENTS, frame_events,
};

static const struct wl_interface *capture_types[] = {&frame_interface, NULL, &wl_output_interface, NULL, NULL, NULL, NULL};

static const struct wl_message manager_requests[MANAGER_REQUESTS] = {
    [MANAGER_CAPTURE_OUTPUT] = {"capture_output", "nio", capture_types},
    [MANAGER_CAPTURE_OUTPUT_REGION] = {"capture_output_region", "nioiiii", capture_types},
    [MANAGER_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_interface manager_interface = {
    "zwlr_screencopy_manager_v1", 2, MANAGER_REQUESTS, manager_requests, 0, NULL,
};

const char *const cwayland_screencopy_manager_name = "zwlr_screencopy_manager_v1";

struct wl_shm *cwayland_bind_shm(struct wl_registry *registry, uint32_t name) {
    return wl_registry_bind(registry, name, &wl_shm_interface, 1);
}

struct wl_output *cwayland_bind_output(struct wl_registry *registry, uint32_t name, uint32_t version) {
    return wl_registry_bind(registry, name, &wl_output_interface, version);
}

struct cwayland_screencopy_manager *cwayland_bind_screencopy_manager(struct wl_registry *registry, uint32_t name,
                                                                     uint32_t version) {
    return wl_registry_bind(registry, name, &manager_interface, version);
}

struct cwayland_screencopy_frame *cwayland_screencopy_capture(struct cwayland_screencopy_manager *manager, int32_t with_cursor,
                                                             struct wl_output *output) {
    uint32_t version = wl_proxy_get_version((struct wl_proxy *)manager);
    return (struct cwayland_screencopy_frame *)wl_proxy_marshal_flags((struct wl_proxy *)manager, MANAGER_CAPTURE_OUTPUT,
                                                                      &frame_interface, version, 0, NULL, with_cursor, output);
}

void cwayland_screencopy_frame_add_listener(struct cwayland_screencopy_frame *frame,
                                            const struct cwayland_screencopy_frame_listener *listener, void *data) {
    wl_proxy_add_listener((struct wl_proxy *)frame, (void (**)(void))listener, data);
}

void cwayland_screencopy_copy(struct cwayland_screencopy_frame *frame, struct wl_buffer *buffer) {
    wl_proxy_marshal_flags((struct wl_proxy *)frame, FRAME_COPY, NULL, 1, 0, buffer);
}

void cwayland_screencopy_copy_with_damage(struct cwayland_screencopy_frame *frame, struct wl_buffer *buffer) {
    wl_proxy_marshal_flags((struct wl_proxy *)frame, FRAME_COPY_WITH_DAMAGE, NULL, 2, 0, buffer);
}

void cwayland_screencopy_frame_destroy(struct cwayland_screencopy_frame *frame) {
    wl_proxy_marshal_flags((struct wl_proxy *)frame, FRAME_DESTROY, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
}
