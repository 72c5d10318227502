# shellcheck shell=bash
# The programs that make up a desktop: how each is configured, started, found to be up and ended.
#
# No service activation: the bus starts nothing by itself. A portal that it started on its own
# would not have the desktop's environment, and what nobody asked for (document portal, its FUSE
# mount) would have to be found and ended.

readonly system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# check_requirements COMPOSITOR
check_requirements() {
    local needed=(dbus-daemon dbus-send pipewire pw-metadata wireplumber jq setsid setpriv)
    [[ $1 != xvfb ]] || needed=(Xvfb ffmpeg setsid setpriv)
    local services=() missing=() name
    case $1 in
    sway)
        needed+=(sway swaymsg grim)
        services=(xdg-desktop-portal xdg-desktop-portal-wlr xdg-permission-store)
        ;;
    mutter) needed+=(mutter gdbus ffmpeg) ;;
    esac
    for name in "${needed[@]}"; do
        type -P "$name" >/dev/null || missing+=("$name")
    done
    for name in "${services[@]}"; do
        libexec "$name" >/dev/null || missing+=("$name")
    done
    ((${#missing[@]} == 0)) || fail "missing: ${missing[*]}; Scripts/packages desktop installs them"
}

libexec() {
    local folder
    for folder in /usr/libexec /usr/lib /usr/local/libexec; do
        if [[ -x $folder/$1 ]]; then
            echo "$folder/$1"
            return
        fi
    done
    return 1
}

# MARK: - Configuration

# configure SIZE HERTZ HAS_SESSION_MANAGER
configure() {
    local parts=(pipewire)
    ! $3 || parts+=(wireplumber)
    case $compositor in
    sway)
        parts+=(sway "$(portal_backend)" portal)
        configure_sway "$1" "$2"
        configure_portal
        ! $remote || configure_remote
        ;;
    mutter) parts+=(mutter) ;;
    xvfb) parts=(xvfb) ;;
    esac
    echo "${parts[*]}" >"$run/parts"
    echo "$compositor" >"$run/compositor"
    echo "$1@$2" >"$run/screen"
    cat >"$run/bus.conf" <<EOF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$run/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
EOF
    configure_wireplumber
}

configure_sway() {
    cat >"$run/sway.conf" <<EOF
xwayland disable
default_border none
output HEADLESS-1 mode --custom $1@$2Hz
EOF
}

# Of the installed portal backends only this one, whatever else the machine has.
configure_portal() {
    cat >"$run/portal-wlr.conf" <<EOF
[screencast]
output_name=HEADLESS-1
$(chooser)
EOF
    mkdir "$run/portals"
    cat >"$run/portals/wlr.portal" <<'EOF'
[portal]
DBusName=org.freedesktop.impl.portal.desktop.wlr
Interfaces=org.freedesktop.impl.portal.Screenshot;org.freedesktop.impl.portal.ScreenCast;
UseIn=sway
EOF
    printf '[preferred]\ndefault=wlr\n' >"$run/portals/portals.conf"
}

portal_backend() { $remote && echo portal-remote || echo portal-wlr; }

# With --ask each screencast needs consent: Tests/Desktop/desktop consent. Without an answer the dialog
# stays.
chooser() {
    if ! $asks; then
        echo chooser_type=none
        return
    fi
    cat >"$run/chooser" <<EOF
#!/bin/sh
read -r answer <>"$run/consent"
echo "\$answer"
EOF
    chmod 755 "$run/chooser"
    mkfifo -m 600 "$run/consent"
    printf 'chooser_type=simple\nchooser_cmd=%s\n' "$run/chooser"
}

# WirePlumber must leave the machine's own devices alone. Version 0.4 reads Lua, 0.5 the .conf.
configure_wireplumber() {
    local folder=$directory/home/.config/wireplumber
    mkdir -p "$folder"/{main.lua.d,bluetooth.lua.d,wireplumber.conf.d}
    printf '%s_monitor.enabled = false\n' alsa v4l2 libcamera >"$folder/main.lua.d/51-no-devices.lua"
    echo 'bluez_monitor.enabled = false' >"$folder/bluetooth.lua.d/51-no-devices.lua"
    cat >"$folder/wireplumber.conf.d/51-no-devices.conf" <<'EOF'
wireplumber.profiles = {
  main = {
    hardware.audio = disabled
    hardware.bluetooth = disabled
    hardware.video-capture = disabled
  }
}
EOF
}

# MARK: - Starting

# launch PART [ARGUMENT…]: in the background, in a session of its own so that a terminal's Ctrl-C
# goes to nobody but the script. The variable HELIOGRAPH_DESKTOP is what the end goes by: it marks
# the part and all that the part starts, and without new privileges no one can hide it.
launch() {
    local part=$1 command
    command_of "$@"
    env -i "HELIOGRAPH_DESKTOP=$(<"$run/id")" "PATH=$system_path" LANG=C.UTF-8 "${environment[@]}" \
        setsid "${as_user[@]}" setpriv --no-new-privs -- "${command[@]}" </dev/null >>"$logs/$part.log" 2>&1 &
    echo $! >"$pids/$part"
}

command_of() {
    local part=$1
    shift
    case $part in
    bus) command=(dbus-daemon --nofork --nopidfile --nosyslog "--config-file=$run/bus.conf") ;;
    pipewire) command=(pipewire) ;;
    wireplumber) command=(wireplumber) ;;
    sway)
        command=(env WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1
            sway --unsupported-gpu --config "$run/sway.conf")
        ;;
    mutter)
        # Drawn by the processor, and at once: a monitor that nobody records is never flushed, and
        # what waits to be drawn would take 200 MB a second. Nothing of the machine's is asked or kept.
        command=(env LIBGL_ALWAYS_SOFTWARE=1 COGL_DEBUG=sync-primitive GSETTINGS_BACKEND=memory
            "DBUS_SYSTEM_BUS_ADDRESS=unix:path=$run/no-system-bus"
            mutter --headless --no-x11 --wayland-display=wayland-1 "--virtual-monitor=$(<"$run/screen")")
        ;;
    xvfb)
        # The first free display; after a restart the same one. Without -noreset the server would restart when its
        # last client leaves.
        local number="-displayfd 3"
        [[ ! -s $run/display ]] || number=:$(<"$run/display")
        # shellcheck disable=SC2016  # It is the inner shell that expands them.
        command=(bash -c 'exec Xvfb $1 -screen 0 "$2" -nolisten tcp -noreset 3>>"$3"' xvfb
            "$number" "$(sed 's/@.*/x24/' "$run/screen")" "$run/display")
        ;;
    permission-store) command=("$(libexec xdg-permission-store)") ;;
    portal-wlr)
        command=("$(libexec xdg-desktop-portal-wlr)" --loglevel=INFO "--config=$run/portal-wlr.conf")
        if needs_preload; then command=(env "LD_PRELOAD=$directory/bin/xdpw-shm-preload" "${command[@]}"); fi
        ;;
    portal-remote) remote_command ;;
    portal) command=(env "XDG_DESKTOP_PORTAL_DIR=$run/portals" "$(libexec xdg-desktop-portal)" --verbose) ;;
    client)
        command=("$directory/bin/$(client_program)" --state "$counter_state" "$@")
        [[ $compositor == sway ]] || command+=(--dump "$counter_dump")
        ;;
    pointer) pointer_command ;;
    input) input_command ;;
    producer-*) producer_command "${part#producer-}" "$@" ;;
    esac
}

client_program() { [[ $compositor == xvfb ]] && echo counter-x11 || echo counter-client; }

# The portal backend does not tell its version, its package does.
needs_preload() {
    local version
    version=$(dpkg-query -W -f '${Version}' xdg-desktop-portal-wlr 2>/dev/null) || return 1
    dpkg --compare-versions "$version" lt 0.8
}

# await PART…: until each is up.
await() {
    local part
    for part in "$@"; do
        wait_until 15 is_up_or_gone "$part" && is_up "$part" >/dev/null 2>&1 && continue
        echo "desktop: $part did not come up; the end of $logs/$part.log:" >&2
        tail -n 8 "$logs/$part.log" | sed 's/^/    /' >&2
        exit 1
    done
}

is_up_or_gone() { ! is_running "$1" || is_up "$1"; }

is_running() { [[ -e $pids/$1 ]] && is_alive "$(<"$pids/$1")"; }

is_up() {
    case $1 in
    bus) [[ -S $run/bus ]] ;;
    pipewire) [[ -S $run/pipewire-0 ]] ;;
    wireplumber) session_manager_is_ready ;;
    sway) [[ -S $run/wayland-1 && $(output_size) =~ x ]] ;;
    mutter) [[ -S $run/wayland-1 ]] && has_name org.gnome.Mutter.ScreenCast && has_name org.gnome.Mutter.DisplayConfig ;;
    xvfb) [[ -s $run/display && -S /tmp/.X11-unix/X$(<"$run/display") ]] ;;
    permission-store) has_name org.freedesktop.impl.portal.PermissionStore ;;
    portal-wlr) has_name org.freedesktop.impl.portal.desktop.wlr ;;
    portal-remote) has_name "$remote_name" ;;
    portal) portal_has_screencast ;;
    client) [[ -e $counter_state ]] ;;
    pointer) is_running pointer ;;
    input) grep -q ' ready ' "$run/input.log" ;;
    producer-*) [[ -n $(producer_node "${1#producer-}") ]] ;;
    esac
}

# Its metadata object appears when its scripts, which link streams, are loaded. Not `grep -q`, which
# leaves before pw-metadata has said all, so that this one fails.
session_manager_is_ready() {
    in_desktop timeout 5 pw-metadata -n default | grep '^Found "default"'
}

has_name() {
    in_desktop dbus-send --session --print-reply --reply-timeout=5000 --dest=org.freedesktop.DBus \
        / org.freedesktop.DBus.NameHasOwner "string:$1" | grep 'boolean true'
}

portal_has_screencast() {
    in_desktop dbus-send --session --print-reply --reply-timeout=5000 --dest=org.freedesktop.portal.Desktop \
        /org/freedesktop/portal/desktop org.freedesktop.DBus.Properties.Get \
        string:org.freedesktop.portal.ScreenCast string:version
}

# MARK: - Single parts of a running desktop

# end_part PART SIGNAL: its pid file goes first, so that the end is not reported as a surprise.
end_part() {
    local pid
    is_running "$1" || return 0
    pid=$(<"$pids/$1")
    rm -f "$pids/$1"
    kill "-$2" "$pid" 2>/dev/null || true
    wait_until 5 is_gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
}

has_part() { [[ " $(<"$run/parts") " == *" $1 "* ]]; }

restart_part() {
    end_part "$1" KILL
    case $1 in
    pipewire) rm -f "$run"/pipewire-0* ;;
    sway) rm -f "$run"/wayland-1* "$run/sway.sock" ;;
    mutter) rm -f "$run"/wayland-1* ;;
    xvfb) rm -f "/tmp/.X11-unix/X$(<"$run/display")" ;;
    esac
    launch "$1"
    await "$1"
}

client_start() {
    is_running client && fail "the counter client is running already"
    rm -f "$counter_state" "$counter_dump"
    launch client "$@"
    await client
}

client_stop() {
    end_part client TERM
    rm -f "$counter_state" "$counter_dump"
}

# client_signal SIGNAL STATES: and waits until the client is in one of them.
client_signal() {
    is_running client || fail "no counter client is running"
    kill "-$1" "$(<"$pids/client")"
    wait_until 5 grep -qE "^($2) " "$counter_state" || fail "the counter client does not answer; see $logs/client.log"
}

client_is_still() { is_running client && grep -qE '^(paused|stopped) ' "$counter_state" 2>/dev/null; }

client_value() {
    local state value
    [[ -e $counter_state ]] || fail "no counter client is running"
    read -r state value <"$counter_state"
    [[ $state != running ]] || fail "the counter client is drawing; pause it first"
    echo "$value"
}
