import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A session")
struct SessionTests {
    @Test("has documented defaults")
    func hasDefaults() async throws {
        try await RunningRelay.run { relay in
            let answer = try await relay.post("/screencapture/start")
            #expect(answer.status == 201)
            let session = answer.json
            #expect(session["id"] == 1)
            #expect(session["device"] == "default")
            #expect(session["codec"] == "h264")
            #expect(session["requestedEncoder"] == "auto")
            #expect(session["framing"] == "annexb")
            #expect(session["fps"] == 30)
            #expect(session["bitrate"] == 6_000_000)
            #expect(session["repeat"] == true)
            #expect(session["keyframeInterval"] == 2)
            for name in [
                "width", "height", "maxPixels", "ttl", "label", "encoder", "encoderReason", "encoderRestarts",
                "orientation", "error", "rates",
            ] {
                #expect(session[name] == .null, "\(name)")
            }
            #expect(session["feed"] == "none")
            #expect(session["viewers"] == 0)
        }
    }

    @Test("is as it was asked for, under any of the names of codec and framing")
    func isAsAskedFor() async throws {
        try await RunningRelay.run { relay in
            let body: JSONValue = [
                "width": 853, "height": .number(481.0), "codec": "AVC", "framing": "Packetized", "bitrate": 50_000,
                "fps": 240, "repeat": false, "keyframeInterval": .number(0.2), "maxPixels": 256, "label": "a \"label\"",
                "ttl": 86_400, "device": "default",
            ]
            let session = try await relay.post("/screencapture/start", body).json
            #expect(session["width"] == 852)
            #expect(session["height"] == 480)
            #expect(session["codec"] == "h264")
            #expect(session["framing"] == "scrcpy")
            #expect(session["bitrate"] == 50_000)
            #expect(session["fps"] == 240)
            #expect(session["repeat"] == false)
            #expect(session["keyframeInterval"] == .number(0.2))
            #expect(session["maxPixels"] == 256)
            #expect(session["label"] == "a \"label\"")
            #expect(session["ttl"] == 86_400)
        }
    }

    @Test("is encoded as it was asked for", arguments: ["h265", "HEVC", "H265"])
    func isEncodedAsAskedFor(codec: String) async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            let session = try await relay.startSession(["codec": .string(codec), "encoder": "hevc_vaapi"])
            let parameters = try await link.first {
                if case .sessionAdd(session.id, let parameters) = $0 { parameters } else { nil }
            }
            #expect(parameters.codec == .h265)
            #expect(parameters.encoder == "hevc_vaapi")
            let status = try await relay.session(session.id)
            #expect(status["codec"] == "h265")
            #expect(status["requestedEncoder"] == "hevc_vaapi")
            #expect(status["encoder"] == .null, "not before the agent says so")
        }
    }

    @Test("takes the first free port from the base when it names none")
    func takesTheFirstFreePort() async throws {
        try await RunningRelay.run { relay in
            // Two adjacent ports that were free a moment ago.
            let probe = try await relay.startSession()
            let base = probe.port
            try await RunningRelay.run {
                $0.sessionPortBase = base
            } _: { other in
                let session = try await other.startSession()
                #expect(session.port > base)
            }
        }
    }

    @Test("is listed in the order of ids, and all are stopped at once")
    func isListed() async throws {
        try await RunningRelay.run { relay in
            for _ in 0..<3 { _ = try await relay.startSession() }
            guard case .array(let sessions) = try await relay.get("/screencapture").json["sessions"] else {
                Issue.record("sessions are expected")
                return
            }
            #expect(sessions.map { $0["id"] } == [1, 2, 3])
            #expect(try await relay.post("/screencapture/stop").json == ["stopped": 3])
            #expect(try await relay.get("/screencapture").json == ["sessions": []])
        }
    }

    @Test("without viewers and calls ends after its ttl, even if it is listed or read; a viewer keeps it alive")
    func endsAfterItsTTL() async throws {
        try await RunningRelay.run { relay in
            let kept = try await relay.startSession(["ttl": 1])
            let viewer = try await ByteClient(port: kept.port)
            try await relay.waitForViewers(1, of: kept.id)
            let idle = try await ByteClient(port: try await relay.startSession(["ttl": 1]).port)
            try await idle.close()
            _ = try await eventually("the idle session's end") { () -> Bool? in
                guard case .array(let sessions) = try await relay.get("/screencapture").json["sessions"] else {
                    return nil
                }
                _ = try await relay.broadcast()
                let glance = try await relay.get("/screencapture/2/snapshot.jpg?use=false")
                return glance.code == "unknown_session" && sessions.count == 1 ? true : nil
            }
            #expect(try await relay.session(kept.id)["viewers"] == 1)
            try await viewer.close()
        }
    }

    @Test("passes a keyframe request on; the keyframe that echoes it answers it")
    func passesAKeyframeRequestOn() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["repeat": false])
            let early = try await relay.post("/screencapture/\(session.id)/keyframe")
            #expect(early.status == 409)
            #expect(early.code == "no_source")
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            let answer = try await relay.post("/screencapture/\(session.id)/keyframe")
            #expect(answer.status == 202)
            #expect(answer.json == ["id": 1, "request": 2], "the first asked for the session's first picture")
            let request = try await link.first { if case .keyframeRequest(session.id, let id) = $0 { id } else { nil } }
            #expect(request == 2)
            #expect(try await relay.post("/screencapture/\(session.id)/keyframe").json["request"] == 2)
            try await link.send([SampleStream.accessUnit(1, key: true, request: 2)], session: session.id)
            _ = try await eventually("the next request") {
                try await relay.post("/screencapture/\(session.id)/keyframe").json["request"] == 3 ? true : nil
            }
        }
    }

    @Test("that the agent cannot serve says why, until pictures come")
    func saysWhyItFails() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(
                .sessionError(session.id, SessionFailure(code: .encoderRefused, reason: "x264 cannot open"))
            )
            _ = try await eventually("the error") {
                try await relay.session(session.id)["error"] == "x264 cannot open" ? true : nil
            }
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            _ = try await eventually("recovery") {
                try await relay.session(session.id)["error"] == .null ? true : nil
            }
        }
    }

    @Test("survives the end of the broadcast")
    func survivesTheBroadcast() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            async let stop = relay.post("/screencapture/broadcast/stop")
            _ = try await link.first { if case .stop = $0 { true } else { nil } }
            // On a busy machine the relay may have timed out.
            try? await link.close()
            #expect(try await stop.status == 200)
            #expect(try await relay.session(session.id)["feed"] == "none")
        }
    }
}
