// A fullscreen Wayland client that shows the counter pattern and advances by one step with each frame it draws.
//
//     counter-client [--scene NAME] [--fps N | --every MS] [--stop-at N] [--turns MS] [--state FILE] [--dump FILE] [--stamps FILE]
//                    [--shown FILE]
//
// --scene NAME what moves, as in counter_scenes.h; by default band
// --fps N      at most N frames a second, by default 60; 0: with every frame callback
// --every MS   draws one frame each so many milliseconds
// --stop-at N  draws no more once the counter has reached N
// --turns MS   moves and is static in turns, each for that long; --state says running all the while
// --state FILE holds one line, STATE VALUE, replaced whenever the state changes, when the value
//              is on the screen. STATE is running, paused or stopped (by --stop-at); VALUE is the
//              last one committed, hence what a paused or stopped screen shows.
// --dump FILE  holds the picture that a paused or stopped screen shows, as PPM, before --state says so
// --stamps FILE gets a line for each picture: its value, when it was drawn, and when it was about to be committed
//               (monotonic ns)
// --shown FILE gets a line for each picture that reaches the screen: its value, and when the compositor said that it
//              had drawn it, by the frame callback (monotonic ns)
//
// SIGUSR1 pauses: nothing is committed, unless the window is resized, which shows the same value
// at the new size. SIGUSR2 resumes. SIGTERM and SIGINT end.

#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <wayland-client.h>

#include "counter_scenes.h"
#include "counter_tools.h"
#include "xdg-shell-client-protocol.h"

enum { EXIT_USAGE = 64, BUFFERS = 3, LARGEST_SIDE = 16384 };

struct buffer {
    struct wl_buffer *handle;  // NULL: unused
    uint8_t *pixels;
    size_t bytes;
    uint32_t width, height;
    bool held;  // By the compositor.
};

static struct {
    // Arguments
    int64_t interval;  // ns, 0: none
    int64_t stop_at;   // -1: never
    int64_t turn;      // ns, 0: moves all the time
    enum counter_scene scene;
    const char *state_file, *dump_file;
    FILE *stamps, *shown_file;  // NULL: none are wanted
    // Wayland
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct wl_shm *shm;
    struct xdg_wm_base *shell;
    struct wl_surface *surface;
    struct xdg_toplevel *toplevel;
    struct wl_callback *frame;  // Pending: the last commit is not on the screen yet.
    struct buffer buffers[BUFFERS], *shown;
    uint32_t width, height;
    // What is shown, and what comes next
    int64_t value;  // Last committed, -1: none
    int64_t due;
    bool configured, resized, paused, finished, state_changed;
} client = {.interval = 1000000000 / 60, .stop_at = -1, .value = -1, .state_changed = true};

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "counter-client: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

// MARK: - Files

static bool has_stopped(void) { return client.stop_at >= 0 && client.value >= client.stop_at; }

static bool is_still(void) { return client.paused || has_stopped(); }

static void replace(const char *name, void (*write)(FILE *)) {
    if (!replace_file(name, write)) fail(name);
}

static void write_state(FILE *file) {
    const char *state = has_stopped() ? "stopped" : client.paused ? "paused" : "running";
    fprintf(file, "%s %lld\n", state, (long long)client.value);
}

static void write_picture(FILE *file) {
    fprintf(file, "P6\n%u %u\n255\n", client.shown->width, client.shown->height);
    const uint8_t *end = client.shown->pixels + client.shown->bytes;
    for (const uint8_t *pixel = client.shown->pixels; pixel < end; pixel += 4) {
        putc_unlocked(pixel[2], file);
        putc_unlocked(pixel[1], file);
        putc_unlocked(pixel[0], file);
    }
}

static void tell(void) {
    client.state_changed = false;
    if (client.dump_file && is_still()) replace(client.dump_file, write_picture);
    if (client.state_file) replace(client.state_file, write_state);
}

// MARK: - Buffers

static void destroy_buffer(struct buffer *buffer) {
    wl_buffer_destroy(buffer->handle);
    munmap(buffer->pixels, buffer->bytes);
    *buffer = (struct buffer){0};
}

static void buffer_released(void *data, struct wl_buffer *handle) {
    (void)handle;
    ((struct buffer *)data)->held = false;
}

static const struct wl_buffer_listener buffer_listener = {.release = buffer_released};

static void create_buffer(struct buffer *buffer) {
    uint32_t stride = client.width * 4;
    *buffer = (struct buffer){.width = client.width, .height = client.height};
    buffer->bytes = (size_t)stride * client.height;
    int fd = memfd_create("counter-client", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)buffer->bytes) != 0) fail("shared memory");
    buffer->pixels = mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (buffer->pixels == MAP_FAILED) fail("shared memory");
    struct wl_shm_pool *pool = wl_shm_create_pool(client.shm, fd, (int32_t)buffer->bytes);
    buffer->handle = wl_shm_pool_create_buffer(
        pool, 0, (int32_t)client.width, (int32_t)client.height, (int32_t)stride, WL_SHM_FORMAT_XRGB8888);
    wl_shm_pool_destroy(pool);
    close(fd);
    wl_buffer_add_listener(buffer->handle, &buffer_listener, buffer);
    counter_scene_draw_background(client.scene, buffer->pixels, stride, client.width, client.height);
}

// A buffer of the present size that the compositor does not hold; NULL until it releases one.
static struct buffer *free_buffer(void) {
    struct buffer *unused = NULL;
    for (struct buffer *buffer = client.buffers; buffer < client.buffers + BUFFERS; buffer++) {
        if (buffer->held) continue;
        if (buffer->handle && buffer->width == client.width && buffer->height == client.height) return buffer;
        if (buffer->handle) destroy_buffer(buffer);
        unused = buffer;
    }
    if (unused) create_buffer(unused);
    return unused;
}

// MARK: - Drawing

static void frame_done(void *data, struct wl_callback *callback, uint32_t time) {
    (void)data, (void)time;
    if (client.shown_file) {
        fprintf(client.shown_file, "%lld %lld\n", (long long)client.value, (long long)now());
        fflush(client.shown_file);
    }
    wl_callback_destroy(callback);
    client.frame = NULL;
}

static const struct wl_callback_listener frame_listener = {.done = frame_done};

static bool draw(int64_t value) {
    struct buffer *buffer = free_buffer();
    if (!buffer) return false;
    uint32_t stride = buffer->width * 4;
    counter_scene_draw(client.scene, buffer->pixels, stride, buffer->width, buffer->height, (uint32_t)value);
    if (client.stamps && value != client.value) {
        fprintf(client.stamps, "%lld %lld\n", (long long)value, (long long)now());
        fflush(client.stamps);
    }

    wl_surface_attach(client.surface, buffer->handle, 0, 0);
    if (client.resized) {
        wl_surface_damage_buffer(client.surface, 0, 0, (int32_t)buffer->width, (int32_t)buffer->height);
    } else {
        struct counter_rectangle damage[2];
        counter_scene_damage(client.scene, buffer->width, buffer->height, (uint32_t)value, damage);
        for (int i = 0; i < 2; i++) {
            wl_surface_damage_buffer(client.surface, (int32_t)damage[i].left, (int32_t)damage[i].top,
                                     (int32_t)(damage[i].right - damage[i].left), (int32_t)(damage[i].bottom - damage[i].top));
        }
    }
    if (client.frame) wl_callback_destroy(client.frame);
    client.frame = wl_surface_frame(client.surface);
    wl_callback_add_listener(client.frame, &frame_listener, NULL);
    wl_surface_commit(client.surface);
    buffer->held = true;
    client.shown = buffer;
    client.resized = false;
    if (has_stopped() != (client.stop_at >= 0 && value >= client.stop_at)) client.state_changed = true;
    client.value = value;
    return true;
}

// How long the screen is still to stand still in its present turn, in ns.
static int64_t rest(int64_t time) {
    if (client.turn == 0 || time / client.turn % 2 == 0) return 0;
    return client.turn - time % client.turn;
}

// Does what is due. Returns the time until the next step in ns, or -1 if only an event can bring one.
static int64_t step(void) {
    if (!client.configured) return -1;
    if (client.resized && client.value >= 0) {  // At once, also while paused; the value stays.
        client.state_changed |= draw(client.value);
        return -1;
    }
    if (client.frame) return -1;
    if (client.state_changed && client.value >= 0) tell();
    if (is_still()) return -1;
    // An output that is a little faster than the pace is followed without a beat.
    int64_t time = now(), slack = client.interval / 8;
    if (rest(time) > 0) return rest(time);
    if (time < client.due - slack) return client.due - slack - time;
    if (draw((client.value + 1) & COUNTER_PATTERN_MASK)) {
        client.due = time > client.due + client.interval ? time + client.interval : client.due + client.interval;
    }
    return -1;
}

// MARK: - Shell

static void ping(void *data, struct xdg_wm_base *shell, uint32_t serial) {
    (void)data;
    xdg_wm_base_pong(shell, serial);
}

static const struct xdg_wm_base_listener shell_listener = {.ping = ping};

static void toplevel_configured(
    void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height, struct wl_array *states
) {
    (void)data, (void)toplevel, (void)states;
    if (width < 1 || height < 1) width = 1280, height = 720;  // The client may choose.
    if (width > LARGEST_SIDE) width = LARGEST_SIDE;
    if (height > LARGEST_SIDE) height = LARGEST_SIDE;
    if ((uint32_t)width == client.width && (uint32_t)height == client.height) return;
    client.width = (uint32_t)width;
    client.height = (uint32_t)height;
    client.resized = true;
}

static void toplevel_closed(void *data, struct xdg_toplevel *toplevel) {
    (void)data, (void)toplevel;
    client.finished = true;
}

static const struct xdg_toplevel_listener toplevel_listener = {
    .configure = toplevel_configured, .close = toplevel_closed,
};

static void surface_configured(void *data, struct xdg_surface *surface, uint32_t serial) {
    (void)data;
    xdg_surface_ack_configure(surface, serial);
    client.configured = true;
}

static const struct xdg_surface_listener surface_listener = {.configure = surface_configured};

static void *bind_global(
    struct wl_registry *registry, uint32_t name, const struct wl_interface *interface, uint32_t offered, uint32_t wanted
) {
    return wl_registry_bind(registry, name, interface, offered < wanted ? offered : wanted);
}

static void global_added(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version) {
    (void)data;
    if (strcmp(interface, wl_compositor_interface.name) == 0) {
        client.compositor = bind_global(registry, name, &wl_compositor_interface, version, 4);
    } else if (strcmp(interface, wl_shm_interface.name) == 0) {
        client.shm = bind_global(registry, name, &wl_shm_interface, version, 1);
    } else if (strcmp(interface, xdg_wm_base_interface.name) == 0) {
        client.shell = bind_global(registry, name, &xdg_wm_base_interface, version, 1);
        xdg_wm_base_add_listener(client.shell, &shell_listener, NULL);
    }
}

static void global_removed(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {.global = global_added, .global_remove = global_removed};

static void open_window(void) {
    client.display = wl_display_connect(NULL);
    if (!client.display) fail("no Wayland display");
    wl_registry_add_listener(wl_display_get_registry(client.display), &registry_listener, NULL);
    if (wl_display_roundtrip(client.display) < 0) fail("Wayland");
    if (!client.compositor || !client.shm || !client.shell) {
        fprintf(stderr, "counter-client: the compositor lacks wl_compositor, wl_shm or xdg_wm_base\n");
        exit(EXIT_FAILURE);
    }
    client.surface = wl_compositor_create_surface(client.compositor);
    struct xdg_surface *surface = xdg_wm_base_get_xdg_surface(client.shell, client.surface);
    xdg_surface_add_listener(surface, &surface_listener, NULL);
    client.toplevel = xdg_surface_get_toplevel(surface);
    xdg_toplevel_add_listener(client.toplevel, &toplevel_listener, NULL);
    xdg_toplevel_set_title(client.toplevel, "counter");
    xdg_toplevel_set_app_id(client.toplevel, "counter-client");
    xdg_toplevel_set_fullscreen(client.toplevel, NULL);
    wl_surface_commit(client.surface);
}

// MARK: - Events

static void set_paused(bool paused) {
    client.paused = paused;
    client.state_changed = true;
    client.due = 0;
}

static void handle_signals(int fd) {
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGUSR1) set_paused(true);
        else if (info.ssi_signo == SIGUSR2) set_paused(false);
        else client.finished = true;
    }
}

static int open_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0) fail("signals");
    return fd;
}

// Waits for an event for at most `timeout` ns (-1: without end) and handles what came.
static void wait_for_events(int signals, int64_t timeout) {
    if (wl_display_prepare_read(client.display) != 0) {  // Events are queued already.
        wl_display_dispatch_pending(client.display);
        return;
    }
    bool unsent = wl_display_flush(client.display) < 0 && errno == EAGAIN;
    struct pollfd fds[] = {
        {.fd = wl_display_get_fd(client.display), .events = unsent ? POLLIN | POLLOUT : POLLIN},
        {.fd = signals, .events = POLLIN},
    };
    struct timespec limit = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
    if (ppoll(fds, 2, timeout < 0 ? NULL : &limit, NULL) < 0 && errno != EINTR) fail("poll");
    if (fds[0].revents & ~POLLOUT) wl_display_read_events(client.display);
    else wl_display_cancel_read(client.display);
    if (wl_display_dispatch_pending(client.display) < 0) fail("the compositor is gone");
    if (fds[1].revents) handle_signals(signals);
}

static int64_t parse(const char *text, int64_t highest) {
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || number > highest) {
        fprintf(stderr, "counter-client: '%s' is not a number from 0 to %lld\n", text, (long long)highest);
        exit(EXIT_USAGE);
    }
    return number;
}

static void parse_arguments(int argc, char **argv) {
    static const struct option options[] = {
        {"fps", required_argument, NULL, 'f'},
        {"every", required_argument, NULL, 'e'},
        {"stop-at", required_argument, NULL, 's'},
        {"turns", required_argument, NULL, 'm'},
        {"state", required_argument, NULL, 't'},
        {"dump", required_argument, NULL, 'd'},
        {"shown", required_argument, NULL, 'w'},
        {"scene", required_argument, NULL, 'c'},
        {"stamps", required_argument, NULL, 'l'},
        {0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        int64_t fps;
        int scene;
        switch (option) {
        case 'f':
            fps = parse(optarg, 1000);
            client.interval = fps > 0 ? 1000000000 / fps : 0;
            break;
        case 'e': client.interval = parse(optarg, 60000) * 1000000; break;
        case 's': client.stop_at = parse(optarg, COUNTER_PATTERN_MASK); break;
        case 'm': client.turn = parse(optarg, 60000) * 1000000; break;
        case 't': client.state_file = optarg; break;
        case 'd': client.dump_file = optarg; break;
        case 'c':
            scene = counter_scene_named(optarg);
            if (scene < 0) {
                fprintf(stderr, "counter-client: there is no scene '%s'\n", optarg);
                exit(EXIT_USAGE);
            }
            client.scene = (enum counter_scene)scene;
            break;
        case 'l':
            client.stamps = fopen(optarg, "w");
            if (!client.stamps) fail(optarg);
            break;
        case 'w':
            client.shown_file = fopen(optarg, "w");
            if (!client.shown_file) fail(optarg);
            break;
        default: exit(EXIT_USAGE);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "counter-client: unexpected argument '%s'\n", argv[optind]);
        exit(EXIT_USAGE);
    }
}

int main(int argc, char **argv) {
    parse_arguments(argc, argv);
    int signals = open_signals();
    open_window();
    while (!client.finished) wait_for_events(signals, step());
    return EXIT_SUCCESS;
}
