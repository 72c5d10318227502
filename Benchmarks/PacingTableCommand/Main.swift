import PacingSimulation

/// Prints the table of docs/pacing.md; Scripts/pacing-table puts it there.
@main
enum Main {
    static func main() {
        print(PacingTable.markdown(), terminator: "")
    }
}
