import Foundation

extension Desktop {
    /// Lets the program act that asks the portal.
    ///
    /// - Parameters:
    ///   - devices: 1 keyboard, 2 pointer, 4 touch screen, and their sums.
    ///   - size: The size of the shared screen; `nil` for the desktop's.
    package func grant(devices: Int = 7, size: String? = nil) throws {
        try command("remote", ["grant", String(devices)] + (size.map { [$0] } ?? []))
    }

    /// Refuses what a program asks the portal.
    package func refuse() throws { try command("remote", ["cancel"]) }

    /// Ends what was granted, as a person does who stops sharing.
    package func endGrant() throws { try command("remote", ["end"]) }

    /// Returns the calls that the portal's backend got so far: the method and its arguments without the session.
    package func remoteCalls() throws -> [[String]] {
        let log = try String(contentsOf: directory.appendingPathComponent("run/remote.log"), encoding: .utf8)
        // The last line may be half written.
        let lines = log.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.map { line in
            line.split(separator: " ").dropFirst().map(String.init).filter { !$0.contains("/session/") && $0 != "{}" }
                .map { $0.replacing("dbus.Double(", with: "").replacing(")", with: "") }
        }
    }

    /// Returns the events that the portal's backend got so far, without `Notify`.
    package func remoteEvents() throws -> [[String]] {
        try remoteCalls().filter { $0.first?.hasPrefix("Notify") == true }
            .map { [String($0[0].dropFirst("Notify".count))] + $0.dropFirst() }
    }
}
