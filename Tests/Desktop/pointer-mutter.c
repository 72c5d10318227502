// Moves Mutter's pointer, by org.gnome.Mutter.RemoteDesktop.
//
//     pointer-mutter
//
// Each line of standard input, "X Y …", moves the pointer to X, Y. The pointer exists until the input ends.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <systemd/sd-bus.h>

#define SERVICE "org.gnome.Mutter.RemoteDesktop"
#define SESSION SERVICE ".Session"

static sd_bus *bus;
static char session[200];

static void check(int result, const sd_bus_error *error, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "pointer-mutter: %s: %s\n", what, error && error->message ? error->message : strerror(-result));
    exit(EXIT_FAILURE);
}

static void move(double x, double y) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    check(sd_bus_call_method(bus, SERVICE, session, SESSION, "NotifyPointerMotionRelative", &error, NULL, "dd", x, y),
          &error, "motion");
}

int main(void) {
    check(sd_bus_open_user(&bus), NULL, "bus");
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    check(sd_bus_call_method(bus, SERVICE, "/org/gnome/Mutter/RemoteDesktop", SERVICE, "CreateSession", &error, &reply, ""),
          &error, "session");
    const char *path;
    check(sd_bus_message_read(reply, "o", &path), NULL, "session");
    snprintf(session, sizeof session, "%s", path);
    sd_bus_message_unref(reply);
    check(sd_bus_call_method(bus, SERVICE, session, SESSION, "Start", &error, NULL, ""), &error, "start");

    char line[100];
    while (fgets(line, sizeof line, stdin)) {
        double x, y;
        if (sscanf(line, "%lf %lf", &x, &y) != 2) continue;
        // Only relative motion needs no screencast of one's own; far to the top left is the corner.
        move(-100000, -100000);
        move(x, y);
    }
}
