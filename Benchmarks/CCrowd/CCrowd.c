#include "CCrowd.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { HEADER = sizeof ((struct ccrowd_viewer *)0)->header, EVENTS = 512 };

struct notes {
    int64_t epoch, *delays;
    size_t count, room;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int ccrowd_open(struct ccrowd_viewer *viewers, uint32_t count) {
    const int descriptor = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < count && descriptor >= 0; i++) {
        viewers[i] = (struct ccrowd_viewer){.socket = viewers[i].socket, .pts = -1, .is_ordered = true};
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        if (epoll_ctl(descriptor, EPOLL_CTL_ADD, viewers[i].socket, &event) < 0) return -1;
    }
    return descriptor;
}

static uint64_t number(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

static void end_packet(struct ccrowd_viewer *viewer, struct notes *notes, int64_t time) {
    const uint64_t word = number(viewer->header, 8);
    viewer->filled = 0;
    if (word >> 63) return;  // A configuration.
    const int64_t pts = (int64_t)(word & ((1ull << 62) - 1));
    viewer->is_ordered = viewer->is_ordered && pts > viewer->pts;
    viewer->pts = pts;
    viewer->pictures++;
    if (notes->count < notes->room) notes->delays[notes->count++] = time - notes->epoch - pts * 1000;
}

static void take(struct ccrowd_viewer *viewer, const uint8_t *bytes, size_t count, struct notes *notes) {
    const int64_t time = now();
    while (count > 0) {
        size_t part;
        if (viewer->filled < HEADER) {
            part = HEADER - viewer->filled < count ? HEADER - viewer->filled : count;
            memcpy(viewer->header + viewer->filled, bytes, part);
            viewer->filled += (uint32_t)part;
            if (viewer->filled == HEADER) viewer->missing = (uint32_t)number(viewer->header + 8, 4);
        } else {
            part = viewer->missing < count ? viewer->missing : count;
            viewer->missing -= (uint32_t)part;
        }
        bytes += part;
        count -= part;
        if (viewer->filled == HEADER && viewer->missing == 0) end_packet(viewer, notes, time);
    }
}

size_t ccrowd_read(int descriptor, struct ccrowd_viewer *viewers, int timeout, int64_t epoch, int64_t *delays, size_t room) {
    static _Thread_local uint8_t bytes[256 << 10];
    struct epoll_event events[EVENTS];
    struct notes notes = {.epoch = epoch, .delays = delays, .room = room};
    const int ready = epoll_wait(descriptor, events, EVENTS, timeout);
    for (int i = 0; i < ready; i++) {
        struct ccrowd_viewer *viewer = &viewers[events[i].data.u32];
        const ssize_t received = recv(viewer->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (received > 0) take(viewer, bytes, (size_t)received, &notes);
        else if (received == 0) epoll_ctl(descriptor, EPOLL_CTL_DEL, viewer->socket, NULL);
    }
    return notes.count;
}
