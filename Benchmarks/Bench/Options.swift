import ArgumentParser
import Foundation
import TestSupport

/// The options of all parts.
struct Options: ParsableArguments {
    @Option(help: "How often each is measured, in turns.")
    var rounds = 5

    @Option(help: "Length of each measurement, s: even, for a keyframe comes every 2 s and is dear.")
    var seconds = 4

    @Option(
        parsing: .upToNextOption,
        help:
            "Only cases and contenders with one of these names or, if there are none, with it in their names: 1280x720-30, heliograph."
    )
    var only: [String] = []

    @Option(help: "The folder for the measurements, one file for each part.")
    var results = ".build/bench"

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes 1 or more.") }
        // Then all contenders' measurements have the same number of keyframes.
        guard seconds > 0, seconds.isMultiple(of: 2) else { throw ValidationError("--seconds takes even numbers.") }
    }

    var resultsFolder: URL { URL(fileURLWithPath: results, relativeTo: Programs.repository) }

    /// Whether `--only` selects `name`. Cases and contenders are matched separately.
    func wants(_ name: String, among all: [String]) -> Bool {
        let meant = only.filter { word in all.contains { $0.contains(word) } }
        return meant.isEmpty || meant.contains { word in all.contains(word) ? name == word : name.contains(word) }
    }
}

/// Reports progress on standard error.
func log(_ text: String) {
    FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
}
