import CaptureAgent
import Foundation
import Testing

@Suite("The portal's restore token")
struct RestoreTokenFileTests {
    private let directory = NSTemporaryDirectory() + "heliograph-token-\(UUID().uuidString)"

    @Test("is kept for its owner alone, replaced whole, and forgotten")
    func keeping() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = RestoreTokenFile(stateDirectory: directory, device: "default")
        #expect(file.read() == nil)
        #expect(file.write("a long first token") == nil)
        #expect(file.write("second") == nil)
        #expect(file.read() == "second")
        let path = directory + "/default/restore-token"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/default") == ["restore-token"])
        file.remove()
        #expect(file.read() == nil)
    }

    @Test("a file that cannot be written is reported, not ignored")
    func unwritable() {
        let file = RestoreTokenFile(stateDirectory: "/proc/heliograph", device: "default")
        #expect(file.write("token")?.contains("/proc/heliograph") == true)
    }
}
