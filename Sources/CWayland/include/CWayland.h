// libwayland-client, and protocols whose descriptions Debian 12 does not ship as files. The code is what
// wayland-scanner would generate, written by hand. It is C because requests are variadic and interfaces are tables that
// must not move. No policy.
#ifndef CWAYLAND_H
#define CWAYLAND_H

#include <stdint.h>
#include <wayland-client.h>

/// zwlr_screencopy_manager_v1 and zwlr_screencopy_frame_v1 of wlr-screencopy-unstable-v1, version 2.
struct cwayland_screencopy_manager;
struct cwayland_screencopy_frame;

extern const char *const cwayland_screencopy_manager_name;

/// The events of a frame, in the protocol's order.
struct cwayland_screencopy_frame_listener {
    /// Describes the buffer that the picture can be copied into: `format` is a `wl_shm_format`, `stride` is in bytes.
    void (*buffer)(void *data, struct cwayland_screencopy_frame *frame, uint32_t format, uint32_t width, uint32_t height,
                   uint32_t stride);
    void (*flags)(void *data, struct cwayland_screencopy_frame *frame, uint32_t flags);
    /// The picture is in the buffer. The time is when it was shown: seconds (two halves) and ns of the compositor's
    /// clock.
    void (*ready)(void *data, struct cwayland_screencopy_frame *frame, uint32_t seconds_high, uint32_t seconds_low,
                  uint32_t nanoseconds);
    void (*failed)(void *data, struct cwayland_screencopy_frame *frame);
    /// A rectangle that has changed since the last picture that was copied with damage.
    void (*damage)(void *data, struct cwayland_screencopy_frame *frame, uint32_t x, uint32_t y, uint32_t width,
                   uint32_t height);
};

/// A bit of `flags`: the last row comes first.
enum { CWAYLAND_SCREENCOPY_Y_INVERT = 1 };

struct wl_shm *cwayland_bind_shm(struct wl_registry *registry, uint32_t name);
/// - version: At most 4, which reports the output's name.
struct wl_output *cwayland_bind_output(struct wl_registry *registry, uint32_t name, uint32_t version);
/// - version: At most 2, which can wait for a change.
struct cwayland_screencopy_manager *cwayland_bind_screencopy_manager(struct wl_registry *registry, uint32_t name,
                                                                     uint32_t version);

struct cwayland_screencopy_frame *cwayland_screencopy_capture(struct cwayland_screencopy_manager *manager, int32_t with_cursor,
                                                             struct wl_output *output);
void cwayland_screencopy_frame_add_listener(struct cwayland_screencopy_frame *frame,
                                            const struct cwayland_screencopy_frame_listener *listener, void *data);
/// Copies the next picture of the output into `buffer`, even if the output is static.
void cwayland_screencopy_copy(struct cwayland_screencopy_frame *frame, struct wl_buffer *buffer);
/// Copies a picture of the output into `buffer` once the output has changed since the last such copy of this client,
/// or at once if it is the first. Version 2.
void cwayland_screencopy_copy_with_damage(struct cwayland_screencopy_frame *frame, struct wl_buffer *buffer);
void cwayland_screencopy_frame_destroy(struct cwayland_screencopy_frame *frame);

/// zwlr_virtual_pointer_manager_v1 and zwlr_virtual_pointer_v1 of wlr-virtual-pointer-unstable-v1, version 2.
struct cwayland_virtual_pointer_manager;
struct cwayland_virtual_pointer;
/// zwp_virtual_keyboard_manager_v1 and zwp_virtual_keyboard_v1 of virtual-keyboard-unstable-v1, version 1.
struct cwayland_virtual_keyboard_manager;
struct cwayland_virtual_keyboard;

extern const char *const cwayland_virtual_pointer_manager_name;
extern const char *const cwayland_virtual_keyboard_manager_name;

/// Binds version 1, whose only event is `capabilities`.
struct wl_seat *cwayland_bind_seat(struct wl_registry *registry, uint32_t name);
struct cwayland_virtual_pointer_manager *cwayland_bind_virtual_pointer_manager(struct wl_registry *registry, uint32_t name);
struct cwayland_virtual_keyboard_manager *cwayland_bind_virtual_keyboard_manager(struct wl_registry *registry,
                                                                                uint32_t name);

/// - output: What absolute places are on, in its picture before it is turned.
struct cwayland_virtual_pointer *cwayland_create_virtual_pointer(struct cwayland_virtual_pointer_manager *manager,
                                                                struct wl_seat *seat, struct wl_output *output);
/// Moves the pointer by logical pixels. `time` is in ms here and below.
void cwayland_virtual_pointer_move(struct cwayland_virtual_pointer *pointer, uint32_t time, wl_fixed_t dx, wl_fixed_t dy);
/// Moves the pointer to `x` of `width` and `y` of `height`.
void cwayland_virtual_pointer_place(struct cwayland_virtual_pointer *pointer, uint32_t time, uint32_t x, uint32_t y,
                                    uint32_t width, uint32_t height);
/// - button: A Linux code. - state: 1 down, 0 up.
void cwayland_virtual_pointer_button(struct cwayland_virtual_pointer *pointer, uint32_t time, uint32_t button,
                                     uint32_t state);
/// Scrolls by logical pixels, without notches.
void cwayland_virtual_pointer_scroll(struct cwayland_virtual_pointer *pointer, uint32_t time, wl_fixed_t dx, wl_fixed_t dy);
void cwayland_virtual_pointer_destroy(struct cwayland_virtual_pointer *pointer);

struct cwayland_virtual_keyboard *cwayland_create_virtual_keyboard(struct cwayland_virtual_keyboard_manager *manager,
                                                                  struct wl_seat *seat);
/// Sets the keymap, an XKB text of `size` bytes with a 0 at its end. Required before the first key. The caller keeps
/// the descriptor.
void cwayland_virtual_keyboard_keymap(struct cwayland_virtual_keyboard *keyboard, int32_t descriptor, uint32_t size);
/// - key: A Linux code, which is a keycode of the keymap minus 8.
/// - state: 1 down, 0 up.
void cwayland_virtual_keyboard_key(struct cwayland_virtual_keyboard *keyboard, uint32_t time, uint32_t key, uint32_t state);
/// Sets the modifiers, which keys do not change by themselves.
void cwayland_virtual_keyboard_modifiers(struct cwayland_virtual_keyboard *keyboard, uint32_t depressed, uint32_t locked);
void cwayland_virtual_keyboard_destroy(struct cwayland_virtual_keyboard *keyboard);

/// zwlr_data_control_manager_v1 and its objects of wlr-data-control-unstable-v1, version 1: the clipboard, without a
/// window.
struct cwayland_data_control_manager;
struct cwayland_data_device;
/// Content that this client offers.
struct cwayland_data_source;
/// Content that another client offers.
struct cwayland_data_offer;

extern const char *const cwayland_data_control_manager_name;

/// The events of a device, in the protocol's order.
struct cwayland_data_device_listener {
    /// Announces an offer, whose types follow.
    void (*data_offer)(void *data, struct cwayland_data_device *device, struct cwayland_data_offer *offer);
    /// The clipboard has an announced offer, or nothing if it is NULL.
    void (*selection)(void *data, struct cwayland_data_device *device, struct cwayland_data_offer *offer);
    /// The seat is gone.
    void (*finished)(void *data, struct cwayland_data_device *device);
};

struct cwayland_data_source_listener {
    /// A client wants the content. The listener must close the descriptor.
    void (*send)(void *data, struct cwayland_data_source *source, const char *type, int32_t descriptor);
    /// The clipboard has something else.
    void (*cancelled)(void *data, struct cwayland_data_source *source);
};

struct cwayland_data_offer_listener {
    /// A MIME type of the content.
    void (*offer)(void *data, struct cwayland_data_offer *offer, const char *type);
};

struct cwayland_data_control_manager *cwayland_bind_data_control_manager(struct wl_registry *registry, uint32_t name);
struct cwayland_data_device *cwayland_data_control_device(struct cwayland_data_control_manager *manager,
                                                         struct wl_seat *seat);
void cwayland_data_device_add_listener(struct cwayland_data_device *device,
                                       const struct cwayland_data_device_listener *listener, void *data);
/// Puts a source into the clipboard. A source can be used once.
void cwayland_data_device_set_selection(struct cwayland_data_device *device, struct cwayland_data_source *source);

struct cwayland_data_source *cwayland_data_control_source(struct cwayland_data_control_manager *manager);
void cwayland_data_source_add_listener(struct cwayland_data_source *source,
                                       const struct cwayland_data_source_listener *listener, void *data);
/// Adds a MIME type, before the source is put into the clipboard.
void cwayland_data_source_offer(struct cwayland_data_source *source, const char *type);
void cwayland_data_source_destroy(struct cwayland_data_source *source);

void cwayland_data_offer_add_listener(struct cwayland_data_offer *offer,
                                      const struct cwayland_data_offer_listener *listener, void *data);
/// Asks for the content. Its owner writes it to the descriptor, of which the caller keeps its own.
void cwayland_data_offer_receive(struct cwayland_data_offer *offer, const char *type, int32_t descriptor);
void cwayland_data_offer_destroy(struct cwayland_data_offer *offer);

#endif
