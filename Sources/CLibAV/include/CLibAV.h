// libavcodec, libavutil, libavfilter and libswscale, loaded on first use instead of at the start of the process. Swift
// gets the types from their headers and the functions from a table, because a direct call would need the linker. No
// policy.
#ifndef CLIBAV_H
#define CLIBAV_H

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_drm.h>
#include <libswscale/swscale.h>
#include <stdbool.h>

#define CLIBAV_FUNCTIONS(function) \
    function(avcodec_find_encoder_by_name) \
    function(avcodec_alloc_context3) \
    function(avcodec_free_context) \
    function(avcodec_open2) \
    function(avcodec_send_frame) \
    function(avcodec_receive_packet) \
    function(av_packet_alloc) \
    function(av_packet_free) \
    function(av_packet_unref) \
    function(av_frame_alloc) \
    function(av_frame_free) \
    function(av_frame_unref) \
    function(av_dict_set) \
    function(av_dict_free) \
    function(av_strerror) \
    function(av_log_set_callback) \
    function(av_free) \
    function(av_buffer_allocz) \
    function(av_buffer_ref) \
    function(av_buffer_unref) \
    function(av_hwdevice_ctx_create) \
    function(av_hwframe_ctx_alloc) \
    function(av_hwframe_ctx_init) \
    function(av_hwframe_get_buffer) \
    function(av_hwframe_transfer_data)

#define CLIBAV_FILTER_FUNCTIONS(function) \
    function(avfilter_get_by_name) \
    function(avfilter_graph_alloc) \
    function(avfilter_graph_free) \
    function(avfilter_graph_alloc_filter) \
    function(avfilter_init_str) \
    function(avfilter_link) \
    function(avfilter_graph_config) \
    function(av_buffersrc_parameters_alloc) \
    function(av_buffersrc_parameters_set) \
    function(av_buffersrc_add_frame_flags) \
    function(av_buffersink_get_frame)

#define CLIBAV_SCALE_FUNCTIONS(function) \
    function(sws_getContext) \
    function(sws_freeContext) \
    function(sws_scale) \
    function(av_log_set_callback)

/// The functions, by their own names: of libavcodec and libavutil, of libavfilter, and of libswscale.
#define CLIBAV_FIELD(name) __typeof__(name) *name;
typedef struct clibav_functions {
    CLIBAV_FUNCTIONS(CLIBAV_FIELD)
} clibav_functions;
typedef struct clibav_filter_functions {
    CLIBAV_FILTER_FUNCTIONS(CLIBAV_FIELD)
} clibav_filter_functions;
typedef struct clibav_scale_functions {
    CLIBAV_SCALE_FUNCTIONS(CLIBAV_FIELD)
} clibav_scale_functions;
#undef CLIBAV_FIELD

/// Loads the libraries in the version that the headers describe, and keeps their log messages from standard error.
///
/// Must be called once. Returns NULL, or why they cannot be loaded; the text is valid until the thread's next
/// dlerror(3).
const char *clibav_load(clibav_functions *functions);
/// Does the same for libavfilter. Must be called after the others.
const char *clibav_load_filters(clibav_filter_functions *functions);
/// Does the same for libswscale, which needs none of the others.
const char *clibav_load_scale(clibav_scale_functions *functions);

/// Returns the last error that the libraries have logged in this thread since the last call, without a line feed; ""
/// for none.
///
/// Valid until the next call in this thread. In C because log callbacks are variadic.
const char *clibav_take_message(void);

/// Returns whether `codec` lists the pixel formats that it accepts, and whether `format` is one of them. Later versions
/// no longer use the field.
bool clibav_lists_formats(const AVCodec *codec);
bool clibav_takes_format(const AVCodec *codec, enum AVPixelFormat format);

// Macros with operators, which Swift cannot import.
static const int clibav_error_again = AVERROR(EAGAIN);
static const int64_t clibav_no_pts = AV_NOPTS_VALUE;

#endif
