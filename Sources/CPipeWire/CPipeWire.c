#include "CPipeWire.h"

#include <spa/param/props.h>
#include <spa/pod/builder.h>
#include <stdio.h>

const struct spa_pod *cpw_enum_format(void *buffer, uint32_t buffer_size, const uint32_t *formats, uint32_t format_count,
                                      const uint64_t *modifiers, uint32_t modifier_count, uint32_t maximum_rate,
                                      uint32_t width, uint32_t height) {
    const bool any_size = width == 0 || height == 0;
    const struct spa_rectangle preferred = any_size ? SPA_RECTANGLE(1280, 720) : SPA_RECTANGLE(width, height);
    const struct spa_rectangle smallest = any_size ? SPA_RECTANGLE(2, 2) : preferred;
    const struct spa_rectangle largest = any_size ? SPA_RECTANGLE(8192, 8192) : preferred;
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(buffer, buffer_size);
    struct spa_pod_frame object, choice;

    spa_pod_builder_push_object(&builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);

    // An Enum choice lists its default first, then all alternatives.
    spa_pod_builder_prop(&builder, SPA_FORMAT_VIDEO_format, 0);
    spa_pod_builder_push_choice(&builder, &choice, SPA_CHOICE_Enum, 0);
    spa_pod_builder_id(&builder, formats[0]);
    for (uint32_t i = 0; i < format_count; i++) spa_pod_builder_id(&builder, formats[i]);
    spa_pod_builder_pop(&builder, &choice);

    if (modifier_count > 0) {
        // A producer without modifiers must not accept this offer, and the side that allocates chooses among them.
        spa_pod_builder_prop(&builder, SPA_FORMAT_VIDEO_modifier,
                             SPA_POD_PROP_FLAG_MANDATORY | SPA_POD_PROP_FLAG_DONT_FIXATE);
        spa_pod_builder_push_choice(&builder, &choice, SPA_CHOICE_Enum, 0);
        spa_pod_builder_long(&builder, (int64_t)modifiers[0]);
        for (uint32_t i = 0; i < modifier_count; i++) spa_pod_builder_long(&builder, (int64_t)modifiers[i]);
        spa_pod_builder_pop(&builder, &choice);
    }

    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size,
                        SPA_POD_CHOICE_RANGE_Rectangle(&preferred, &smallest, &largest),
                        SPA_FORMAT_VIDEO_framerate,
                        SPA_POD_CHOICE_RANGE_Fraction(&SPA_FRACTION(0, 1), &SPA_FRACTION(0, 1), &SPA_FRACTION(1000, 1)),
                        SPA_FORMAT_VIDEO_maxFramerate,
                        SPA_POD_CHOICE_RANGE_Fraction(&SPA_FRACTION(maximum_rate, 1), &SPA_FRACTION(1, 1),
                                                      &SPA_FRACTION(maximum_rate, 1)),
                        0);
    return spa_pod_builder_pop(&builder, &object);
}

bool cpw_format_modifier(const struct spa_pod *format, uint64_t *modifier) {
    const struct spa_pod_prop *property = spa_pod_find_prop(format, NULL, SPA_FORMAT_VIDEO_modifier);
    if (property == NULL) return false;
    uint32_t count, choice;
    const struct spa_pod *values = spa_pod_get_values(&property->value, &count, &choice);
    if (values->type != SPA_TYPE_Long || count == 0) return false;
    *modifier = *(const uint64_t *)SPA_POD_BODY_CONST(values);
    return true;
}

const struct spa_pod *cpw_audio_format(void *buffer, uint32_t buffer_size, uint32_t rate, uint32_t channels) {
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(buffer, buffer_size);
    struct spa_audio_info_raw info = {
        .format = SPA_AUDIO_FORMAT_F32,
        .rate = rate,
        .channels = channels,
        .position = {SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR},
    };
    if (channels == 1) info.position[0] = SPA_AUDIO_CHANNEL_MONO;
    return spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
}

const struct spa_pod *cpw_buffers_param(void *buffer, uint32_t buffer_size, int32_t size, int32_t minimum,
                                        int32_t preferred, int32_t maximum, int32_t data_types) {
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(buffer, buffer_size);
    return spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
                                      SPA_POD_CHOICE_RANGE_Int(preferred, minimum, maximum), SPA_PARAM_BUFFERS_blocks,
                                      SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
                                      SPA_POD_CHOICE_RANGE_Int(size, size, INT32_MAX), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(data_types));
}

const struct spa_pod *cpw_meta_param(void *buffer, uint32_t buffer_size, uint32_t type, int32_t minimum, int32_t maximum) {
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(buffer, buffer_size);
    return spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                      SPA_POD_Id(type), SPA_PARAM_META_size,
                                      SPA_POD_CHOICE_RANGE_Int(minimum, minimum, maximum));
}

void cpw_core_add_listener(struct pw_core *core, struct spa_hook *hook, const struct pw_core_events *events, void *data) {
    pw_core_add_listener(core, hook, events, data);
}

int cpw_core_sync(struct pw_core *core) {
    return pw_core_sync(core, PW_ID_CORE, 0);
}

struct pw_registry *cpw_core_get_registry(struct pw_core *core) {
    return pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
}

void cpw_registry_add_listener(struct pw_registry *registry, struct spa_hook *hook,
                               const struct pw_registry_events *events, void *data) {
    pw_registry_add_listener(registry, hook, events, data);
}

struct pw_proxy *cpw_core_create_link(struct pw_core *core, uint32_t output_node, uint32_t input_node) {
    char output[16], input[16];
    snprintf(output, sizeof output, "%u", output_node);
    snprintf(input, sizeof input, "%u", input_node);
    const struct spa_dict_item items[] = {
        SPA_DICT_ITEM_INIT(PW_KEY_LINK_OUTPUT_NODE, output),
        SPA_DICT_ITEM_INIT(PW_KEY_LINK_INPUT_NODE, input),
    };
    const struct spa_dict properties = SPA_DICT_INIT_ARRAY(items);
    return pw_core_create_object(core, "link-factory", PW_TYPE_INTERFACE_Link, PW_VERSION_LINK, &properties, 0);
}

struct pw_proxy *cpw_core_create_null_sink(struct pw_core *core, const char *name, const char *description,
                                           uint32_t priority) {
    char number[16];
    snprintf(number, sizeof number, "%u", priority);
    const struct spa_dict_item items[] = {
        SPA_DICT_ITEM_INIT(PW_KEY_FACTORY_NAME, "support.null-audio-sink"),
        SPA_DICT_ITEM_INIT(PW_KEY_NODE_NAME, name),
        SPA_DICT_ITEM_INIT(PW_KEY_NODE_DESCRIPTION, description),
        SPA_DICT_ITEM_INIT(PW_KEY_MEDIA_CLASS, "Audio/Sink"),
        SPA_DICT_ITEM_INIT(PW_KEY_PRIORITY_SESSION, number),
        SPA_DICT_ITEM_INIT(PW_KEY_OBJECT_LINGER, "false"),
        SPA_DICT_ITEM_INIT("audio.position", "FL,FR"),
    };
    const struct spa_dict properties = SPA_DICT_INIT_ARRAY(items);
    return pw_core_create_object(core, "adapter", PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, &properties, 0);
}

struct spa_source *cpw_loop_add_event(struct pw_loop *loop, spa_source_event_func_t callback, void *data) {
    return pw_loop_add_event(loop, callback, data);
}

int cpw_loop_signal_event(struct pw_loop *loop, struct spa_source *source) {
    return pw_loop_signal_event(loop, source);
}

struct spa_source *cpw_loop_add_timer(struct pw_loop *loop, spa_source_timer_func_t callback, void *data) {
    return pw_loop_add_timer(loop, callback, data);
}

int cpw_loop_update_timer(struct pw_loop *loop, struct spa_source *source, long seconds, long nanoseconds) {
    struct timespec delay = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    return pw_loop_update_timer(loop, source, &delay, NULL, false);
}

void cpw_loop_destroy_source(struct pw_loop *loop, struct spa_source *source) {
    pw_loop_destroy_source(loop, source);
}
