// Offers the counter pattern as a PipeWire node whose buffers are as unusual as PipeWire allows.
//
//     counter-node NAME WIDTH HEIGHT FPS [OPTION…]
//
// --hold-at N        repeats the picture of N once the counter has reached it
// --padding BYTES    between the rows, filled with noise; a multiple of 4
// --offset BYTES     before the first row, likewise
// --crop X,Y,W,H     only this part of the buffer is the picture; the rest is noise
// --stamps KIND      header, the time of capture (default); none; late, 400 ms old; future; repeated, all the same
// --corrupted        every other buffer is noise and marked as corrupted
// --pointer          once --hold-at is reached, sends only the pointer, every second: a red square of 16 pixels a side,
//                    with its hot spot in the middle, which goes round the corners of the square from (100, 100) to
//                    (140, 140)
// --dma-buf          offers buffers of type DMA-BUF beside those in memory: either tiled (which it fails to allocate)
//                    or linear. They are in memory all the same, but a consumer has to import them to find out
// --transform N      says that the picture was turned: N of enum spa_meta_videotransform_value, 0 to 7
// --tell             prints a line with the value and the time of capture (monotonic ns) of every picture
// --silent           sends nothing until its first link has ended
// --sizes WxH,…      changes the size to the next one every second, round and round
// --orders FIFO      sends one picture when it is linked, and then only what lines of FIFO ask for: "COUNT
//                    MICROSECONDS" for so many pictures so far apart, in place of those still to come; "size" for the
//                    next one of --sizes
//
// Ends with SIGTERM.

#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>

#include "counter_pattern.h"
#include "counter_tools.h"

enum { EXIT_USAGE = 64, MOST_SIZES = 64, POINTER_SIDE = 16 };
enum stamps { HEADER, NONE, LATE, FUTURE, REPEATED };
// Of drm_fourcc.h: rows of pixels, and a tiling of Intel's.
enum { MODIFIER_LINEAR = 0 };
static const int64_t MODIFIER_X_TILED = 1LL << 56 | 1;
static const char *const stamp_names[] = {"header", "none", "late", "future", "repeated"};

static struct {
    // Arguments
    const char *name;
    uint32_t fps, padding, offset, transform;
    int64_t hold_at;
    struct spa_rectangle sizes[MOST_SIZES];
    uint32_t size_count;
    struct spa_region crop;
    enum stamps stamps;
    bool has_crop, has_transform, corrupted, pointer, dma_buf, tell, silent;
    // State
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    struct spa_source *timer;
    uint32_t size, ticks, frames, value, corner, noise;
    bool shows_held;  // Since the stream was linked.
    bool was_linked;  // Before the link that it has, if any.
    bool sends_dma_buf;
    int orders;          // The FIFO; -1 for none.
    uint32_t ordered;    // Pictures that are still to be sent.
    char order[32];      // The line that is being read.
    size_t order_length;
} node = {.hold_at = -1, .orders = -1};

static uint32_t stride(void) { return node.sizes[node.size].width * 4 + node.padding; }

static uint32_t buffer_bytes(void) { return node.offset + stride() * node.sizes[node.size].height; }

// MARK: - Buffers

static void fill_with_noise(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        node.noise = node.noise * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(node.noise >> 24);
    }
}

static void paint(uint8_t *memory) {
    const struct spa_rectangle size = node.sizes[node.size];
    if (node.padding || node.offset || node.has_crop) fill_with_noise(memory, buffer_bytes());
    uint32_t width = size.width, height = size.height;
    uint8_t *pixels = memory + node.offset;
    if (node.has_crop) {
        pixels += (size_t)node.crop.position.y * stride() + (size_t)node.crop.position.x * 4;
        width = node.crop.size.width, height = node.crop.size.height;
    }
    counter_pattern_draw_background(pixels, stride(), width, height);
    counter_pattern_draw_motion(pixels, stride(), width, height, node.value);
    counter_pattern_draw(pixels, stride(), width, height, node.value);
}

static void stamp(struct spa_meta_header *header, int64_t captured, bool is_corrupted) {
    header->flags = is_corrupted ? SPA_META_HEADER_FLAG_CORRUPTED : 0;
    header->seq = 0;
    header->dts_offset = 0;
    switch (node.stamps) {
    case HEADER: header->pts = captured; break;
    case NONE: header->pts = -1; break;
    case LATE: header->pts = captured - 400000000; break;
    case FUTURE: header->pts = captured + 60000000000; break;
    case REPEATED: header->pts = 1; break;
    }
}

// The image comes with the first corner only, as compositors send it only when it changes.
static void tell_pointer(struct spa_meta_cursor *cursor, bool is_shown) {
    static const int32_t corners[4][2] = {{100, 100}, {140, 100}, {140, 140}, {100, 140}};
    const uint32_t step = node.corner++;
    memset(cursor, 0, sizeof *cursor);
    if (!is_shown) return;
    cursor->id = 1;
    cursor->position = SPA_POINT(corners[step % 4][0], corners[step % 4][1]);
    cursor->hotspot = SPA_POINT(POINTER_SIDE / 2, POINTER_SIDE / 2);
    if (step > 0) return;
    cursor->bitmap_offset = sizeof *cursor;
    struct spa_meta_bitmap *bitmap = SPA_PTROFF(cursor, sizeof *cursor, struct spa_meta_bitmap);
    *bitmap = (struct spa_meta_bitmap){
        .format = SPA_VIDEO_FORMAT_BGRA,
        .size = SPA_RECTANGLE(POINTER_SIDE, POINTER_SIDE),
        .stride = POINTER_SIDE * 4,
        .offset = sizeof *bitmap,
    };
    uint8_t *pixel = SPA_PTROFF(bitmap, sizeof *bitmap, uint8_t);
    for (int i = 0; i < POINTER_SIDE * POINTER_SIDE; i++, pixel += 4) memcpy(pixel, (uint8_t[]){0, 0, 255, 255}, 4);
}

static bool is_held(void) { return node.hold_at >= 0 && (int64_t)node.value >= node.hold_at; }

static bool sends_pointer_alone(void) { return node.pointer && node.shows_held; }

static void process(void *data) {
    (void)data;
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(node.stream);
    if (!buffer) return;
    struct spa_buffer *contents = buffer->buffer;
    struct spa_data *memory = &contents->datas[0];
    const bool is_pointer_alone = sends_pointer_alone();
    const bool is_corrupted = is_pointer_alone || (node.corrupted && node.frames % 2 == 1);
    if (memory->data && memory->maxsize >= buffer_bytes() && !is_pointer_alone) {
        if (is_corrupted) fill_with_noise(memory->data, buffer_bytes());
        else paint(memory->data);
        node.shows_held = is_held() && !is_corrupted;
    }
    const int64_t captured = now();
    if (node.tell && !is_pointer_alone) printf("%u %lld\n", node.value, (long long)captured);
    memory->chunk->offset = node.offset;
    memory->chunk->stride = (int32_t)stride();
    memory->chunk->size = is_pointer_alone ? 0 : buffer_bytes() - node.offset;
    memory->chunk->flags = is_corrupted ? SPA_CHUNK_FLAG_CORRUPTED : 0;
    struct spa_meta_header *header = spa_buffer_find_meta_data(contents, SPA_META_Header, sizeof *header);
    if (header) stamp(header, captured, is_corrupted);
    struct spa_meta_region *crop = spa_buffer_find_meta_data(contents, SPA_META_VideoCrop, sizeof *crop);
    if (crop) crop->region = node.has_crop ? node.crop : SPA_REGION(0, 0, 0, 0);
    struct spa_meta_videotransform *transform =
        spa_buffer_find_meta_data(contents, SPA_META_VideoTransform, sizeof *transform);
    if (transform) transform->transform = node.transform;
    struct spa_meta_cursor *cursor = spa_buffer_find_meta_data(contents, SPA_META_Cursor, sizeof *cursor);
    if (cursor) tell_pointer(cursor, is_pointer_alone);
    if (!is_pointer_alone) node.corner = 0;
    node.frames++;
    if (!is_held() && !is_corrupted) node.value++;
    pw_stream_queue_buffer(node.stream, buffer);
}

// MARK: - Format

static const struct spa_pod *offer(struct spa_pod_builder *builder, const int64_t *modifiers, uint32_t count) {
    struct spa_pod_frame object, choice;
    spa_pod_builder_push_object(builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
        SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_BGRx),
        SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&node.sizes[node.size]), SPA_FORMAT_VIDEO_framerate,
        SPA_POD_Fraction(&SPA_FRACTION(0, 1)), SPA_FORMAT_VIDEO_maxFramerate,
        SPA_POD_CHOICE_RANGE_Fraction(&SPA_FRACTION(node.fps, 1), &SPA_FRACTION(1, 1), &SPA_FRACTION(1000, 1)), 0);
    if (count > 0) {
        // One that is alone has been chosen.
        spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier,
                             SPA_POD_PROP_FLAG_MANDATORY | (count > 1 ? SPA_POD_PROP_FLAG_DONT_FIXATE : 0));
        spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
        spa_pod_builder_long(builder, modifiers[0]);
        for (uint32_t i = 0; i < count; i++) spa_pod_builder_long(builder, modifiers[i]);
        spa_pod_builder_pop(builder, &choice);
    }
    return spa_pod_builder_pop(builder, &object);
}

// Fills `params`, which has room for three: a modifier that was chosen first, then all that the node can do.
static uint32_t offers(struct spa_pod_builder *builder, const struct spa_pod **params, bool is_chosen) {
    const int64_t modifiers[] = {MODIFIER_X_TILED, MODIFIER_LINEAR};
    uint32_t count = 0;
    if (is_chosen) params[count++] = offer(builder, &modifiers[1], 1);
    if (node.dma_buf) params[count++] = offer(builder, modifiers, 2);
    params[count++] = offer(builder, NULL, 0);
    return count;
}

static const struct spa_pod *meta(struct spa_pod_builder *builder, uint32_t type, int32_t size) {
    return spa_pod_builder_add_object(builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                      SPA_POD_Id(type), SPA_PARAM_META_size, SPA_POD_Int(size));
}

static void send_ordered(uint32_t count, uint32_t microseconds);

static void param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    (void)data;
    if (id != SPA_PARAM_Format || !param) return;
    uint8_t memory[2048];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[5];
    const struct spa_pod_prop *modifier = spa_pod_find_prop(param, NULL, SPA_FORMAT_VIDEO_modifier);
    if (modifier && modifier->flags & SPA_POD_PROP_FLAG_DONT_FIXATE) {
        pw_stream_update_params(node.stream, params, offers(&builder, params, true));
        return;
    }
    node.sends_dma_buf = modifier != NULL;
    uint32_t count = 0;
    params[count++] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(8, 2, 16), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
        SPA_POD_Int((int32_t)buffer_bytes()), SPA_PARAM_BUFFERS_stride, SPA_POD_Int((int32_t)stride()),
        SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(node.sends_dma_buf ? 1 << SPA_DATA_DmaBuf
                                                    : (1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr)));
    if (node.stamps != NONE) params[count++] = meta(&builder, SPA_META_Header, sizeof(struct spa_meta_header));
    if (node.has_crop) params[count++] = meta(&builder, SPA_META_VideoCrop, sizeof(struct spa_meta_region));
    if (node.has_transform)
        params[count++] = meta(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    if (node.pointer)
        params[count++] = meta(&builder, SPA_META_Cursor,
                               sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) +
                                   POINTER_SIDE * POINTER_SIDE * 4);
    pw_stream_update_params(node.stream, params, count);
    // Shows the new size if a line of FIFO asked for it and no pictures are due.
    if (node.orders >= 0 && node.ordered == 0) send_ordered(1, 1000000 / node.fps);
}

// MARK: - Own buffers

static void add_buffer(void *data, struct pw_buffer *buffer) {
    (void)data;
    if (!node.dma_buf) return;
    struct spa_data *memory = &buffer->buffer->datas[0];
    const int descriptor = memfd_create("counter-node", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, buffer_bytes()) < 0) abort();
    memory->type = node.sends_dma_buf ? SPA_DATA_DmaBuf : SPA_DATA_MemFd;
    memory->flags = SPA_DATA_FLAG_READWRITE;
    memory->fd = descriptor;
    memory->mapoffset = 0;
    memory->maxsize = buffer_bytes();
    memory->data = mmap(NULL, memory->maxsize, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory->data == MAP_FAILED) abort();
}

static void remove_buffer(void *data, struct pw_buffer *buffer) {
    (void)data;
    if (!node.dma_buf) return;
    struct spa_data *memory = &buffer->buffer->datas[0];
    munmap(memory->data, memory->maxsize);
    close((int)memory->fd);
}

// MARK: - Time

static void set_timer(bool is_running) {
    struct timespec first = {.tv_nsec = is_running}, period = {.tv_nsec = is_running ? 1000000000 / node.fps : 0};
    if (node.fps == 1) period = (struct timespec){.tv_sec = is_running};
    pw_loop_update_timer(pw_main_loop_get_loop(node.loop), node.timer, &first, &period, false);
}

static void change_size(void) {
    node.size = (node.size + 1) % node.size_count;
    uint8_t memory[2048];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[3];
    pw_stream_update_params(node.stream, params, offers(&builder, params, false));
}

// The first one after an interval, so that those that come faster than orders do not pile up.
static void send_ordered(uint32_t count, uint32_t microseconds) {
    node.ordered = count;
    struct timespec period = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
    pw_loop_update_timer(pw_main_loop_get_loop(node.loop), node.timer, &period, &period, false);
}

static void obey(const char *order) {
    uint32_t count, microseconds;
    if (strcmp(order, "size") == 0) change_size();
    else if (sscanf(order, "%u %u", &count, &microseconds) == 2 && microseconds > 0) send_ordered(count, microseconds);
    else fprintf(stderr, "counter-node: no order: %s\n", order);
}

static void read_orders(void *data, int descriptor, uint32_t mask) {
    (void)data, (void)mask;
    char letter;
    while (read(descriptor, &letter, 1) == 1) {
        if (letter != '\n') {
            if (node.order_length + 1 < sizeof node.order) node.order[node.order_length++] = letter;
            continue;
        }
        node.order[node.order_length] = 0;
        node.order_length = 0;
        obey(node.order);
    }
}

static void tick(void *data, uint64_t expirations) {
    (void)data, (void)expirations;
    if (node.orders >= 0) {
        if (node.ordered == 0) return set_timer(false);
        node.ordered--;
        pw_stream_trigger_process(node.stream);
        return;
    }
    const bool is_whole_second = ++node.ticks % node.fps == 0;
    if (!sends_pointer_alone() || is_whole_second) pw_stream_trigger_process(node.stream);
    if (node.size_count > 1 && is_whole_second) change_size();
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)data;
    if (error) fprintf(stderr, "counter-node: %s\n", error);
    // A stream that is linked anew begins with a picture.
    if (state == PW_STREAM_STATE_STREAMING) node.shows_held = false;
    if (old == PW_STREAM_STATE_STREAMING) node.was_linked = true;
    if (node.orders < 0) return set_timer(state == PW_STREAM_STATE_STREAMING && (node.was_linked || !node.silent));
    if (state == PW_STREAM_STATE_STREAMING && node.ordered == 0) send_ordered(1, 1000000 / node.fps);
}

static void quit(void *data, int signal) {
    (void)data, (void)signal;
    pw_main_loop_quit(node.loop);
}

// MARK: - Arguments

static _Noreturn void usage(const char *what) {
    fprintf(stderr, "counter-node: %s; see the beginning of its source\n", what);
    exit(EXIT_USAGE);
}

static uint32_t number(const char *text, uint32_t least, uint32_t most) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value < least || value > most) usage(text);
    return (uint32_t)value;
}

static void parse(int count, char **arguments) {
    static const struct option options[] = {
        {"hold-at", required_argument, NULL, 'h'}, {"padding", required_argument, NULL, 'p'},
        {"offset", required_argument, NULL, 'o'},  {"crop", required_argument, NULL, 'c'},
        {"stamps", required_argument, NULL, 's'},  {"corrupted", no_argument, NULL, 'x'},
        {"pointer", no_argument, NULL, 'm'},       {"sizes", required_argument, NULL, 'z'},
        {"dma-buf", no_argument, NULL, 'd'},       {"transform", required_argument, NULL, 't'},
        {"tell", no_argument, NULL, 'l'},          {"silent", no_argument, NULL, 'i'},
        {"orders", required_argument, NULL, 'f'},  {0},
    };
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 'h': node.hold_at = number(optarg, 0, COUNTER_PATTERN_MASK); break;
        case 'p': node.padding = number(optarg, 0, 4096); break;
        case 'o': node.offset = number(optarg, 0, 1 << 20); break;
        case 'c':
            node.has_crop = true;
            if (sscanf(optarg, "%d,%d,%u,%u", &node.crop.position.x, &node.crop.position.y, &node.crop.size.width,
                       &node.crop.size.height) != 4)
                usage(optarg);
            break;
        case 's':
            for (node.stamps = 0; strcmp(optarg, stamp_names[node.stamps]) != 0;)
                if (++node.stamps > REPEATED) usage(optarg);
            break;
        case 't':
            node.has_transform = true;
            node.transform = number(optarg, 0, 7);
            break;
        case 'x': node.corrupted = true; break;
        case 'm': node.pointer = true; break;
        case 'd': node.dma_buf = true; break;
        case 'l': node.tell = true; break;
        case 'i': node.silent = true; break;
        case 'f':
            // For both, so that it does not end when nobody has it open for writing.
            if ((node.orders = open(optarg, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) usage(optarg);
            break;
        case 'z':
            for (char *word = strtok(optarg, ","); word; word = strtok(NULL, ",")) {
                struct spa_rectangle *size = &node.sizes[++node.size_count];
                if (node.size_count >= MOST_SIZES || sscanf(word, "%ux%u", &size->width, &size->height) != 2) usage(word);
            }
            break;
        default: usage("unknown option");
        }
    }
    if (count - optind != 4) usage("NAME, WIDTH, HEIGHT and FPS are needed");
    node.name = arguments[optind];
    node.sizes[0] = SPA_RECTANGLE(number(arguments[optind + 1], 24, 8192), number(arguments[optind + 2], 12, 8192));
    node.size_count++;
    node.fps = number(arguments[optind + 3], 1, 240);
}

int main(int count, char **arguments) {
    parse(count, arguments);
    setlinebuf(stdout);
    pw_init(NULL, NULL);
    node.loop = pw_main_loop_new(NULL);
    struct pw_loop *loop = pw_main_loop_get_loop(node.loop);
    pw_loop_add_signal(loop, SIGINT, quit, NULL);
    pw_loop_add_signal(loop, SIGTERM, quit, NULL);
    node.timer = pw_loop_add_timer(loop, tick, NULL);
    if (node.orders >= 0) pw_loop_add_io(loop, node.orders, SPA_IO_IN, false, read_orders, NULL);
    static const struct pw_stream_events events = {
        PW_VERSION_STREAM_EVENTS,
        .state_changed = state_changed,
        .param_changed = param_changed,
        .add_buffer = add_buffer,
        .remove_buffer = remove_buffer,
        .process = process,
    };
    node.stream = pw_stream_new_simple(loop, node.name,
                                       pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Screen",
                                                         PW_KEY_NODE_NAME, node.name, NULL),
                                       &events, NULL);
    if (!node.stream) {
        fputs("counter-node: no PipeWire\n", stderr);
        return EXIT_FAILURE;
    }
    uint8_t memory[2048];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[3];
    const uint32_t offer_count = offers(&builder, params, false);
    pw_stream_connect(node.stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                      PW_STREAM_FLAG_DRIVER | (node.dma_buf ? PW_STREAM_FLAG_ALLOC_BUFFERS : PW_STREAM_FLAG_MAP_BUFFERS),
                      params, offer_count);
    pw_main_loop_run(node.loop);
    pw_stream_destroy(node.stream);
    pw_main_loop_destroy(node.loop);
}
