// Reads many connections in scrcpy's framing, with as little work for each as can be: what a benchmark's reader takes is taken
// from what it measures.
//
// In C because Swift's Glibc has no epoll.

#ifndef CCROWD_H
#define CCROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ccrowd_viewer {
    int socket;
    uint8_t header[12];
    /// Bytes of the header that have come, and of the packet that are still to come.
    uint32_t filled, missing;
    /// µs; -1 before the first picture.
    int64_t pts;
    uint32_t pictures;
    /// Whether PTS have increased.
    bool is_ordered;
};

/// Prepares `count` viewers of the sockets that they have. Returns a descriptor to wait on; -1 with errno.
int ccrowd_open(struct ccrowd_viewer *viewers, uint32_t count);

/// Reads what has come, waiting for at most `timeout` ms, and notes for each picture how long after its PTS its last byte was read, ns.
///
/// Configuration packets are passed over. At most `room` delays are noted; the return value is their number.
size_t ccrowd_read(int descriptor, struct ccrowd_viewer *viewers, int timeout, int64_t epoch, int64_t *delays, size_t room);

#endif
