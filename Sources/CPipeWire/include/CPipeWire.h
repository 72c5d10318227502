// What Swift cannot import from PipeWire: variadic functions and function-like macros. No policy.
#ifndef CPIPEWIRE_H
#define CPIPEWIRE_H

#include <pipewire/pipewire.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>

/// Builds an EnumFormat object in `buffer`: raw video of any of `formats`, any size from 2x2 to 8192x8192, preferably a
/// variable frame rate (0/1), with a maximum between 1 and `maximum_rate` frames per second. NULL when `buffer` is too small.
const struct spa_pod *cpw_enum_format(void *buffer, uint32_t buffer_size, const uint32_t *formats, uint32_t format_count,
                                      uint32_t maximum_rate);

/// Builds a Buffers object: one block, between `minimum` and `maximum` buffers, data types as a mask of `1 << type`.
const struct spa_pod *cpw_buffers_param(void *buffer, uint32_t buffer_size, int32_t minimum, int32_t preferred,
                                        int32_t maximum, int32_t data_types);

/// Builds a Meta object that asks for metadata `type` of `size` bytes.
const struct spa_pod *cpw_meta_param(void *buffer, uint32_t buffer_size, uint32_t type, int32_t size);

// Macros over method tables.
void cpw_core_add_listener(struct pw_core *core, struct spa_hook *hook, const struct pw_core_events *events, void *data);
struct spa_source *cpw_loop_add_event(struct pw_loop *loop, spa_source_event_func_t callback, void *data);
int cpw_loop_signal_event(struct pw_loop *loop, struct spa_source *source);
void cpw_loop_destroy_source(struct pw_loop *loop, struct spa_source *source);

#endif
