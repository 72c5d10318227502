// Plays a beep at even intervals and tells when each is heard.
//
//     beep [--every MS] [--length MS] [--quantum N] [--target NODE]
//
// A beep is a sine of 1 kHz at half of full scale; by default one of 100 ms each 500 ms. Each is a line on standard
// output, flushed at once: the monotonic time in ns at which players expect its first sample to be heard. Ends with
// SIGTERM.
//
// --quantum N  the samples of PipeWire's cycles, by default 1024

#define _GNU_SOURCE
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>

enum { RATE = 48000, CHANNELS = 2, EXIT_USAGE = 64 };

static const double frequency = 1000, amplitude = 0.5, pi = 3.14159265358979323846;

static struct {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    int64_t every, length;  // In samples
    int64_t position;       // Of the next sample, since the first one
} beeper = {.every = RATE / 2, .length = RATE / 10};

static void process(void *data) {
    (void)data;
    struct pw_time time;
    if (pw_stream_get_time_n(beeper.stream, &time, sizeof time) < 0) return;
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(beeper.stream);
    if (!buffer) return;
    struct spa_data *target = &buffer->buffer->datas[0];
    float *samples = target->data;
    if (!samples) return;
    int64_t count = target->maxsize / (CHANNELS * sizeof *samples);
    if (buffer->requested && (int64_t)buffer->requested < count) count = buffer->requested;
    // What is queued now is heard after the delay that the sink reports. One without hardware reports none.
    double second = time.rate.denom > 0 ? (double)time.rate.num / time.rate.denom : 1.0 / RATE;
    int64_t heard = time.now + (int64_t)(time.delay * second * 1e9);
    for (int64_t i = 0; i < count; i++, beeper.position++) {
        int64_t place = beeper.position % beeper.every;
        if (place == 0 && time.now > 0) {
            printf("%lld\n", (long long)(heard + i * 1000000000 / RATE));
            fflush(stdout);
        }
        // A cosine, so that the beginning is as loud as the rest.
        float value = place < beeper.length ? (float)(amplitude * cos(2 * pi * frequency * place / RATE)) : 0;
        for (int channel = 0; channel < CHANNELS; channel++) samples[i * CHANNELS + channel] = value;
    }
    target->chunk->offset = 0;
    target->chunk->stride = CHANNELS * sizeof *samples;
    target->chunk->size = (uint32_t)(count * CHANNELS * sizeof *samples);
    pw_stream_queue_buffer(beeper.stream, buffer);
}

static const struct pw_stream_events events = {PW_VERSION_STREAM_EVENTS, .process = process};

static void stop(void *data, int signal) {
    (void)data, (void)signal;
    pw_main_loop_quit(beeper.loop);
}

static int64_t samples(const char *milliseconds) { return (int64_t)(atof(milliseconds) * RATE / 1000); }

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"every", required_argument, NULL, 'e'}, {"length", required_argument, NULL, 'l'},
        {"quantum", required_argument, NULL, 'q'}, {"target", required_argument, NULL, 't'}, {NULL, 0, NULL, 0},
    };
    const char *target = NULL, *quantum = "1024";
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'e': beeper.every = samples(optarg); break;
        case 'l': beeper.length = samples(optarg); break;
        case 'q': quantum = optarg; break;
        case 't': target = optarg; break;
        default: return EXIT_USAGE;
        }
    }
    if (optind != argc || beeper.every < 1 || beeper.length < 1) {
        fputs("usage: beep [--every MS] [--length MS] [--quantum N] [--target NODE]\n", stderr);
        return EXIT_USAGE;
    }
    // As players of sound do: in real time where the desktop allows it.
    setenv("PIPEWIRE_CONFIG_NAME", "client-rt.conf", 0);
    pw_init(&argc, &argv);
    beeper.loop = pw_main_loop_new(NULL);
    struct pw_properties *properties = pw_properties_new(
        PW_KEY_MEDIA_TYPE, "Audio", PW_KEY_MEDIA_CATEGORY, "Playback", NULL);
    pw_properties_setf(properties, PW_KEY_NODE_LATENCY, "%d/%d", atoi(quantum), RATE);
    if (target) pw_properties_set(properties, PW_KEY_TARGET_OBJECT, target);
    pw_loop_add_signal(pw_main_loop_get_loop(beeper.loop), SIGTERM, stop, NULL);
    beeper.stream =
        pw_stream_new_simple(pw_main_loop_get_loop(beeper.loop), "beep", properties, &events, NULL);
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_F32, .rate = RATE, .channels = CHANNELS};
    const struct spa_pod *format = spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
    enum pw_stream_flags flags = PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_RT_PROCESS;
    if (pw_stream_connect(beeper.stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &format, 1) < 0) {
        fputs("beep: PipeWire refuses the stream\n", stderr);
        return EXIT_FAILURE;
    }
    pw_main_loop_run(beeper.loop);
    pw_stream_destroy(beeper.stream);
    pw_main_loop_destroy(beeper.loop);
    return EXIT_SUCCESS;
}
