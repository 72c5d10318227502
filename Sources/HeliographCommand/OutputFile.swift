import SystemPackage

extension SystemPackage.FileDescriptor {
    /// Opens `path` for a recording, replacing what is there.
    static func output(_ path: String) throws(CommandError) -> SystemPackage.FileDescriptor {
        do {
            return try .open(
                FilePath(path),
                .writeOnly,
                options: [.create, .truncate],
                permissions: [.ownerReadWrite, .groupRead, .otherRead]
            )
        } catch {
            throw .failed("cannot write \(path): \(error)")
        }
    }
}
