#include "CLibAV.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CLIBAV_TEXT_OF(text) #text
#define CLIBAV_TEXT(macro) CLIBAV_TEXT_OF(macro)

static _Thread_local char logged[256];
static _Thread_local char taken[256];

static void keep_message(void *object, int level, const char *format, va_list arguments) {
    (void)object;
    if (level > AV_LOG_ERROR) return;
    vsnprintf(logged, sizeof(logged), format, arguments);
    logged[strcspn(logged, "\r\n")] = '\0';
}

const char *clibav_take_message(void) {
    memcpy(taken, logged, sizeof(taken));
    logged[0] = '\0';
    return taken;
}

const char *clibav_load(clibav_functions *functions) {
    // The functions of its dependency libavutil are found through the same handle.
    void *library = dlopen("libavcodec.so." CLIBAV_TEXT(LIBAVCODEC_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
#define CLIBAV_FIND(name) \
    functions->name = (__typeof__(functions->name))dlsym(library, #name); \
    if (functions->name == NULL) return dlerror();
    CLIBAV_FUNCTIONS(CLIBAV_FIND)
    functions->av_log_set_callback(keep_message);
    return NULL;
}

const char *clibav_load_filters(clibav_filter_functions *functions) {
    void *library = dlopen("libavfilter.so." CLIBAV_TEXT(LIBAVFILTER_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    CLIBAV_FILTER_FUNCTIONS(CLIBAV_FIND)
    return NULL;
}

const char *clibav_load_scale(clibav_scale_functions *functions) {
    void *library = dlopen("libswscale.so." CLIBAV_TEXT(LIBSWSCALE_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    CLIBAV_SCALE_FUNCTIONS(CLIBAV_FIND)
    functions->av_log_set_callback(keep_message);
    return NULL;
}
#undef CLIBAV_FIND

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

bool clibav_lists_formats(const AVCodec *codec) {
    return codec->pix_fmts != NULL;
}

bool clibav_takes_format(const AVCodec *codec, enum AVPixelFormat format) {
    for (const enum AVPixelFormat *each = codec->pix_fmts; each != NULL && *each != AV_PIX_FMT_NONE; each++) {
        if (*each == format) return true;
    }
    return false;
}

#pragma GCC diagnostic pop
