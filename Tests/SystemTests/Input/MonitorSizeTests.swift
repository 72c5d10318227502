import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of monitors that take another size.
    @Suite("A monitor's size")
    struct MonitorSizeTests {
        private func expectSizes(_ desktop: Desktop, _ source: RelayProcess.Object) async throws {
            try await SystemTests.withBroadcast(of: desktop, source: source) { desktop, relay in
                let following = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let scaled = try await relay.startSession(["fps": 30, "framing": "scrcpy", "width": 320, "height": 240])
                let viewers = try [following, scaled].map(SystemTests.viewer)
                for viewer in viewers { try await SystemTests.waitForPictures(5, at: viewer) }
                let input = try await eventually("what the agent can do") {
                    let input = try await relay.get("/screencapture/broadcast")["input"] as? RelayProcess.Object
                    return input?["resize"] as? Bool == true ? input : nil
                }
                #expect(input["backend"] as? String != "none")
                for size in [PictureSize(width: 1000, height: 620), PictureSize(width: 640, height: 480)] {
                    let body: RelayProcess.Object = ["resize": ["width": size.width, "height": size.height]]
                    let answer = try desktop.callActions("POST", body, of: relay)
                    #expect(answer.status == 200, "\(answer)")
                    // On a busy machine the reports may follow the answer.
                    for path in ["broadcast", "\(following.integer("id"))"] {
                        _ = try await eventually("the size in \(path)") {
                            let answer = try await relay.get("/screencapture/\(path)")
                            let shown = path == "broadcast" ? answer.object("source") : answer
                            return shown.integer("width") == size.width && shown.integer("height") == size.height
                                ? true : nil
                        }
                    }
                    for viewer in viewers { try await SystemTests.waitForPictures(5, at: viewer) }
                    // Places are those of the new size.
                    let corner: RelayProcess.Object = ["x": size.width - 1, "y": size.height - 1]
                    let click = try desktop.callActions(
                        "POST",
                        ["click": corner, "session": "\(following.integer("id"))"],
                        of: relay
                    )
                    #expect(click.status == 200, "\(click)")
                }
                let small = try await relay.get("/screencapture/\(scaled.integer("id"))")
                #expect(small.integer("width") == 320 && small.integer("height") == 240)
                #expect(viewers.allSatisfy { !$0.current.isClosed })
                let pictures = try FFmpeg.decodeLuma(
                    h264: viewers[0].stream,
                    size: PictureSize(width: 640, height: 480)
                )
                #expect(pictures.count >= 15)
            }
        }

        @Test("changes on sway, through the portal", .timeLimit(.minutes(2)))
        func sway() async throws { try await expectSizes(Desktop(.sway), ["kind": "portal"]) }

        @Test("changes on sway, by screenshots", .timeLimit(.minutes(2)))
        func screenshots() async throws { try await expectSizes(Desktop(.sway), ["kind": "screenshot"]) }

        @Test("changes if Mutter has made it for the source", .timeLimit(.minutes(2)))
        func mutter() async throws {
            try await expectSizes(Desktop(.mutter), ["kind": "mutter", "width": 1280, "height": 720])
        }

        @Test("stays if it is Mutter's own", .timeLimit(.minutes(2)))
        func fixed() async throws {
            try await SystemTests.withBroadcast(of: Desktop(.mutter), source: ["kind": "mutter"]) { desktop, relay in
                let body: RelayProcess.Object = ["resize": ["width": 640, "height": 480]]
                let answer = try await eventually("the refusal") {
                    let answer = try desktop.callActions("POST", body, of: relay)
                    return answer.code == "no_source" ? nil : answer
                }
                #expect(answer.status == 409 && answer.code == "no_input", "\(answer)")
                let shown = try await relay.get("/screencapture/broadcast").object("source")
                #expect(shown.integer("width") == 1280 && shown.integer("height") == 720)
            }
        }
    }
}
