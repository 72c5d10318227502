import HeliographAPI
import Media
import Relay
import Testing
import Wire

@Suite("A session's change")
struct SessionChangeTests {
    private static let request: SessionRequest = {
        var request = SessionRequest()
        request.size = RequestedSize(width: 1280, height: 720, maxPixels: 1_000_000)
        request.encoder = "x264"
        request.label = "kept"
        return request
    }()

    private func change(_ body: JSONValue) throws -> SessionChange {
        guard case .object(let members) = body else { preconditionFailure("a body is an object") }
        return try SessionChange(reading: members)
    }

    @Test("leaves what it does not name")
    func leavesTheRest() throws {
        let changed = try change(["bitrate": 2_000_000, "width": 641]).applied(to: Self.request)
        var expected = Self.request
        expected.bitrate = 2_000_000
        expected.size.width = 640
        #expect(changed == expected)
        #expect(
            changed.update(from: Self.request)
                == SessionUpdate(
                    bitrate: 2_000_000,
                    size: RequestedSize(width: 640, height: 720, maxPixels: 1_000_000)
                )
        )
    }

    @Test("takes bounds of the size away with null")
    func takesBoundsAway() throws {
        let change = try change(["width": nil, "height": nil, "maxPixels": nil])
        #expect(change.applied(to: Self.request).size == RequestedSize())
    }

    @Test("changes how the session is watched without telling the agent")
    func watching() throws {
        let changed = try change(["join": "live", "onDemand": true]).applied(to: Self.request)
        var expected = Self.request
        expected.join = .live
        expected.onDemand = true
        #expect(changed == expected)
        #expect(changed.update(from: Self.request) == nil)
        #expect(try change(["fps": 1]).applied(to: changed).onDemand)
        for body in [["join": "now"], ["onDemand": 1], ["onDemand": nil]] as [JSONValue] {
            #expect(throws: FieldIssues.self) { try change(body) }
        }
    }

    @Test(
        "tells the agent nothing when it changes nothing",
        arguments: [[:], ["fps": 30], ["bitrate": 6_000_000, "height": 721, "maxPixels": 1_000_000]] as [JSONValue]
    )
    func changesNothing(body: JSONValue) throws {
        let changed = try change(body).applied(to: Self.request)
        #expect(changed == Self.request)
        #expect(changed.update(from: Self.request) == nil)
    }

    @Test(
        "makes the agent's parameters what they would be after a start",
        arguments: [["fps": 60], ["bitrate": 50_000], ["width": nil], ["height": 360, "fps": 1]] as [JSONValue]
    )
    func agreesWithAStart(body: JSONValue) throws {
        let changed = try change(body).applied(to: Self.request)
        let update = try #require(changed.update(from: Self.request))
        let updated = update.applied(to: parameters(of: Self.request))
        #expect(updated == parameters(of: changed))
    }

    private func parameters(of request: SessionRequest) -> SessionParameters {
        SessionParameters(
            codec: request.codec,
            size: request.size,
            fps: request.fps,
            bitrate: request.bitrate,
            repeat: true,
            keyframeInterval: 2000,
            epoch: 0
        )
    }
}
