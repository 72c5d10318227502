// The parts of PipeWire that Swift cannot import: variadic functions and function-like macros. No policy.
#ifndef CPIPEWIRE_H
#define CPIPEWIRE_H

#include <pipewire/pipewire.h>
#include <stdbool.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>

/// Builds an EnumFormat object in `buffer`, or returns NULL if `buffer` is too small.
///
/// It offers raw video of any of `formats`, preferably at a variable frame rate (0/1), with a maximum between 1 and
/// `maximum_rate` frames per second. The size is `width` x `height`, or any size from 2x2 to 8192x8192 if they are 0.
/// With `modifiers`, the pictures are in DMA-BUFs of one of these layouts, which the producer chooses.
const struct spa_pod *cpw_enum_format(void *buffer, uint32_t buffer_size, const uint32_t *formats, uint32_t format_count,
                                      const uint64_t *modifiers, uint32_t modifier_count, uint32_t maximum_rate,
                                      uint32_t width, uint32_t height);

/// Returns whether a Format object is for DMA-BUFs, and then sets their modifier. While the producer has not chosen
/// one, it is the producer's preferred modifier.
bool cpw_format_modifier(const struct spa_pod *format, uint64_t *modifier);

/// Builds an EnumFormat object for sound of 1 or 2 channels, as interleaved 32-bit floats at `rate` samples per second,
/// or returns NULL if `buffer` is too small.
const struct spa_pod *cpw_audio_format(void *buffer, uint32_t buffer_size, uint32_t rate, uint32_t channels);

/// Builds a Buffers object: one block of at least `size` bytes, between `minimum` and `maximum` buffers, data types as
/// a mask of `1 << type`.
const struct spa_pod *cpw_buffers_param(void *buffer, uint32_t buffer_size, int32_t size, int32_t minimum,
                                        int32_t preferred, int32_t maximum, int32_t data_types);

/// Builds a Meta object that asks for metadata `type` of `minimum` to `maximum` bytes.
const struct spa_pod *cpw_meta_param(void *buffer, uint32_t buffer_size, uint32_t type, int32_t minimum, int32_t maximum);

// Macros that call through method tables.
void cpw_core_add_listener(struct pw_core *core, struct spa_hook *hook, const struct pw_core_events *events, void *data);
int cpw_core_sync(struct pw_core *core);
struct pw_registry *cpw_core_get_registry(struct pw_core *core);
void cpw_registry_add_listener(struct pw_registry *registry, struct spa_hook *hook,
                               const struct pw_registry_events *events, void *data);

/// Asks the daemon to link two nodes, as a session manager would. Returns NULL and sets errno on failure. The link
/// lives as long as the proxy.
struct pw_proxy *cpw_core_create_link(struct pw_core *core, uint32_t output_node, uint32_t input_node);

/// Asks the daemon for a stereo sink without hardware. Returns NULL and sets errno on failure. The sink lives as long
/// as the proxy.
struct pw_proxy *cpw_core_create_null_sink(struct pw_core *core, const char *name, const char *description,
                                           uint32_t priority);

struct spa_source *cpw_loop_add_event(struct pw_loop *loop, spa_source_event_func_t callback, void *data);
int cpw_loop_signal_event(struct pw_loop *loop, struct spa_source *source);
/// Adds a timer that fires once, after the time that `cpw_loop_update_timer` sets; 0 stops it.
struct spa_source *cpw_loop_add_timer(struct pw_loop *loop, spa_source_timer_func_t callback, void *data);
int cpw_loop_update_timer(struct pw_loop *loop, struct spa_source *source, long seconds, long nanoseconds);
void cpw_loop_destroy_source(struct pw_loop *loop, struct spa_source *source);

#endif
