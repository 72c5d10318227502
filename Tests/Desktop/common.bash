# shellcheck shell=bash
# What every command of Tests/Desktop/desktop needs: errors, where a desktop is, who it runs as.

readonly tools_source=$here

fail() {
    echo "desktop: $*" >&2
    exit 1
}

usage_error() {
    echo "desktop: $*; see Tests/Desktop/desktop --help" >&2
    exit 64
}

check_size() {
    [[ $1 =~ ^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$ ]] && ((${1%x*} <= 16384 && ${1#*x} <= 16384)) ||
        usage_error "'$1' is not a size such as 1280x720, at most 16384 a side"
}

# locate DIR: sets the paths that everything else uses.
locate() {
    directory=$(realpath -ms -- "$1")
    # D-Bus addresses and sway's configuration would each need their own quoting.
    [[ $directory =~ ^[A-Za-z0-9/._-]+$ ]] || usage_error "DIR may have letters, digits and ._- only: $directory"
    run=$directory/run logs=$directory/logs pids=$run/pids
    counter_state=$run/counter counter_dump=$run/counter.ppm
}

# choose COMPOSITOR: sets the environment of its desktop.
choose() {
    compositor=$1
    environment=(
        "XDG_RUNTIME_DIR=$run"
        "PIPEWIRE_RUNTIME_DIR=$run"
        "PIPEWIRE_REMOTE=pipewire-0"
        "DBUS_SESSION_BUS_ADDRESS=unix:path=$run/bus"
        "HOME=$directory/home"
        "XDG_CONFIG_HOME=$directory/home/.config"
        "XDG_CACHE_HOME=$directory/home/.cache"
        "XDG_DATA_HOME=$directory/home/.local/share"
        "XDG_STATE_HOME=$directory/home/.local/state"
    )
    [[ $1 =~ ^(none|xvfb)$ ]] || environment+=("WAYLAND_DISPLAY=wayland-1" "XDG_SESSION_TYPE=wayland")
    case $1 in
    sway) environment+=("XDG_CURRENT_DESKTOP=sway" "SWAYSOCK=$run/sway.sock") ;;
    mutter) environment+=("XDG_CURRENT_DESKTOP=GNOME") ;;
    xvfb) [[ ! -s $run/display ]] || environment+=("DISPLAY=:$(<"$run/display")" "XDG_SESSION_TYPE=x11") ;;
    esac
}

# become USER: sets how to run a command as that user and completes the environment.
become() {
    environment+=("USER=$1" "LOGNAME=$1")
    as_user=()
    [[ $1 == "$(id -un)" ]] && return
    may_become "$1"
    local rights=()
    # What rtkit allows on a desktop, and these desktops have none.
    [[ -z ${HELIOGRAPH_DESKTOP_REALTIME:-} ]] || rights=(--inh-caps=+sys_nice --ambient-caps=+sys_nice)
    as_user=(setpriv "--reuid=$(id -u "$1")" "--regid=$(id -g "$1")" --clear-groups "${rights[@]}" --)
}

may_become() { [[ $1 == "$(id -un)" ]] || ((EUID == 0)) || fail "the desktop in $directory belongs to $1"; }

# use_desktop DIR: of a desktop that has come up.
use_desktop() {
    locate "$1"
    [[ -e $directory/env ]] || fail "no desktop is up in $directory; start one with Tests/Desktop/desktop start"
    local user
    user=$(stat -c %U "$run")
    may_become "$user"
    choose "$(<"$run/compositor")"
    become "$user"
}

in_desktop() { env "${environment[@]}" "${as_user[@]}" "$@"; }

# wait_until SECONDS COMMAND…: false when COMMAND has not succeeded in time.
wait_until() {
    local deadline=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
    shift
    until "$@" >/dev/null 2>&1; do
        ((${EPOCHREALTIME/[.,]/} < deadline)) || return 1
        sleep 0.02
    done
}

# is_alive PID: and not a zombie whose parent takes its time.
is_alive() {
    local state
    { read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null && [[ $state != Z ]]
}

is_gone() { ! is_alive "$1"; }
