import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Files that others write")
struct FileTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("are read up to a bound and not beyond", arguments: [0, 1, 999, 1000, 1001, 200_000])
    func bound(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let path = FilePath(try scratch.write(bytes, to: "file").path)
        for bound in [1000, 150_000, 200_000] {
            if size > bound {
                #expect(throws: Errno.fileTooLarge) { try BoundedFile.read(path, atMost: bound) }
            } else {
                #expect(try BoundedFile.read(path, atMost: bound) == bytes)
            }
        }
        #expect(throws: Errno.fileTooLarge) { try BoundedFile.read("/dev/zero", atMost: 100_000) }
    }

    @Test("with a secret are not read when others may read or write them", arguments: [0o600, 0o640, 0o604, 0o602])
    func secret(mode: Int) throws {
        let url = try scratch.write([1], to: "file")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        let path = FilePath(url.path)
        if mode & 0o007 == 0 {
            #expect(try BoundedFile.read(path, atMost: 1, isSecret: true) == [1])
        } else {
            #expect(throws: BoundedFile.Exposed.self) { try BoundedFile.read(path, atMost: 1, isSecret: true) }
            #expect(try BoundedFile.read(path, atMost: 1) == [1])
        }
    }

    @Test("a look reports each change once, and again if reading failed")
    func watch() throws {
        let paths = ["a", "b"].map { scratch.file($0).path }
        var files = WatchedFiles(paths)
        /// Returns the results of two looks in a row.
        func looks() -> [Bool] { [files.look(), files.look()] }
        #expect(looks() == [false, false])
        for name in ["a", "b", "a"] {
            _ = try scratch.write(Array(UUID().uuidString.utf8), to: name)
            #expect(looks() == [true, false], "\(name) is written")
        }
        files.readAgain()
        #expect(looks() == [true, false])
        try FileManager.default.removeItem(atPath: paths[1])
        #expect(looks() == [true, false], "b is gone")
    }
}
