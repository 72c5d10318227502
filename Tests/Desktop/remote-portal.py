"""A portal's backend that lets applications act on a desktop if a test agrees. It records what they do, and does nothing.

A template of python3-dbusmock: python3 -m dbusmock --session --template remote-portal.py --logfile LOG. Each line of the
log is a call: its time, its method and its arguments. xdg-desktop-portal itself is the real one.
"""

import dbus
import dbus.service
import dbusmock

BUS_NAME = "org.freedesktop.impl.portal.desktop.remote"
MAIN_OBJ = "/org/freedesktop/portal/desktop"
MAIN_IFACE = "org.freedesktop.impl.portal.RemoteDesktop"
SYSTEM_BUS = False

SCREEN_CAST = "org.freedesktop.impl.portal.ScreenCast"
SESSION = "org.freedesktop.impl.portal.Session"
REQUEST = "org.freedesktop.impl.portal.Request"
TEST = "heliograph.test.RemotePortal"

KEYBOARD, POINTER, TOUCH = 1, 2, 4
STREAM = 41

# The caller of Start that waits for a person's answer, and the session that it is for.
waiting = {}


def load(mock, parameters):
    mock.AddProperties(
        MAIN_IFACE, dbus.Dictionary({"AvailableDeviceTypes": dbus.UInt32(KEYBOARD | POINTER | TOUCH), "version": dbus.UInt32(1)})
    )
    mock.AddProperties(
        SCREEN_CAST,
        dbus.Dictionary(
            {"AvailableSourceTypes": dbus.UInt32(1), "AvailableCursorModes": dbus.UInt32(1), "version": dbus.UInt32(4)}
        ),
    )
    # The portal has checked the session, the devices and the places already.
    events = {
        "NotifyPointerMotion": "dd",
        "NotifyPointerMotionAbsolute": "udd",
        "NotifyPointerButton": "iu",
        "NotifyPointerAxis": "dd",
        "NotifyPointerAxisDiscrete": "ui",
        "NotifyKeyboardKeycode": "iu",
        "NotifyKeyboardKeysym": "iu",
        "NotifyTouchDown": "uudd",
        "NotifyTouchMotion": "uudd",
        "NotifyTouchUp": "u",
    }
    mock.AddMethods(MAIN_IFACE, [(name, "oa{sv}" + arguments, "", "") for name, arguments in events.items()])


def done(**results):
    return dbus.UInt32(0), dbus.Dictionary(results, signature="sv")


@dbus.service.method(MAIN_IFACE, in_signature="oosa{sv}", out_signature="ua{sv}")
def CreateSession(self, handle, session, application, options):
    self.AddObject(session, SESSION, dbus.Dictionary({"version": dbus.UInt32(1)}), [("Close", "", "", "")])
    return done()


@dbus.service.method(MAIN_IFACE, in_signature="oosa{sv}", out_signature="ua{sv}")
def SelectDevices(self, handle, session, application, options):
    return done()


@dbus.service.method(SCREEN_CAST, in_signature="oosa{sv}", out_signature="ua{sv}")
def SelectSources(self, handle, session, application, options):
    return done()


@dbus.service.method(
    MAIN_IFACE, in_signature="oossa{sv}", out_signature="ua{sv}", async_callbacks=("succeed", "fail")
)
def Start(self, handle, session, application, window, options, succeed=None, fail=None):
    self.AddObject(handle, REQUEST, dbus.Dictionary({}, signature="sv"), [("Close", "", "", "")])
    waiting.update(handle=handle, session=session, succeed=succeed)


@dbus.service.method(TEST, in_signature="uuii", out_signature="")
def Answer(self, response, devices, width, height):
    """Answers the dialog: a response of 0 agrees, 1 declines. The shared screen has this size."""
    size = dbus.Struct((dbus.Int32(width), dbus.Int32(height)), signature="ii")
    stream = dbus.Struct(
        (dbus.UInt32(STREAM), dbus.Dictionary({"size": size, "source_type": dbus.UInt32(1)}, signature="sv")),
        signature="ua{sv}",
    )
    results = {"devices": dbus.UInt32(devices), "streams": dbus.Array([stream], signature="(ua{sv})")}
    self.RemoveObject(waiting["handle"])
    waiting["succeed"](dbus.UInt32(response), dbus.Dictionary(results if response == 0 else {}, signature="sv"))


@dbus.service.method(TEST, in_signature="", out_signature="")
def EndSession(self):
    """Ends the session as a person does who stops sharing."""
    dbusmock.get_object(waiting["session"]).EmitSignal(SESSION, "Closed", "", [])
