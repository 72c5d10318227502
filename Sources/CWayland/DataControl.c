#include "CWayland.h"

enum { SOURCE_OFFER, SOURCE_DESTROY, SOURCE_REQUESTS };
enum { SOURCE_SEND, SOURCE_CANCELLED, SOURCE_EVENTS };
enum { OFFER_RECEIVE, OFFER_DESTROY, OFFER_REQUESTS };
enum { OFFER_OFFER, OFFER_EVENTS };
enum { DEVICE_SET_SELECTION, DEVICE_DESTROY, DEVICE_REQUESTS };
enum { DEVICE_DATA_OFFER, DEVICE_SELECTION, DEVICE_FINISHED, DEVICE_EVENTS };
enum { MANAGER_CREATE_SOURCE, MANAGER_GET_DEVICE, MANAGER_DESTROY, MANAGER_REQUESTS };

// The interface of every argument, NULL for arguments that are not objects.
static const struct wl_interface *no_types[2];

static const struct wl_message source_requests[SOURCE_REQUESTS] = {
    [SOURCE_OFFER] = {"offer", "s", no_types},
    [SOURCE_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_message source_events[SOURCE_EVENTS] = {
    [SOURCE_SEND] = {"send", "sh", no_types},
    [SOURCE_CANCELLED] = {"cancelled", "", no_types},
};
static const struct wl_interface source_interface = {
    "zwlr_data_control_source_v1", 1, SOURCE_REQUESTS, source_requests, SOURCE_EVENTS, source_events,
};

static const struct wl_message offer_requests[OFFER_REQUESTS] = {
    [OFFER_RECEIVE] = {"receive", "sh", no_types},
    [OFFER_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_message offer_events[OFFER_EVENTS] = {
    [OFFER_OFFER] = {"offer", "s", no_types},
};
static const struct wl_interface offer_interface = {
    "zwlr_data_control_offer_v1", 1, OFFER_REQUESTS, offer_requests, OFFER_EVENTS, offer_events,
};

static const struct wl_interface *source_types[] = {&source_interface};
static const struct wl_interface *offer_types[] = {&offer_interface};
static const struct wl_message device_requests[DEVICE_REQUESTS] = {
    [DEVICE_SET_SELECTION] = {"set_selection", "?o", source_types},
    [DEVICE_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_message device_events[DEVICE_EVENTS] = {
    [DEVICE_DATA_OFFER] = {"data_offer", "n", offer_types},
    [DEVICE_SELECTION] = {"selection", "?o", offer_types},
    [DEVICE_FINISHED] = {"finished", "", no_types},
};
static const struct wl_interface device_interface = {
    "zwlr_data_control_device_v1", 1, DEVICE_REQUESTS, device_requests, DEVICE_EVENTS, device_events,
};

static const struct wl_interface *device_types[] = {&device_interface, &wl_seat_interface};
static const struct wl_message manager_requests[MANAGER_REQUESTS] = {
    [MANAGER_CREATE_SOURCE] = {"create_data_source", "n", source_types},
    [MANAGER_GET_DEVICE] = {"get_data_device", "no", device_types},
    [MANAGER_DESTROY] = {"destroy", "", no_types},
};
static const struct wl_interface manager_interface = {
    "zwlr_data_control_manager_v1", 1, MANAGER_REQUESTS, manager_requests, 0, NULL,
};

const char *const cwayland_data_control_manager_name = "zwlr_data_control_manager_v1";

// Calls a request without arguments for new objects.
#define SEND(object, opcode, ...) wl_proxy_marshal_flags((struct wl_proxy *)(object), (opcode), NULL, 1, __VA_ARGS__)

struct cwayland_data_control_manager *cwayland_bind_data_control_manager(struct wl_registry *registry, uint32_t name) {
    return wl_registry_bind(registry, name, &manager_interface, 1);
}

struct cwayland_data_device *cwayland_data_control_device(struct cwayland_data_control_manager *manager,
                                                         struct wl_seat *seat) {
    return (struct cwayland_data_device *)wl_proxy_marshal_flags((struct wl_proxy *)manager, MANAGER_GET_DEVICE,
                                                                 &device_interface, 1, 0, NULL, seat);
}

void cwayland_data_device_add_listener(struct cwayland_data_device *device,
                                       const struct cwayland_data_device_listener *listener, void *data) {
    wl_proxy_add_listener((struct wl_proxy *)device, (void (**)(void))listener, data);
}

void cwayland_data_device_set_selection(struct cwayland_data_device *device, struct cwayland_data_source *source) {
    SEND(device, DEVICE_SET_SELECTION, 0, source);
}

struct cwayland_data_source *cwayland_data_control_source(struct cwayland_data_control_manager *manager) {
    return (struct cwayland_data_source *)wl_proxy_marshal_flags((struct wl_proxy *)manager, MANAGER_CREATE_SOURCE,
                                                                 &source_interface, 1, 0, NULL);
}

void cwayland_data_source_add_listener(struct cwayland_data_source *source,
                                       const struct cwayland_data_source_listener *listener, void *data) {
    wl_proxy_add_listener((struct wl_proxy *)source, (void (**)(void))listener, data);
}

void cwayland_data_source_offer(struct cwayland_data_source *source, const char *type) {
    SEND(source, SOURCE_OFFER, 0, type);
}

void cwayland_data_source_destroy(struct cwayland_data_source *source) {
    SEND(source, SOURCE_DESTROY, WL_MARSHAL_FLAG_DESTROY);
}

void cwayland_data_offer_add_listener(struct cwayland_data_offer *offer,
                                      const struct cwayland_data_offer_listener *listener, void *data) {
    wl_proxy_add_listener((struct wl_proxy *)offer, (void (**)(void))listener, data);
}

void cwayland_data_offer_receive(struct cwayland_data_offer *offer, const char *type, int32_t descriptor) {
    SEND(offer, OFFER_RECEIVE, 0, type, descriptor);
}

void cwayland_data_offer_destroy(struct cwayland_data_offer *offer) {
    SEND(offer, OFFER_DESTROY, WL_MARSHAL_FLAG_DESTROY);
}
