# shellcheck shell=bash
# What a person does about a program that wants to act on the desktop: Tests/Desktop/remote-portal.py asks.

readonly remote_name=org.freedesktop.impl.portal.desktop.remote

# remote_call METHOD ARGUMENT…
remote_call() {
    in_desktop dbus-send --session --print-reply --reply-timeout=5000 "--dest=$remote_name" \
        /org/freedesktop/portal/desktop "heliograph.test.RemotePortal.$1" "${@:2}" >/dev/null
}

# remote_grant [DEVICES [WxH]]
remote_grant() {
    local size=${2:-$(sed 's/@.*//' "$run/screen")}
    remote_call Answer uint32:0 "uint32:${1:-7}" "int32:${size%x*}" "int32:${size#*x}"
}

remote_cancel() { remote_call Answer uint32:1 uint32:0 int32:0 int32:0; }

remote_end() { remote_call EndSession; }

remote_command() {
    command=(/usr/bin/python3 -m dbusmock --session --logfile "$run/remote.log" --template "$run/remote-portal.py")
}

# Instead of the backend for wlroots. Nothing of it acts on the screen, or shows it.
configure_remote() {
    cp "$here/remote-portal.py" "$run/remote-portal.py"
    cat >"$run/portals/remote.portal" <<EOF
[portal]
DBusName=$remote_name
Interfaces=org.freedesktop.impl.portal.RemoteDesktop;org.freedesktop.impl.portal.ScreenCast;
UseIn=sway
EOF
    rm "$run/portals/wlr.portal"
    printf '[preferred]\ndefault=remote\n' >"$run/portals/portals.conf"
}
