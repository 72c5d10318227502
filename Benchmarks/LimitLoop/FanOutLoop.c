// Measures the least that it costs to hand packets to many sockets: reads packets in scrcpy's framing from its first
// connection and writes each to all other connections, one after the other. A connection that does not take a whole
// packet gets no more. The program queues nothing and does nothing else.
//
//     LimitLoop fan-out    prints its port, and ends with its first connection
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { header_size = 12, max_viewers = 10000, socket_buffer = 512 << 10 };

static int viewers[max_viewers];
static int viewer_count;

// Reads exactly that many bytes; 0 at the end.
static int read_all(int socket, uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = recv(socket, bytes, count, 0);
    if (got <= 0) return 0;
    bytes += got;
    count -= (size_t)got;
  }
  return 1;
}

// Takes one more connection, as the relay sets them up.
static int take(int listener) {
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (socket < 0) return -1;
  int on = 1, size = socket_buffer;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  return socket;
}

int fan_out_loop(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1024) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
    perror("LimitLoop");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  int feed = take(listener);
  struct pollfd interest[2] = {{.fd = feed, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
  uint8_t *packet = malloc(header_size);
  while (poll(interest, 2, -1) > 0) {
    if (interest[1].revents && viewer_count < max_viewers) {
      int viewer = take(listener);
      if (viewer >= 0) viewers[viewer_count++] = viewer;
    }
    if (!interest[0].revents) continue;
    if (!read_all(feed, packet, header_size)) return 0;
    size_t size = (size_t)packet[8] << 24 | (size_t)packet[9] << 16 | (size_t)packet[10] << 8 | packet[11];
    packet = realloc(packet, header_size + size);
    if (packet == NULL || !read_all(feed, packet + header_size, size)) return 1;
    for (int index = 0; index < viewer_count; index++) {
      if (viewers[index] < 0) continue;
      ssize_t written = send(viewers[index], packet, header_size + size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (written == (ssize_t)(header_size + size)) continue;
      // Left open: what it has not read still counts as memory of its own.
      viewers[index] = -1;
    }
  }
  return 0;
}
