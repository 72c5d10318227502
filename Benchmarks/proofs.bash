# shellcheck shell=bash
# What the scripts verify-client, verify-input and verify-sound have in common.

# run_proofs FOLDER [ARGUMENT…]: runs Benchmarks/FOLDER/proof.py on built programs. --programs may name their folder.
run_proofs() {
    local name=${0##*/} folder=$1 called_from=$PWD programs=.build/release program arguments=()
    shift
    cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
    while (($# > 0)); do
        case $1 in
        --programs)
            (($# >= 2)) || {
                echo "$name: --programs needs a folder" >&2
                exit 64
            }
            programs=$(cd "$called_from" && readlink -f "$2")
            shift
            ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
    Scripts/packages desktop peers
    for program in heliograph-relay capture-agent heliograph; do
        [[ -x $programs/$program ]] || {
            echo "$name: build first: Scripts/build-all" >&2
            exit 1
        }
    done
    # Debian's own Python has the packages av and numpy. What the proofs share is with those of input.
    exec env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Benchmarks/Input \
        /usr/bin/python3 "Benchmarks/$folder/proof.py" --programs "$programs" "${arguments[@]}"
}
