import Access
import Files
import FoundationEssentials
package import HeliographAPI
import SystemPackage

/// An address that the relay sends events to.
package struct Webhook: Sendable, Equatable {
    package let name: String
    package let url: String
    /// The types of events that it gets; `nil` for all.
    package let kinds: Set<EventReport.Kind>?
    /// The device whose events it gets; `nil` for all devices and the relay.
    package let device: String?
    package let secret: Secret

    /// Checks the settings of a webhook.
    ///
    /// - Parameter devices: The names of the relay's devices.
    /// - Throws: ``RelayStartError``
    package init(_ settings: WebhookSettings, devices: [String]) throws(RelayStartError) {
        if let device = settings.device, !devices.contains(device) {
            throw .webhookDevice(webhook: settings.name, device: device)
        }
        name = settings.name
        url = settings.url
        kinds = settings.kinds
        device = settings.device
        secret = try Secret(file: settings.secretFile, of: settings.name)
    }

    /// The key that messages to a webhook are signed with, as `whsec_` and the key in Base64
    /// (Standard Webhooks 1.0.0, https://www.standardwebhooks.com).
    package struct Secret: Sendable, Equatable, CustomStringConvertible {
        private static let prefix = "whsec_"
        /// The allowed lengths of a key, bytes.
        private static let length = 24...64
        /// Longest file, bytes.
        private static let longestFile = 1024
        private static let allowed = "\(prefix) and \(length.lowerBound) to \(length.upperBound) bytes in Base64"

        private let key: [UInt8]

        /// Parses a secret. White space around it is ignored; other text returns `nil`.
        package init?(_ text: String) {
            let words = text.split { $0.isWhitespace }
            guard words.count == 1, let word = words.first, word.hasPrefix(Self.prefix),
                let key = Data(base64Encoded: String(word.dropFirst(Self.prefix.count))),
                Self.length.contains(key.count)
            else { return nil }
            self.key = Array(key)
        }

        /// Reads the file at `path`. Other users than its owner and group must not be able to read it.
        ///
        /// - Throws: ``RelayStartError/webhookSecret(webhook:path:reason:)``
        init(file path: String, of webhook: String) throws(RelayStartError) {
            let bytes: [UInt8]
            do {
                bytes = try BoundedFile.read(FilePath(path), atMost: Self.longestFile, isSecret: true)
            } catch {
                throw .webhookSecret(webhook: webhook, path: path, reason: "\(error)")
            }
            guard let secret = Self(String(decoding: bytes, as: UTF8.self)) else {
                let make = "make one with `echo \"\(Self.prefix)$(openssl rand -base64 32)\"`"
                throw .webhookSecret(webhook: webhook, path: path, reason: "it must be \(Self.allowed); \(make)")
            }
            self = secret
        }

        /// A fixed text without the key, so that logs never show it.
        package var description: String { "a webhook's secret" }

        /// Returns the header fields of a message.
        ///
        /// - Parameter time: When it is sent, in s since 1970.
        package func headers(of body: String, id: String, time: Int) -> [(name: String, value: String)] {
            let code = SHA256.authenticationCode(of: Array("\(id).\(time).\(body)".utf8), key: key)
            return [
                ("webhook-id", id), ("webhook-timestamp", "\(time)"),
                ("webhook-signature", "v1,\(Data(code).base64EncodedString())"),
            ]
        }
    }
}

/// A webhook in the configuration file.
package struct WebhookSettings: Sendable, Equatable {
    package let name: String
    package let url: String
    package let secretFile: String
    package let kinds: Set<EventReport.Kind>?
    package let device: String?

    package init(
        name: String,
        url: String,
        secretFile: String,
        kinds: Set<EventReport.Kind>? = nil,
        device: String? = nil
    ) {
        self.name = name
        self.url = url
        self.secretFile = secretFile
        self.kinds = kinds
        self.device = device
    }
}
