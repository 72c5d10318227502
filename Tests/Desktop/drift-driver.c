// Drives a group of PipeWire's nodes by a clock that is fast or slow, as a sound device's is.
//
//     drift-driver [--ppm N] [--quantum N] [--group NAME]
//
// It is a node without ports. Nodes whose property node.group has the name get their cycles from it: of 1024 samples by
// default, at 48,000 samples a second of its clock, which gains N millionths on the machine's. Prints "driving" once
// PipeWire follows it. Ends with SIGTERM.

#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>

enum { RATE = 48000, EXIT_USAGE = 64 };

static struct {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    double gain;  // Seconds of its clock in one of the machine's
    uint64_t quantum, position;
    _Atomic(struct spa_io_position *) graph;
    atomic_bool streaming;
} driver = {.gain = 1, .quantum = 1024};

static void io_changed(void *data, uint32_t id, void *area, uint32_t size) {
    (void)data;
    if (id == SPA_IO_Position) driver.graph = size >= sizeof(struct spa_io_position) ? area : NULL;
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)data, (void)old;
    if (error) fprintf(stderr, "drift-driver: %s\n", error);
    driver.streaming = state == PW_STREAM_STATE_STREAMING;
}

static void process(void *data) {
    (void)data;
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(driver.stream);
    if (buffer) pw_stream_queue_buffer(driver.stream, buffer);
}

static const struct pw_stream_events events = {
    PW_VERSION_STREAM_EVENTS, .state_changed = state_changed, .io_changed = io_changed, .process = process};

static void *tick(void *unused) {
    (void)unused;
    // A device's interrupts are not late. A desktop may refuse the priority: then the beat may be, too.
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = 88});
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t begin = now.tv_sec * 1000000000ULL + now.tv_nsec, cycle = 0;
    double period = driver.quantum / (RATE * driver.gain) * 1e9;
    for (bool driving = false;; cycle++) {
        uint64_t due = begin + (uint64_t)(cycle * period);
        struct timespec time = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        struct spa_io_position *graph = driver.graph;
        if (!graph || !driver.streaming) continue;
        struct spa_io_clock *clock = &graph->clock;
        clock->nsec = due;
        clock->next_nsec = begin + (uint64_t)((cycle + 1) * period);
        clock->rate = SPA_FRACTION(1, RATE);
        clock->rate_diff = driver.gain;
        clock->duration = driver.quantum;
        clock->position = driver.position;
        clock->delay = 0;
        driver.position += driver.quantum;
        if (!driving) puts("driving"), fflush(stdout), driving = true;
        pw_stream_trigger_process(driver.stream);
    }
    return NULL;
}

static void stop(void *data, int signal) {
    (void)data, (void)signal;
    pw_main_loop_quit(driver.loop);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"ppm", required_argument, NULL, 'p'}, {"quantum", required_argument, NULL, 'q'},
        {"group", required_argument, NULL, 'g'}, {NULL, 0, NULL, 0},
    };
    const char *group = "drift";
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p': driver.gain = 1 + atof(optarg) / 1e6; break;
        case 'q': driver.quantum = strtoull(optarg, NULL, 10); break;
        case 'g': group = optarg; break;
        default: return EXIT_USAGE;
        }
    }
    if (optind != argc || driver.quantum < 16 || driver.gain < 0.9 || driver.gain > 1.1) {
        fputs("usage: drift-driver [--ppm N] [--quantum N] [--group NAME]\n", stderr);
        return EXIT_USAGE;
    }
    // As players of sound do: in real time where the desktop allows it.
    setenv("PIPEWIRE_CONFIG_NAME", "client-rt.conf", 0);
    pw_init(&argc, &argv);
    driver.loop = pw_main_loop_new(NULL);
    struct pw_properties *properties = pw_properties_new(
        PW_KEY_MEDIA_TYPE, "Audio", PW_KEY_MEDIA_CATEGORY, "Playback", PW_KEY_NODE_GROUP, group, PW_KEY_NODE_DRIVER,
        "true", PW_KEY_PRIORITY_DRIVER, "100000", PW_KEY_NODE_ALWAYS_PROCESS, "true", NULL);
    pw_properties_setf(properties, PW_KEY_NODE_FORCE_QUANTUM, "%d", (int)driver.quantum);
    pw_loop_add_signal(pw_main_loop_get_loop(driver.loop), SIGTERM, stop, NULL);
    driver.stream =
        pw_stream_new_simple(pw_main_loop_get_loop(driver.loop), "drift-driver", properties, &events, NULL);
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_F32, .rate = RATE, .channels = 2};
    const struct spa_pod *format = spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
    enum pw_stream_flags flags = PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_RT_PROCESS;
    if (pw_stream_connect(driver.stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &format, 1) < 0) {
        fputs("drift-driver: PipeWire refuses the stream\n", stderr);
        return EXIT_FAILURE;
    }
    pthread_t ticker;
    if (pthread_create(&ticker, NULL, tick, NULL) != 0) return EXIT_FAILURE;
    pw_main_loop_run(driver.loop);
    return EXIT_SUCCESS;
}
