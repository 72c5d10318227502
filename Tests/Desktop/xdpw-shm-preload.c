// A preload for xdg-desktop-portal-wlr before 0.8 on a compositor without DMA-BUF.
//
// Those versions refuse to start a screencast until the compositor has announced a DMA-BUF
// format for the frame, even when shared memory is all that will be used. With its pixman
// renderer (no GPU) sway announces only the shared-memory format. The preload repeats that
// announcement as the DMA-BUF one; as it comes without modifiers, the portal then offers its
// consumers shared memory, which is what works.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <wayland-client-core.h>

// The events of zwlr_screencopy_frame_v1 version 3, in protocol order.
struct screencopy_frame_listener {
    void (*buffer)(void *data, void *frame, uint32_t format, uint32_t width, uint32_t height, uint32_t stride);
    void (*flags)(void *data, void *frame, uint32_t flags);
    void (*ready)(void *data, void *frame, uint32_t seconds_high, uint32_t seconds_low, uint32_t nanoseconds);
    void (*failed)(void *data, void *frame);
    void (*damage)(void *data, void *frame, uint32_t x, uint32_t y, uint32_t width, uint32_t height);
    void (*linux_dmabuf)(void *data, void *frame, uint32_t format, uint32_t width, uint32_t height);
    void (*buffer_done)(void *data, void *frame);
};

static struct screencopy_frame_listener original, announcing;

// wl_shm has numbers of its own for the two formats that every compositor supports and DRM's for
// all others.
static uint32_t drm_format(uint32_t shm_format) {
    switch (shm_format) {
    case 0: return 0x34325241;  // ARGB8888
    case 1: return 0x34325258;  // XRGB8888
    default: return shm_format;
    }
}

static void announce_buffer(
    void *data, void *frame, uint32_t format, uint32_t width, uint32_t height, uint32_t stride
) {
    original.linux_dmabuf(data, frame, drm_format(format), width, height);
    original.buffer(data, frame, format, width, height, stride);
}

int wl_proxy_add_listener(struct wl_proxy *proxy, void (**implementation)(void), void *data) {
    int (*add_listener)(struct wl_proxy *, void (**)(void), void *);
    *(void **)&add_listener = dlsym(RTLD_NEXT, "wl_proxy_add_listener");
    if (strcmp(wl_proxy_get_class(proxy), "zwlr_screencopy_frame_v1") == 0) {
        memcpy(&original, implementation, sizeof original);  // The portal has one, constant.
        announcing = original;
        announcing.buffer = announce_buffer;
        implementation = (void (**)(void))&announcing;
    }
    return add_listener(proxy, implementation, data);
}

// Programs that the portal starts have listeners of other versions: they must not inherit this.
__attribute__((constructor)) static void keep_from_children(void) { unsetenv("LD_PRELOAD"); }
