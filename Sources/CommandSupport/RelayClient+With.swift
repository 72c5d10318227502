package import HeliographClient

extension RelayClient {
    /// Runs `body` with a client for the relay at `address`.
    ///
    /// - Parameters:
    ///   - silence: How long an answer may pause, also before it begins; `nil` for no limit.
    ///   - asks: Whether a person at the terminal may be asked about the relay's certificate.
    package static func with(
        _ address: RelayAddress,
        silence: Duration? = nil,
        asks: Bool = true,
        _ body: (RelayClient) async throws -> Void
    ) async throws { try await with(try address.target(), silence: silence, asks: asks, body) }

    /// Runs `body` with a client for a relay, likewise.
    package static func with(
        _ target: RelayTarget,
        silence: Duration? = nil,
        asks: Bool = true,
        _ body: (RelayClient) async throws -> Void
    ) async throws {
        let target = asks ? try await FirstUse.confirmed(target) : target
        let client = RelayClient(target, silence: silence)
        let result: Result<Void, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.shutDown()
        try result.get()
    }
}
