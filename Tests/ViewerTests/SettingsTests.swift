import Foundation
import SystemPackage
import TestSupport
import Testing
import Viewer

@Suite("Settings of the viewer")
struct SettingsTests {
    @Test("are kept for each relay; a damaged file counts as none")
    func kept() throws {
        let scratch = try Scratch()
        let file = ViewerSettingsFile(path: FilePath(scratch.folder.path + "/heliograph/view.json"))
        var settings = ViewerSettings()
        (settings.volume, settings.isMuted) = (0.5, true)
        (settings.width, settings.height) = (800, 600)
        try file.set(settings, of: "http://one:8420")
        #expect(file.settings(of: "http://one:8420") == settings)
        #expect(file.settings(of: "http://other:8420") == ViewerSettings())
        let partial = #"{"http://one:8420": {"volume": 1e300, "width": 99999999999, "height": 5, "isMuted": true}}"#
        try Data(partial.utf8).write(to: URL(fileURLWithPath: scratch.folder.path + "/heliograph/view.json"))
        var read = ViewerSettings()
        read.isMuted = true
        #expect(file.settings(of: "http://one:8420") == read)
        try Data("{".utf8).write(to: URL(fileURLWithPath: scratch.folder.path + "/heliograph/view.json"))
        #expect(file.settings(of: "http://one:8420") == ViewerSettings())
        try file.set(settings, of: "http://one:8420")
        #expect(file.settings(of: "http://one:8420") == settings)
    }
}
