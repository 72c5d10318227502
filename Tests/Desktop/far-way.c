// A way between two network namespaces that takes time and loses packets: a network device of the same name in each.
//
//     far-way NAMESPACE NAMESPACE DEVICE DELAY LOSS
//
// Packets arrive DELAY ms later, each way. Of a thousand from the first namespace to the second, LOSS are lost. Prints
// "ready" when the devices are there, and ends with its standard input. Needs root. At most 4096 packets are on the way
// in each direction; more are lost.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 2000, CAPACITY = 4096, EXIT_USAGE = 64 };

struct packet {
    int64_t due;  // Monotonic ns
    size_t length;
    uint8_t bytes[LONGEST];
};

// A direction: what is on the way, in the order of arrival.
static struct way {
    struct packet packets[CAPACITY];
    size_t first, count;
} ways[2];

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "far-way: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

// Makes a device in a namespace, and returns its descriptor.
static int device(const char *namespace, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET) < 0) fail(namespace);
    close(file);
    int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &request) < 0) fail("/dev/net/tun");
    return tun;
}

// Takes what waits at a device onto the way.
static void take(int tun, struct way *way, int64_t delay, double loss) {
    uint8_t bytes[LONGEST];
    for (ssize_t length; (length = read(tun, bytes, sizeof bytes)) > 0;) {
        if (drand48() * 1000 < loss || way->count == CAPACITY) continue;
        struct packet *packet = &way->packets[(way->first + way->count++) % CAPACITY];
        packet->due = now() + delay;
        packet->length = (size_t)length;
        memcpy(packet->bytes, bytes, packet->length);
    }
}

// Hands over what has arrived. Returns when the next packet arrives, ns; INT64_MAX if none is on the way.
static int64_t hand_over(struct way *way, int tun) {
    while (way->count > 0) {
        struct packet *packet = &way->packets[way->first];
        if (packet->due > now()) return packet->due;
        // A device that is down takes nothing.
        if (write(tun, packet->bytes, packet->length) < 0 && errno != EIO && errno != EAGAIN) fail("write");
        way->first = (way->first + 1) % CAPACITY, way->count--;
    }
    return INT64_MAX;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fputs("usage: far-way NAMESPACE NAMESPACE DEVICE DELAY LOSS\n", stderr);
        return EXIT_USAGE;
    }
    int64_t delay = (int64_t)(atof(argv[4]) * 1e6);
    double loss = atof(argv[5]);
    int tuns[2] = {device(argv[1], argv[3]), device(argv[2], argv[3])};
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t next = INT64_MAX;
        for (int i = 0; i < 2; i++) {
            int64_t arrival = hand_over(&ways[i], tuns[1 - i]);
            if (arrival < next) next = arrival;
        }
        int64_t pause = next - now();
        struct timespec time = {pause / 1000000000, pause % 1000000000};
        struct pollfd files[3] = {{tuns[0], POLLIN, 0}, {tuns[1], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (pause > 0 && ppoll(files, 3, next == INT64_MAX ? NULL : &time, NULL) < 0 && errno != EINTR) fail("poll");
        if (files[2].revents) return EXIT_SUCCESS;
        take(tuns[0], &ways[0], delay, loss);
        take(tuns[1], &ways[1], delay, 0);
    }
}
