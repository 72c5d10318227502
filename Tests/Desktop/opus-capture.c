// Captures a sink by PipeWire and encodes each packet by libopus, and does nothing else: the least that sound costs.
//
//     opus-capture [--send] SINK SECONDS
//
// The processor's time in s is one line on standard output. Something must play to the sink. Packets have 20 ms at 128
// kbit/s. With --send each is also sent over loopback TCP, as soon as it is there. The process that reads them does not
// count.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <opus/opus.h>
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>

enum { RATE = 48000, CHANNELS = 2, PACKET = 960, QUANTUM = 1024, EXIT_USAGE = 64 };

static struct {
    struct pw_thread_loop *loop;
    struct pw_stream *stream;
    OpusEncoder *encoder;
    float samples[PACKET * CHANNELS];
    size_t filled;
    atomic_long packets;
    int connection;  // -1: nothing is sent
} capture = {.connection = -1};

static void take(const float *samples, size_t count) {
    while (count > 0) {
        size_t room = PACKET * CHANNELS - capture.filled, taken = count < room ? count : room;
        memcpy(capture.samples + capture.filled, samples, taken * sizeof *samples);
        capture.filled += taken, samples += taken, count -= taken;
        if (capture.filled < PACKET * CHANNELS) return;
        static unsigned char packet[4000];
        int length = opus_encode_float(capture.encoder, capture.samples, PACKET, packet, sizeof packet);
        capture.filled = 0;
        if (length <= 0) continue;
        if (capture.connection >= 0 && send(capture.connection, packet, (size_t)length, MSG_NOSIGNAL) < 0) continue;
        capture.packets++;
    }
}

// Runs in PipeWire's thread for data.
static void process(void *data) {
    (void)data;
    for (struct pw_buffer *buffer; (buffer = pw_stream_dequeue_buffer(capture.stream));) {
        const struct spa_data *content = &buffer->buffer->datas[0];
        const char *bytes = content->data;
        if (bytes) take((const float *)(bytes + content->chunk->offset), content->chunk->size / sizeof(float));
        pw_stream_queue_buffer(capture.stream, buffer);
    }
}

static const struct pw_stream_events events = {PW_VERSION_STREAM_EVENTS, .process = process};

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pause_for(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
}

// Starts a process that reads all that is sent to it, until this one ends. Returns the connection, or -1.
static int start_reader(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), connection = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0 ||
        connect(connection, (struct sockaddr *)&address, length) < 0)
        return -1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    pid_t reader = fork();
    if (reader != 0) return close(listener), reader < 0 ? -1 : connection;
    close(connection);
    int incoming = accept(listener, NULL, NULL);
    static char bytes[65536];
    while (read(incoming, bytes, sizeof bytes) > 0) {}
    _exit(EXIT_SUCCESS);
}

int main(int argc, char **argv) {
    bool sends = argc == 4 && strcmp(argv[1], "--send") == 0;
    const char *sink = argv[sends ? 2 : 1];
    double seconds = argc == (sends ? 4 : 3) ? atof(argv[argc - 1]) : 0;
    if (seconds <= 0) {
        fputs("usage: opus-capture [--send] SINK SECONDS\n", stderr);
        return EXIT_USAGE;
    }
    if (sends && (capture.connection = start_reader()) < 0) {
        perror("opus-capture: no connection");
        return EXIT_FAILURE;
    }
    int error;
    capture.encoder = opus_encoder_create(RATE, CHANNELS, OPUS_APPLICATION_AUDIO, &error);
    if (error != OPUS_OK) return EXIT_FAILURE;
    opus_encoder_ctl(capture.encoder, OPUS_SET_BITRATE(128000));
    // As players of sound do: in real time where the desktop allows it.
    setenv("PIPEWIRE_CONFIG_NAME", "client-rt.conf", 0);
    pw_init(&argc, &argv);
    capture.loop = pw_thread_loop_new("capture", NULL);
    struct pw_properties *properties = pw_properties_new(
        PW_KEY_MEDIA_TYPE, "Audio", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_STREAM_CAPTURE_SINK, "true",
        PW_KEY_NODE_PASSIVE, "true", PW_KEY_TARGET_OBJECT, sink, NULL);
    pw_properties_setf(properties, PW_KEY_NODE_LATENCY, "%d/%d", QUANTUM, RATE);
    capture.stream = pw_stream_new_simple(
        pw_thread_loop_get_loop(capture.loop), "opus-capture", properties, &events, NULL);
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    struct spa_audio_info_raw info = {
        .format = SPA_AUDIO_FORMAT_F32, .rate = RATE, .channels = CHANNELS,
        .position = {SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR},
    };
    const struct spa_pod *format = spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
    enum pw_stream_flags flags = PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_RT_PROCESS;
    if (pw_stream_connect(capture.stream, PW_DIRECTION_INPUT, PW_ID_ANY, flags, &format, 1) < 0) {
        fputs("opus-capture: PipeWire refuses the stream\n", stderr);
        return EXIT_FAILURE;
    }
    pw_thread_loop_start(capture.loop);
    for (int waited = 0; capture.packets == 0; waited++) {
        if (waited == 100) {
            fputs("opus-capture: no sound came within 10 s\n", stderr);
            return EXIT_FAILURE;
        }
        pause_for(0.1);
    }
    double begin = processor_time();
    long before = capture.packets;
    pause_for(seconds);
    double used = processor_time() - begin;
    long wanted = (long)(seconds * RATE / PACKET * 0.95);
    if (capture.packets - before < wanted) {
        fprintf(stderr, "opus-capture: %ld packets came; %ld expected\n", capture.packets - before, wanted);
        return EXIT_FAILURE;
    }
    printf("%.4f\n", used);
    pw_thread_loop_stop(capture.loop);
    pw_stream_destroy(capture.stream);
    pw_thread_loop_destroy(capture.loop);
    return EXIT_SUCCESS;
}
