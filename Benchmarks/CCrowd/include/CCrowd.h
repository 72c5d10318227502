// Reads many connections in scrcpy's framing with as little work for each as possible: the measured programs lose the
// CPU time that the reader takes.
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

/// Reads what has arrived. Waits for at most `timeout` ms.
///
/// Notes for each picture the time from its PTS to its last byte, in ns. Skips configuration packets. Notes at most
/// `room` delays and returns their number.
size_t ccrowd_read(int descriptor, struct ccrowd_viewer *viewers, int timeout, int64_t epoch, int64_t *delays, size_t room);

#endif
