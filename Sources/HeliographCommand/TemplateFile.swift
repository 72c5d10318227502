import Access
import CommandSupport
import HeliographAPI
import HeliographClient
import NIOCore
import Program

/// A PNG file that waits compare the screen with.
struct TemplateFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    let path: String
    private let bytes: [UInt8]

    /// Reads the file.
    init(path: String) throws(CommandError) {
        self.path = path
        let bytes = try ReadFile.bytes(
            of: path,
            "the template",
            limit: Routes.maximumTemplate,
            advice: "has more than 1 MiB: cut a smaller part out of a snapshot"
        )
        guard bytes.starts(with: Self.signature) else {
            throw .failed("the template \(path) is not a PNG: `heliograph snapshot --output screen.png` writes one")
        }
        self.bytes = bytes
    }

    /// Returns whether an argument is a file's path. A template's name contains neither dots nor slashes.
    static func isPath(_ argument: String) -> Bool { argument.contains { $0 == "." || $0 == "/" } }

    /// The file's name without its extension. Characters that a template's name cannot contain become `-`.
    var stem: String {
        let name = path.split(separator: "/").last ?? ""
        let stem = name.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(separator: "-")
        return String(stem.map { String($0).isName ? $0 : "-" }.prefix(40))
    }

    /// A name derived from the contents, so that a changed file has a different one.
    var contentName: String { "\(stem)-\(Hexadecimal.text(of: SHA256.hash(bytes).prefix(6)))" }

    /// Uploads the file as a template of the device.
    func upload(as name: String, to device: String, _ client: RelayClient) async throws
        -> Answer<TemplateReport>
    {
        try await client.answer(
            to: Routes.putTemplate,
            at: .named(name, of: device),
            upload: ByteBuffer(bytes: bytes)
        )
    }

    /// Uploads the file under its ``contentName``, unless the device already has it.
    ///
    /// - Returns: The name.
    func uploadOnce(to device: String, _ client: RelayClient) async throws -> String {
        let templates = try await client.report(of: Routes.listTemplates, at: .device(device)).templates
        if !templates.contains(where: { $0.name == contentName }) {
            _ = try await upload(as: contentName, to: device, client)
        }
        return contentName
    }
}
