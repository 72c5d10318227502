// The limit to which the agent is compared: colour conversion and x264 in a bare loop, with nothing around them.
//
//     LimitLoop WIDTH HEIGHT FPS SECONDS BITRATE [--libyuv | --still | --packets] [--scene NAME] [--output FILE]
//
// --libyuv  converts colours with libyuv (BT.601, the only matrix it has) instead of the agent's own code
// --still   encodes the first picture again for every slot, without converting it
// --packets encodes nothing: wakes for every slot and writes a packet as small as a repeat's into a TCP connection on
//           loopback
// --scene   what the pictures show, as in counter_scenes.h; by default band
// --output  keeps the whole stream and writes it after the measurement
//
// Another process draws the pictures into shared memory, at FPS, and signals each one, as a PipeWire producer does for
// the agent. That costs the loop nothing.
//
// Prints one JSON object:
//
//     pictures   their number
//     cpuNs      of the loop, in user and kernel mode
//     bytes      of the stream
//     latencyNs  of each picture, from when it was drawn to when it was encoded
//
// The first second does not count.
//
// In C to show what the C libraries cost by themselves.

#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libyuv.h>
#include <x264.h>

#include "CColour.h"
#include "counter_scenes.h"

enum { EXIT_USAGE = 64, BUFFERS = 8, PICTURES = 2, KEYFRAME_SECONDS = 2, PACKET_BYTES = 72 };
static const int64_t second = 1000000000;

struct shared {
    sem_t ready;
    int64_t stamps[BUFFERS];
    uint8_t pixels[];
};

static struct {
    uint32_t width, height, fps, seconds, bitrate;
    bool libyuv, still, packets;
    enum counter_scene scene;
    const char *output;  // NULL: not kept
} options;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "LimitLoop: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int64_t clock_now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * second + time.tv_nsec;
}

static void sleep_until(int64_t due) {
    struct timespec time = {.tv_sec = due / second, .tv_nsec = due % second};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
}

// MARK: - Painter

static size_t frame_bytes(void) { return (size_t)options.width * options.height * 4; }

static uint8_t *frame(struct shared *shared, int64_t number) {
    return shared->pixels + (size_t)(number % BUFFERS) * frame_bytes();
}

static _Noreturn void paint(struct shared *shared) {
    const uint32_t stride = options.width * 4;
    const int64_t start = clock_now(CLOCK_MONOTONIC);
    for (int64_t number = 0;; number++) {
        sleep_until(start + number * second / options.fps);
        if (!options.still || number == 0) {
            uint8_t *pixels = frame(shared, number);
            if (number < BUFFERS) counter_scene_draw_background(options.scene, pixels, stride, options.width, options.height);
            counter_scene_draw(options.scene, pixels, stride, options.width, options.height, (uint32_t)number);
        }
        shared->stamps[number % BUFFERS] = clock_now(CLOCK_MONOTONIC);
        sem_post(&shared->ready);
    }
}

static pid_t start_painter(struct shared *shared) {
    const pid_t painter = fork();
    if (painter < 0) fail("no painter");
    if (painter > 0) return painter;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    paint(shared);
}

// MARK: - Pictures

static void make_picture(x264_picture_t *picture) {
    const int luma_stride = (int)(options.width + 63) & ~63;
    const size_t luma_bytes = (size_t)luma_stride * options.height;
    uint8_t *memory = aligned_alloc(64, luma_bytes * 3 / 2);
    if (!memory) fail("no memory");
    x264_picture_init(picture);
    picture->img.i_csp = X264_CSP_I420;
    picture->img.i_plane = 3;
    for (int plane = 0; plane < 3; plane++) picture->img.i_stride[plane] = plane == 0 ? luma_stride : luma_stride / 2;
    picture->img.plane[0] = memory;
    picture->img.plane[1] = memory + luma_bytes;
    picture->img.plane[2] = memory + luma_bytes + luma_bytes / 4;
}

static void convert(const uint8_t *pixels, const x264_image_t *image) {
    if (options.libyuv) {
        ARGBToI420(pixels, (int)options.width * 4, image->plane[0], image->i_stride[0], image->plane[1],
                   image->i_stride[1], image->plane[2], image->i_stride[2], (int)options.width, (int)options.height);
        return;
    }
    const struct ccolour_picture picture = {pixels, (size_t)options.width * 4, options.width, options.height, true};
    const struct ccolour_planes planes = {image->plane[0], image->plane[1], image->plane[2],
                                          (size_t)image->i_stride[0], (size_t)image->i_stride[1]};
    ccolour_rgb_to_i420(picture, planes);
}

// MARK: - Encoder

// As X264Encoder.swift has them.
static x264_t *open_encoder(void) {
    x264_param_t parameters;
    x264_param_default_preset(&parameters, "ultrafast", "zerolatency");
    parameters.i_log_level = X264_LOG_NONE;
    parameters.i_csp = X264_CSP_I420;
    parameters.i_width = (int)options.width;
    parameters.i_height = (int)options.height;
    parameters.i_fps_num = options.fps;
    parameters.i_fps_den = 1;
    parameters.b_vfr_input = 0;
    parameters.i_threads = 1;
    parameters.b_sliced_threads = 0;
    parameters.i_keyint_max = X264_KEYINT_MAX_INFINITE;
    parameters.i_scenecut_threshold = 0;
    parameters.i_frame_reference = 1;
    parameters.i_bframe = 0;
    parameters.b_annexb = 1;
    parameters.b_repeat_headers = 1;
    parameters.rc.i_rc_method = X264_RC_CRF;
    parameters.rc.f_rf_constant = 23;
    parameters.rc.i_vbv_max_bitrate = (int)options.bitrate / 1000;
    parameters.rc.i_vbv_buffer_size = (int)options.bitrate / 2000;
    parameters.i_nal_hrd = X264_NAL_HRD_NONE;
    parameters.vui.b_fullrange = 0;
    parameters.vui.i_colorprim = 1;
    parameters.vui.i_transfer = 1;
    parameters.vui.i_colmatrix = 1;
    x264_t *encoder = x264_encoder_open(&parameters);
    if (!encoder) fail("x264 does not open");
    return encoder;
}

static void report(int64_t count, int64_t cpu, int64_t bytes, const int64_t *latencies) {
    printf("{\"pictures\":%lld,\"cpuNs\":%lld,\"bytes\":%lld,\"latencyNs\":[", (long long)count, (long long)cpu,
           (long long)bytes);
    for (int64_t i = 0; i < count; i++) printf("%s%lld", i ? "," : "", (long long)latencies[i]);
    puts("]}");
}

// MARK: - Stream

static struct {
    uint8_t *bytes;
    size_t count, room;
} stream;

static void keep(const uint8_t *bytes, size_t count) {
    if (stream.count + count > stream.room) {
        stream.room = 2 * (stream.count + count);
        stream.bytes = realloc(stream.bytes, stream.room);
        if (!stream.bytes) fail("no memory");
    }
    memcpy(stream.bytes + stream.count, bytes, count);
    stream.count += count;
}

static void write_stream(void) {
    FILE *file = fopen(options.output, "w");
    if (!file || fwrite(stream.bytes, 1, stream.count, file) != stream.count || fclose(file) != 0) fail(options.output);
}

// MARK: - Packets

/// A connection whose other end reads in a process of its own.
static int connect_reader(pid_t *reader) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0), writer = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0 ||
        connect(writer, (struct sockaddr *)&address, length) < 0)
        fail("no connection on loopback");
    const int accepted = accept(listener, NULL, NULL);
    if (accepted < 0 || (*reader = fork()) < 0) fail("no reader");
    if (*reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(writer);
        char bytes[4096];
        while (read(accepted, bytes, sizeof bytes) > 0) {}
        _exit(EXIT_SUCCESS);
    }
    close(accepted);
    close(listener);
    return writer;
}

static void send_packets(void) {
    pid_t reader;
    const int writer = connect_reader(&reader);
    const int64_t first = options.fps, count = (int64_t)options.seconds * options.fps;
    int64_t *latencies = calloc((size_t)count, sizeof *latencies);
    if (!latencies) fail("no memory");
    const char packet[PACKET_BYTES] = {0};
    const int64_t start = clock_now(CLOCK_MONOTONIC);
    int64_t cpu = 0;
    for (int64_t number = 0; number < first + count; number++) {
        if (number == first) cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
        const int64_t due = start + number * second / options.fps;
        sleep_until(due);
        if (write(writer, packet, sizeof packet) != sizeof packet) fail("the reader is gone");
        if (number >= first) latencies[number - first] = clock_now(CLOCK_MONOTONIC) - due;
    }
    report(count, clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu, count * PACKET_BYTES, latencies);
    free(latencies);
    close(writer);
    waitpid(reader, NULL, 0);
}

static void loop(struct shared *shared) {
    x264_t *encoder = open_encoder();
    x264_picture_t pictures[PICTURES];
    for (int i = 0; i < PICTURES; i++) make_picture(&pictures[i]);
    const int64_t first = options.fps, count = (int64_t)options.seconds * options.fps;
    int64_t *latencies = calloc((size_t)count, sizeof *latencies);
    if (!latencies) fail("no memory");
    int64_t cpu = 0, bytes = 0;
    for (int64_t number = 0; number < first + count; number++) {
        if (number == first) cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID), bytes = 0;
        while (sem_wait(&shared->ready) < 0 && errno == EINTR) {}
        x264_picture_t *picture = &pictures[options.still ? 0 : number % PICTURES];
        if (!options.still || number == 0) convert(frame(shared, number), &picture->img);
        picture->i_type = number % (KEYFRAME_SECONDS * options.fps) == 0 ? X264_TYPE_IDR : X264_TYPE_AUTO;
        picture->i_pts = number;
        x264_nal_t *units;
        int unit_count;
        x264_picture_t output;
        const int size = x264_encoder_encode(encoder, &units, &unit_count, picture, &output);
        if (size <= 0) fail("x264 does not encode");
        if (options.output) keep(units[0].p_payload, (size_t)size);
        bytes += size;
        if (number >= first) latencies[number - first] = clock_now(CLOCK_MONOTONIC) - shared->stamps[number % BUFFERS];
    }
    report(count, clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu, bytes, latencies);
    if (options.output) write_stream();
    free(latencies);
    x264_encoder_close(encoder);
    for (int i = 0; i < PICTURES; i++) free(pictures[i].img.plane[0]);
}

// MARK: - Arguments

static uint32_t number(const char *text, uint32_t least, uint32_t most) {
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end == 0 && end != text && value >= least && value <= most) return (uint32_t)value;
    fprintf(stderr, "LimitLoop: '%s' is not a number from %u to %u\n", text, least, most);
    exit(EXIT_USAGE);
}

int fan_out_loop(void);

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "fan-out") == 0) return fan_out_loop();
    for (int i = 6; i < count; i++) {
        if (strcmp(arguments[i], "--libyuv") == 0) options.libyuv = true;
        else if (strcmp(arguments[i], "--still") == 0) options.still = true;
        else if (strcmp(arguments[i], "--packets") == 0) options.packets = true;
        else if (strcmp(arguments[i], "--output") == 0 && i + 1 < count) options.output = arguments[++i];
        else if (strcmp(arguments[i], "--scene") == 0 && i + 1 < count && counter_scene_named(arguments[i + 1]) >= 0)
            options.scene = (enum counter_scene)counter_scene_named(arguments[++i]);
        else count = 0;
    }
    if (count < 6) {
        fputs("usage: LimitLoop WIDTH HEIGHT FPS SECONDS BITRATE [--libyuv | --still | --packets] [--scene NAME] [--output FILE]\n"
              "       LimitLoop fan-out\n", stderr);
        return EXIT_USAGE;
    }
    options.width = number(arguments[1], 24, 8192) & ~1u;
    options.height = number(arguments[2], 12, 8192) & ~1u;
    options.fps = number(arguments[3], 1, 240);
    options.seconds = number(arguments[4], 1, 3600);
    options.bitrate = number(arguments[5], 100000, 100000000);

    if (options.packets) {
        send_packets();
        return EXIT_SUCCESS;
    }

    struct shared *shared = mmap(NULL, sizeof *shared + BUFFERS * frame_bytes(), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || sem_init(&shared->ready, 1, 0) < 0) fail("no shared memory");
    const pid_t painter = start_painter(shared);
    loop(shared);
    kill(painter, SIGKILL);
    waitpid(painter, NULL, 0);
    return EXIT_SUCCESS;
}
