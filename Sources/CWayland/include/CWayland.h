// libwayland-client, and zwlr_screencopy_manager_v1, whose description Debian 12 does not ship as a file. The code is
// what wayland-scanner would generate, written by hand. It is C because requests are variadic and interfaces are tables
// that must not move. No policy.
#ifndef CWAYLAND_H
#define CWAYLAND_H

#include <stdint.h>
#include <wayland-client.h>

/// zwlr_screencopy_manager_v1 and zwlr_screencopy_frame_v1 of wlr-screencopy-unstable-v1, version 1.
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
};

/// A bit of `flags`: the last row comes first.
enum { CWAYLAND_SCREENCOPY_Y_INVERT = 1 };

struct wl_shm *cwayland_bind_shm(struct wl_registry *registry, uint32_t name);
/// - version: At most 4, which reports the output's name.
struct wl_output *cwayland_bind_output(struct wl_registry *registry, uint32_t name, uint32_t version);
struct cwayland_screencopy_manager *cwayland_bind_screencopy_manager(struct wl_registry *registry, uint32_t name);

struct cwayland_screencopy_frame *cwayland_screencopy_capture(struct cwayland_screencopy_manager *manager, int32_t with_cursor,
                                                             struct wl_output *output);
void cwayland_screencopy_frame_add_listener(struct cwayland_screencopy_frame *frame,
                                            const struct cwayland_screencopy_frame_listener *listener, void *data);
/// Copies the next picture of the output into `buffer`, even if the output is static.
void cwayland_screencopy_copy(struct cwayland_screencopy_frame *frame, struct wl_buffer *buffer);
void cwayland_screencopy_frame_destroy(struct cwayland_screencopy_frame *frame);

#endif
