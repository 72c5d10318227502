# shellcheck shell=bash
# The screen's picture and size, for which every compositor has its own ways.

# MARK: - Picture

# screenshot_with COMPOSITOR FILE: the caller opens the file, since the desktop's user may not be allowed to.
screenshot_with() {
    case $1 in
    sway)
        in_desktop timeout 10 grim -t png -l 3 - >"$2" || {
            rm -f -- "$2"
            fail "no screenshot: is sway still running? See $logs/sway.log"
        }
        ;;
    mutter | xvfb)
        # Nobody but GNOME Shell takes screenshots of mutter, and of an X server it would take one more program.
        client_is_still || fail "$1 takes no screenshots; pause the counter client, whose picture fills the screen"
        timeout 10 ffmpeg -nostdin -v error -f image2 -c:v ppm -i "$counter_dump" -f image2pipe -c:v png - >"$2" || {
            rm -f -- "$2"
            fail "no screenshot: $counter_dump is no picture"
        }
        ;;
    none) fail "the desktop in $directory has no screen" ;;
    esac
}

# MARK: - Size

resize_with() {
    case $1 in
    sway) resize_sway "$2" ;;
    mutter) resize_mutter "$2" ;;
    xvfb) fail "Xvfb's screen keeps its size" ;;
    none) fail "the desktop in $directory has no screen" ;;
    esac
}

resize_sway() {
    local hertz
    hertz=$(in_desktop timeout 10 swaymsg -r -t get_outputs | jq -r '.[0].current_mode.refresh / 1000')
    in_desktop timeout 10 swaymsg -q "output HEADLESS-1 mode --custom $1@${hertz}Hz"
    [[ $(output_size) == "$1" ]] || fail "sway did not take the size $1; see $logs/sway.log"
}

turn_with() {
    [[ $1 == sway ]] || fail "only sway's screen can be turned so; see resize for mutter's"
    in_desktop timeout 10 swaymsg -q "output HEADLESS-1 transform $2"
}

output_size() {
    in_desktop timeout 5 swaymsg -r -t get_outputs |
        jq -r '.[] | select(.name == "HEADLESS-1") | .current_mode | "\(.width)x\(.height)"'
}

# A virtual monitor has one mode, but can be turned. The end of every recording session goes with it.
resize_mutter() {
    local screen serial mode transform state
    screen=$(<"$run/screen")
    case $1 in
    "${screen%@*}") transform=0 ;;
    "$(turned "${screen%@*}")") transform=1 ;;
    *) fail "mutter's screen of ${screen%@*} can only be turned, to $(turned "${screen%@*}")" ;;
    esac
    state=$(display_config GetCurrentState) || fail "mutter does not answer; see $logs/mutter.log"
    [[ $state =~ ^\(uint32\ ([0-9]+), ]] && serial=${BASH_REMATCH[1]} &&
        [[ $state =~ \'([0-9]+x[0-9]+@[0-9.]+)\' ]] && mode=${BASH_REMATCH[1]} || fail "mutter's state is not understood: $state"
    display_config ApplyMonitorsConfig "$serial" 1 \
        "[(0, 0, 1.0, uint32 $transform, true, [('Meta-0', '$mode', @a{sv} {})])]" '@a{sv} {}' >/dev/null ||
        fail "mutter did not take the size $1; see $logs/mutter.log"
}

turned() { echo "${1#*x}x${1%x*}"; }

display_config() {
    in_desktop gdbus call --session --timeout 10 --dest org.gnome.Mutter.DisplayConfig \
        --object-path /org/gnome/Mutter/DisplayConfig --method "org.gnome.Mutter.DisplayConfig.$1" -- "${@:2}"
}
