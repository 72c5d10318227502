# shellcheck shell=bash
# Producers: the counter as a PipeWire node without a compositor.

# producer_start NAME [OPTION…]
producer_start() {
    local name=$1 size=1280x720 fps=60 format=BGRx last=() by=gstreamer buffers=()
    shift
    parse_producer "$@"
    ! is_running "producer-$name" || fail "the producer $name is running already"
    local path
    if [[ $by == gstreamer ]]; then
        check_producer_requirements
        path=$(tool counter-frames)
        stage "$path"
        launch "producer-$name" gstreamer "$size" "$fps" "$format" "${last[@]}"
    else
        path=$(tool counter-node)
        stage "$path"
        launch "producer-$name" node "$size" "$fps" "${last[@]}" "${buffers[@]}"
    fi
    await "producer-$name"
    producer_node "$name"
}

parse_producer() {
    while (($# > 0)); do
        if [[ $1 == --buffers ]]; then
            by=node buffers=("${@:2}")
            [[ $format == BGRx && ${last[*]} != --stop-at* ]] || usage_error "--buffers goes with BGRx and --hold-at only"
            return
        fi
        [[ $1 =~ ^--(size|fps|format|stop-at|hold-at)$ ]] || usage_error "unknown argument '$1'"
        (($# >= 2)) || usage_error "$1 needs a value"
        case $1 in
        --size)
            check_size "$2"
            ((${2%x*} >= 24 && ${2#*x} >= 12)) || usage_error "the counter does not fit into $2"
            size=$2
            ;;
        --fps) [[ $2 =~ ^[1-9][0-9]{0,2}$ ]] && fps=$2 || usage_error "'$2' is not a rate from 1 to 999" ;;
        --format) [[ $2 =~ ^(BGRx|RGBx|BGRA|RGBA)$ ]] && format=$2 || usage_error "there is no format '$2'" ;;
        --stop-at | --hold-at)
            ((${#last[@]} == 0)) || usage_error "only one of --stop-at and --hold-at"
            [[ $2 =~ ^[0-9]{1,7}$ ]] && last=("$1" "$2") || usage_error "'$2' is not a counter's value"
            ;;
        esac
        shift 2
    done
}

check_producer_requirements() {
    local missing=()
    type -P gst-launch-1.0 >/dev/null || missing+=(gst-launch-1.0)
    type -P pw-dump >/dev/null || missing+=(pw-dump)
    gstreamer_plugin pipewire >/dev/null || missing+=("GStreamer's PipeWire elements")
    gstreamer_plugin rawparse >/dev/null || missing+=("GStreamer's base plug-ins")
    ((${#missing[@]} == 0)) || fail "missing: ${missing[*]}; Scripts/packages desktop installs them"
}

gstreamer_plugin() {
    local file
    for file in /usr/lib/*/gstreamer-1.0/"libgst$1.so" /usr/lib*/gstreamer-1.0/"libgst$1.so"; do
        if [[ -e $file ]]; then
            echo "$file"
            return
        fi
    done
    return 1
}

# producer_command NAME gstreamer SIZE FPS FORMAT [--stop-at|--hold-at N]
# producer_command NAME node SIZE FPS [OPTION…]: sets `command`.
producer_command() {
    local name=$1 by=$2
    shift 2
    case $by in
    gstreamer) gstreamer_command "$name" "$@" ;;
    node) command=("$directory/bin/counter-node" "$name" "${1%x*}" "${1#*x}" "${@:2}") ;;
    esac
}

# gstreamer_command NAME SIZE FPS FORMAT [--stop-at|--hold-at N]: one process of GStreamer, with the painter
# as its child. The painter ends when nobody reads. The queue drops the older picture when PipeWire cannot
# take one: a producer never delivers late.
#
# Like most pipelines, it names no buffer size. If the consumer names none either, it gets buffers without memory, and
# the sink of PipeWire 0.3.65 crashes because of them.
gstreamer_command() {
    local name=$1 width=${2%x*} height=${2#*x} fps=$3 format=$4
    local pipeline=(
        fdsrc fd=0 do-timestamp=true "blocksize=$((width * height * 4))"
        ! rawvideoparse "width=$width" "height=$height" "format=${format,,}" "framerate=$fps/1"
        ! queue leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0
        ! pipewiresink mode=provide sync=false
        "stream-properties=props,media.class=Video/Source,media.role=Screen,node.name=$name,node.description=$name"
    )
    # Only the plug-ins it uses: a fresh home directory would have it look into all there are.
    mkdir -p "$run/gstreamer"
    local plugin
    for plugin in coreelements pipewire rawparse; do
        ln -sf "$(gstreamer_plugin "$plugin")" "$run/gstreamer/"
    done
    # shellcheck disable=SC2016  # It is the inner shell that expands them.
    command=(env "GST_PLUGIN_SYSTEM_PATH_1_0=$run/gstreamer" GST_REGISTRY_FORK=no
        bash -c 'painter=("${@:2:$1}"); exec gst-launch-1.0 --no-fault "${@:2+$1}" < <(exec "${painter[@]}")' producer
        "$((6 + $# - 4))" "$directory/bin/counter-frames" "$width" "$height" "$fps" --format "$format" "${@:5}" "${pipeline[@]}")
}

# producer_node NAME: one line of JSON, or nothing if there is no such node. PipeWire may still list a node that was
# killed a moment ago.
producer_node() {
    in_desktop timeout 5 pw-dump 2>/dev/null | jq -c --arg name "$1" '
        [.[] | select(.type == "PipeWire:Interface:Node" and .info.props["node.name"] == $name and .info["n-output-ports"] > 0)]
        | last // empty | {id, serial: .info.props["object.serial"], name: $name}'
}

producer_end() {
    is_running "producer-$1" || fail "no producer $1 is running"
    end_part "producer-$1" "$2"
    wait_until 5 producer_is_gone "$1" || fail "the node of $1 is still there"
}

producer_is_gone() { [[ -z $(producer_node "$1") ]]; }
