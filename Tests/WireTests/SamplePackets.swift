import Media
import Program
import Testing
import Wire

/// One packet of every type with its bytes, which have been the same since version 1 of the protocol.
enum SamplePackets {
    struct Frozen: Sendable, CustomTestStringConvertible {
        let packet: Packet
        /// The header in hexadecimal.
        let header: String
        let body: [UInt8]

        var bytes: [UInt8] { hex(header) + body }
        var testDescription: String { "\(packet.type)" }

        init(_ packet: Packet, _ header: String, hex body: String) {
            self.init(packet, header, body: SamplePackets.hex(body))
        }

        init(_ packet: Packet, _ header: String, json: String) {
            self.init(packet, header, body: Array(json.utf8))
        }

        private init(_ packet: Packet, _ header: String, body: [UInt8]) {
            self.packet = packet
            self.header = header
            self.body = body
        }
    }

    private static let withAAC = {
        var tracks = DeviceTracks([MediaTrack(id: 2, coding: .aac(.stereo))])
        (tracks.encodesAAC, tracks.aacProblem) = (false, "no")
        return tracks
    }()
    private static let stereo = MediaTrack(id: 1, coding: .opus(OpusParameters(channels: 2, preSkip: 312)!))

    static let relayToAgent = [
        Frozen(
            .welcome(Welcome(heartbeatInterval: 2000, maximumQueuedMedia: 1000)),
            "484C4757 01 01 0000 00000000 00000034",
            json: #"{"heartbeatInterval":2000,"maximumQueuedMedia":1000}"#
        ),
        Frozen(
            .reject(Reject(code: .wrongToken, reason: "no")),
            "484C4757 01 02 0000 00000000 00000024",
            json: #"{"code":"wrong_token","reason":"no"}"#
        ),
        Frozen(
            .sessionAdd(
                7,
                SessionParameters(
                    codec: .h264,
                    encoder: "x264",
                    size: RequestedSize(width: 640, height: 360, maxPixels: 1_000_000),
                    fps: 30,
                    bitrate: 6_000_000,
                    repeat: true,
                    keyframeInterval: 2000,
                    epoch: 123_456_789
                )
            ),
            "484C4757 01 03 0000 00000007 000000C8",
            json:
                #"{"bitrate":6000000,"codec":"h264","encoder":"x264","epoch":123456789,"fps":30,"keyframeInterval":2000,"#
                + #""repeat":true,"size":{"height":360,"maxPixels":1000000,"width":640},"stillKeyframeInterval":10000}"#
        ),
        Frozen(
            .sessionUpdate(7, SessionUpdate(bitrate: 2_000_000, size: RequestedSize(width: 640))),
            "484C4757 01 04 0000 00000007 00000028",
            json: #"{"bitrate":2000000,"size":{"width":640}}"#
        ),
        Frozen(
            .sessionAdd(
                7,
                SessionParameters(
                    codec: .h265,
                    size: RequestedSize(),
                    fps: 30,
                    bitrate: 6_000_000,
                    repeat: true,
                    keyframeInterval: 2000,
                    epoch: 123_456_789,
                    isActive: false
                )
            ),
            "484C4757 01 03 0000 00000007 000000AB",
            json: #"{"active":false,"bitrate":6000000,"codec":"h265","encoder":"auto","epoch":123456789,"fps":30,"#
                + #""keyframeInterval":2000,"repeat":true,"size":{},"stillKeyframeInterval":10000}"#
        ),
        Frozen(
            .sessionUpdate(7, SessionUpdate(isActive: true)),
            "484C4757 01 04 0000 00000007 0000000F",
            json: #"{"active":true}"#
        ),
        Frozen(.sessionRemove(7), "484C4757 01 05 0000 00000007 00000000", hex: ""),
        Frozen(.keyframeRequest(7, request: 258), "484C4757 01 06 0000 00000007 00000004", hex: "00000102"),
        Frozen(
            .snapshotRequest(7, SnapshotRequest(id: 258, format: .png, quality: 85, isFresh: true)),
            "484C4757 01 07 0000 00000007 00000008",
            hex: "00000102 02 55 01 00"
        ),
        Frozen(
            .snapshotRequest(7, SnapshotRequest(id: 258, format: .jpeg, quality: 70, isFresh: false, side: 20)),
            "484C4757 01 07 0000 00000007 00000008",
            hex: "00000102 01 46 00 14"
        ),
        Frozen(
            .stop(Stop(reason: "done")),
            "484C4757 01 08 0000 00000000 00000011",
            json: #"{"reason":"done"}"#
        ),
        Frozen(
            .welcome(
                Welcome(heartbeatInterval: 2000, maximumQueuedMedia: 1000, takesRest: true, takesUnchanged: true)
            ),
            "484C4757 01 01 0000 00000000 0000005B",
            json: #"{"heartbeatInterval":2000,"maximumQueuedMedia":1000,"takesRest":true,"takesUnchanged":true}"#
        ),
        Frozen(
            .rested(7, Rested(slots: 301, inserted: 1, keyframe: 10_033_333_333)),
            "484C4757 01 09 0000 00000007 00000031",
            json: #"{"inserted":1,"keyframe":10033333333,"slots":301}"#
        ),
        Frozen(
            .watch(
                7,
                Watch(
                    id: 258,
                    goal: .static,
                    tolerance: 8,
                    share: 1000,
                    settled: 2000,
                    region: PictureRegion(x: 1, y: 2, width: 640, height: 360),
                    ignored: [PictureRegion(x: 3, y: 4, width: 5, height: 6)]
                )
            ),
            "484C4757 01 0A 0000 00000007 00000020",
            hex: "00000102 02 08 0001 000003E8 000007D0 0001000202800168 0003000400050006"
        ),
        Frozen(
            .watch(
                7,
                Watch(
                    id: 259,
                    goal: .matches,
                    region: PictureRegion(x: 1, y: 2, width: 0, height: 0),
                    template: [0x89, 0x50]
                )
            ),
            "484C4757 01 0A 0000 00000007 0000001A",
            hex: "00000103 03 00 0000 00000000 00000000 0001000200000000 8950"
        ),
        Frozen(.unwatch(7, watch: 258), "484C4757 01 0B 0000 00000007 00000004", hex: "00000102"),
        Frozen(
            .input(7, InputOrder(id: 1, geometry: 2, takesNearest: true, steps: [.releaseAll])),
            "484C4757 01 0C 0000 00000007 0000000D",
            hex: "00000001 00000002 0001 0001 09"
        ),
        Frozen(
            .input(
                7,
                InputOrder(
                    id: 258,
                    geometry: 0x0102_0304,
                    steps: [
                        .pointer(x: 0.5, y: 360),
                        .pointerBy(dx: -1, dy: 65_536),
                        .button(0x110, isDown: true),
                        .scroll(dx: 0, dy: 120),
                        .touch(id: 3, phase: .up, x: 1, y: 2),
                        .key(keysym: 0x0100_20AC, isDown: false),
                        .text("é\n"),
                        .pause(milliseconds: 10_000),
                        .releaseAll, .resize(width: 1280, height: 720),
                    ]
                )
            ),
            "484C4757 01 0C 0000 00000007 0000006D",
            hex: "00000102 01020304 000A 0000"
                + " 01 3FE0000000000000 4076800000000000 02 BFF0000000000000 40F0000000000000 03 0110 01"
                + " 04 0000000000000000 405E000000000000 05 03 03 3FF0000000000000 4000000000000000 06 010020AC 00"
                + " 07 00000003 C3A90A 08 2710 09 0A 0500 02D0"
        ),
        Frozen(
            .welcome(Welcome(heartbeatInterval: 2000, maximumQueuedMedia: 1000, takesInputs: true)),
            "484C4757 01 01 0000 00000000 00000047",
            json: #"{"heartbeatInterval":2000,"maximumQueuedMedia":1000,"takesInputs":true}"#
        ),
        Frozen(
            .clipboard(ClipboardOrder(id: 258, request: .get(.png))),
            "484C4757 01 0D 0000 00000000 00000008",
            hex: "00000102 01 02 0000"
        ),
        Frozen(
            .clipboard(ClipboardOrder(id: 259, request: .set(ClipboardContent(.text, [0xC3, 0xA9])))),
            "484C4757 01 0D 0000 00000000 0000000A",
            hex: "00000103 02 01 0000 C3A9"
        ),
        Frozen(
            .application(
                ApplicationOrder(
                    order: 258,
                    kind: .launch,
                    applications: [LaunchedProcess(id: "8d1f60c2b7a94e35")],
                    launch: ApplicationLaunch(
                        command: ["foot", "-e", "top"],
                        directory: "/home/test",
                        environment: ["LANG": "C"],
                        windowTime: 2500
                    )
                )
            ),
            "484C4757 01 0E 0000 00000000 000000B7",
            json:
                #"{"applications":[{"id":"8d1f60c2b7a94e35"}],"kind":"launch","launch":{"command":["foot","-e","top"],"#
                + #""directory":"/home/test","environment":{"LANG":"C"},"windowTime":2500},"order":258}"#
        ),
        Frozen(
            .application(
                ApplicationOrder(
                    order: 259,
                    kind: .terminate,
                    applications: [
                        LaunchedProcess(id: "8d1f60c2b7a94e35", process: ProcessIdentity(pid: 4711, started: 815))
                    ]
                )
            ),
            "484C4757 01 0E 0000 00000000 00000070",
            json: #"{"applications":[{"id":"8d1f60c2b7a94e35","process":{"pid":4711,"started":815}}],"#
                + #""kind":"terminate","order":259}"#
        ),
        Frozen(.rested(7, Rested()), "484C4757 01 09 0000 00000007 00000018", json: #"{"inserted":0,"slots":0}"#),
        Frozen(
            .gamepad(GamepadOrder(id: 258, .connect(nil))),
            "484C4757 01 0F 0000 00000000 00000008",
            hex: "00000102 01 00 0000"
        ),
        Frozen(
            .gamepad(GamepadOrder(id: 258, .connect(.dualsense))),
            "484C4757 01 0F 0000 00000000 00000008",
            hex: "00000102 01 02 0000"
        ),
        Frozen(
            .gamepad(
                GamepadOrder(
                    id: 258,
                    .state(
                        GamepadState(
                            buttons: [.south, .east, .mute],
                            leftStick: GamepadState.Stick(x: 1, y: -2),
                            rightStick: GamepadState.Stick(x: 32767, y: -32768),
                            leftTrigger: 16,
                            rightTrigger: 255,
                            firstTouch: GamepadState.Touch(id: 5, x: 1919, y: 1079),
                            turn: GamepadState.Vector(x: 1, y: 2, z: -3),
                            acceleration: GamepadState.Vector(x: 0, y: 8192, z: -8192)
                        )
                    )
                )
            ),
            "484C4757 01 0F 0000 00000000 0000002C",
            hex: "00000102 02 00 0000 00040003 0001 FFFE 7FFF 8000 10 FF 05 077F 0437 00 0000 0000 "
                + "0001 0002 FFFD 0000 2000 E000"
        ),
        Frozen(
            .gamepad(GamepadOrder(id: 258, .disconnect)),
            "484C4757 01 0F 0000 00000000 00000008",
            hex: "00000102 03 00 0000"
        ),
        Frozen(.listen(Listen(.ready)), "484C4757 01 10 0000 00000000 00000010", json: #"{"mode":"ready"}"#),
        Frozen(
            .listen(Listen(.send, after: [.opus: .init(from: 7_600_000, captured: 7_606_500_000)])),
            "484C4757 01 10 0000 00000000 00000034",
            json: #"{"captured":7606500000,"from":7600000,"mode":"send"}"#
        ),
        Frozen(
            .listen(Listen(.send, [.opus, .aac], after: [.aac: .init(from: 7_600_000, captured: 7_606_500_000)])),
            "484C4757 01 10 0000 00000000 00000052",
            json: #"{"aacCaptured":7606500000,"aacFrom":7600000,"codecs":["opus","aac"],"mode":"send"}"#
        ),
        Frozen(.speech([0xFC, 0xFF, 0xFE]), "484C4757 01 11 0000 00000000 00000003", hex: "FCFFFE"),
        Frozen(.speech([]), "484C4757 01 11 0000 00000000 00000000", hex: ""),
    ]

    private static func heartbeat(_ sessions: [SessionFigures], unchanged: [SessionID]? = nil) -> Packet {
        .heartbeat(
            Heartbeat(
                clock: 1,
                framesReceived: 2,
                buffersSkipped: 3,
                framesCopied: 4,
                linkQueuedBytes: 5,
                sessions: sessions,
                unchanged: unchanged
            )
        )
    }

    static let agentToRelay = [
        Frozen(
            .watched(
                7,
                WatchReport(
                    id: 258,
                    outcome: .happened(captured: 258, box: PictureRegion(x: 1, y: 2, width: 3, height: 4))
                )
            ),
            "484C4757 01 4B 0000 00000007 00000018",
            hex: "00000102 00 000000 0000000000000102 0001000200030004"
        ),
        Frozen(
            .watched(7, WatchReport(id: 258, outcome: .refusal(.outside))),
            "484C4757 01 4B 0000 00000007 00000018",
            hex: "00000102 04 000000 0000000000000000 0000000000000000"
        ),
        Frozen(
            .hello(Hello(token: "secret", device: "default", source: "portal", pid: 42, release: "0.1.0")),
            "484C4757 01 41 0000 00000000 00000052",
            json: #"{"device":"default","pid":42,"release":"0.1.0","source":"portal","token":"secret"}"#
        ),
        Frozen(
            heartbeat([
                SessionFigures(
                    session: 7,
                    encoder: "x264",
                    encoderReason: "why",
                    size: PictureSize(width: 640, height: 360),
                    counters: SessionCounters(),
                    linkDrops: 6
                )
            ]),
            "484C4757 01 42 0000 00000000 000001D7",
            json: #"{"buffersSkipped":3,"clock":1,"framesCopied":4,"framesReceived":2,"linkQueuedBytes":5,"sessions":["#
                + #"{"counters":{"bytes":0,"encodeTimes":{"counts":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"sum":0},"encodedLive":0,"encoderRestarts":0,"errors":0,"gated":0,"#
                + #""held":0,"keyframes":0,"latchedOver":0,"missed":0,"poolDrops":0,"received":0,"reencodedRepeats":0,"refined":0,"skipped":0},"#
                + #""encoder":"x264","encoderReason":"why","linkDrops":6,"session":7,"size":{"height":360,"width":640}}]}"#
        ),
        Frozen(
            heartbeat([], unchanged: [7, 9]),
            "484C4757 01 42 0000 00000000 00000076",
            json:
                #"{"buffersSkipped":3,"clock":1,"framesCopied":4,"framesReceived":2,"linkQueuedBytes":5,"sessions":[],"unchanged":[7,9]}"#
        ),
        Frozen(
            .accessUnit(
                7,
                AccessUnit(
                    pts: 33_333,
                    captured: 0x0102_0304_0506_0708,
                    encodeStart: 0x1112_1314_1516_1718,
                    encodeEnd: 0x2122_2324_2526_2728,
                    flags: [.key, .repeat],
                    keyframeRequest: 9,
                    orientation: 1,
                    size: PictureSize(width: 640, height: 360),
                    bytes: [0, 0, 0, 1, 0x65, 0x88]
                )
            ),
            "484C4757 01 43 0000 00000007 00000032",
            hex: "0000000000008235 0102030405060708 1112131415161718 2122232425262728 00000009 03 01 0280 0168 0000"
                + " 000000016588"
        ),
        Frozen(
            .accessUnit(
                7,
                AccessUnit(
                    pts: 1,
                    captured: 2,
                    encodeStart: 3,
                    encodeEnd: 4,
                    flags: .skip,
                    size: PictureSize(width: 640, height: 360),
                    geometry: 0x0102_0304,
                    bytes: [9]
                )
            ),
            "484C4757 01 43 0000 00000007 00000031",
            hex: "0000000000000001 0000000000000002 0000000000000003 0000000000000004 00000000 84 00 0280 0168 0000"
                + " 01020304 09"
        ),
        Frozen(
            .status(
                SourceStatus(
                    state: .lost,
                    cause: "gone",
                    detail: "why",
                    size: nil,
                    orientation: 3,
                    timings: ["openMs": 1.5]
                )
            ),
            "484C4757 01 44 0000 00000000 00000057",
            json: #"{"cause":"gone","detail":"why","orientation":3,"state":"lost","timings":{"openMs":1.5}}"#
        ),
        Frozen(
            .sessionError(7, SessionFailure(code: .encoderUnavailable, reason: "no encoder")),
            "484C4757 01 45 0000 00000007 00000034",
            json: #"{"code":"encoder_unavailable","reason":"no encoder"}"#
        ),
        Frozen(
            .encoders(
                EncoderReports(encoders: [
                    EncoderReport(name: "x265", codec: .h265, available: true),
                    EncoderReport(name: "h264_vaapi", codec: .h264, available: false, reason: "no GPU"),
                ])
            ),
            "484C4757 01 47 0000 00000000 00000087",
            json: #"{"encoders":[{"available":true,"codec":"h265","name":"x265"},"#
                + #"{"available":false,"codec":"h264","name":"h264_vaapi","reason":"no GPU"}]}"#
        ),
        Frozen(
            .hello(
                Hello(token: "secret", device: "default", source: "portal", pid: 42, release: "0.1.0", role: .standby)
            ),
            "484C4757 01 41 0000 00000000 00000063",
            json:
                #"{"device":"default","pid":42,"release":"0.1.0","role":"standby","source":"portal","token":"secret"}"#
        ),
        Frozen(
            .rest(7, Rest(keyframe: 33_333, slot: 66_666_666, fps: 30, keyframeInterval: 10_000_000_000)),
            "484C4757 01 48 0000 00000007 0000004A",
            json: #"{"fps":30,"keyframe":33333,"keyframeInterval":10000000000,"slot":66666666}"#
        ),
        Frozen(.wake(7), "484C4757 01 49 0000 00000007 00000000", hex: ""),
        Frozen(
            .tracks(DeviceTracks([stereo])),
            "484C4757 01 4A 0000 00000000 0000003F",
            json: #"{"tracks":[{"channels":2,"codec":"opus","id":1,"preSkip":312}]}"#
        ),
        Frozen(
            .tracks(withAAC),
            "484C4757 01 4A 0000 00000000 00000061",
            json: #"{"aacProblem":"no","encodesAAC":false,"tracks":[{"channels":2,"codec":"aac","id":2,"preSkip":0}]}"#
        ),
        Frozen(
            .tracks(DeviceTracks([], problem: "no")),
            "484C4757 01 4A 0000 00000000 0000001C",
            json: #"{"problem":"no","tracks":[]}"#
        ),
        Frozen(
            .accessUnit(
                0,
                AccessUnit(
                    UnitHeader(
                        track: 1,
                        pts: 20_000,
                        captured: 3,
                        encodeStart: 4,
                        encodeEnd: 5,
                        flags: [],
                        size: PictureSize(width: 0, height: 0)
                    ),
                    [0xFC, 0xFF, 0xFE]
                )
            ),
            "484C4757 01 43 0001 00000000 0000002F",
            hex:
                "0000000000004E20 0000000000000003 0000000000000004 0000000000000005 00000000 00 00 0000 0000 0000 FCFFFE"
        ),
        Frozen(
            .snapshot(
                7,
                Snapshot(
                    request: 258,
                    outcome: .picture(
                        Snapshot.Picture(
                            format: .jpeg,
                            captured: 0x0102_0304_0506_0708,
                            orientation: 3,
                            size: PictureSize(width: 640, height: 360),
                            bytes: [0xFF, 0xD8]
                        )
                    )
                )
            ),
            "484C4757 01 46 0000 00000007 00000016",
            hex: "00000102 00 01 03 00 0102030405060708 0280 0168 FFD8"
        ),
        Frozen(
            .snapshot(
                7,
                Snapshot(
                    request: 260,
                    outcome: .picture(
                        Snapshot.Picture(
                            format: .png,
                            captured: 1,
                            orientation: 0,
                            size: PictureSize(width: 640, height: 360),
                            geometry: 0x0102_0304,
                            bytes: [0x89]
                        )
                    )
                )
            ),
            "484C4757 01 46 0000 00000007 00000019",
            hex: "00000104 00 02 00 01 0000000000000001 0280 0168 01020304 89"
        ),
        Frozen(
            .inputDone(
                7,
                InputReport(id: 258, outcome: .done(began: 0x0102_0304_0506_0708, at: 0x0102_0304_0506_0709))
            ),
            "484C4757 01 4C 0000 00000007 00000018",
            hex: "00000102 00 00 0000 0102030405060708 0102030405060709"
        ),
        Frozen(
            .inputDone(7, InputReport(id: 259, outcome: .refused(.outside, step: 2, detail: "é"))),
            "484C4757 01 4C 0000 00000007 0000001A",
            hex: "00000103 04 00 0002 0000000000000000 0000000000000000 C3A9"
        ),
        Frozen(
            .clipboardDone(ClipboardReport(id: 258, outcome: .done)),
            "484C4757 01 4E 0000 00000000 00000008",
            hex: "00000102 00 00 0000"
        ),
        Frozen(
            .clipboardDone(
                ClipboardReport(
                    id: 259,
                    outcome: .content(
                        ClipboardContent(.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
                    )
                )
            ),
            "484C4757 01 4E 0000 00000000 00000010",
            hex: "00000103 00 02 0000 89504E470D0A1A0A"
        ),
        Frozen(
            .clipboardDone(ClipboardReport(id: 260, outcome: .refused(.empty, detail: "é"))),
            "484C4757 01 4E 0000 00000000 0000000A",
            hex: "00000104 03 00 0000 C3A9"
        ),
        Frozen(
            .inputs(InputCapabilities(backend: "none", clipboard: true)),
            "484C4757 01 4D 0000 00000000 0000007C",
            json:
                #"{"anyCharacter":false,"backend":"none","clipboard":true,"keyboard":false,"pointer":false,"smoothScroll":false,"touch":false}"#
        ),
        Frozen(
            .inputs(InputCapabilities(backend: "x11", pointer: true, keyboard: true, anyCharacter: true)),
            "484C4757 01 4D 0000 00000000 00000067",
            json:
                #"{"anyCharacter":true,"backend":"x11","keyboard":true,"pointer":true,"smoothScroll":false,"touch":false}"#
        ),
        Frozen(
            .applicationDone(
                ApplicationAnswer(
                    order: 258,
                    applications: [
                        ApplicationState(
                            id: "8d1f60c2b7a94e35",
                            process: ProcessIdentity(pid: 4711, started: 815),
                            isRunning: true
                        )
                    ]
                )
            ),
            "484C4757 01 4F 0000 00000000 0000006E",
            json: #"{"applications":[{"id":"8d1f60c2b7a94e35","isRunning":true,"process":{"pid":4711,"started":815}}],"#
                + #""order":258}"#
        ),
        Frozen(
            .applicationDone(
                ApplicationAnswer(
                    order: 260,
                    applications: [
                        ApplicationState(
                            id: "8d1f60c2b7a94e35",
                            process: ProcessIdentity(pid: 4711, started: 815),
                            user: 1000,
                            isRunning: true
                        )
                    ]
                )
            ),
            "484C4757 01 4F 0000 00000000 0000007A",
            json: #"{"applications":[{"id":"8d1f60c2b7a94e35","isRunning":true,"process":{"pid":4711,"started":815},"#
                + #""user":1000}],"order":260}"#
        ),
        Frozen(
            .applicationDone(
                ApplicationAnswer(
                    order: 259,
                    refusal: .failed,
                    detail: "é",
                    applications: [ApplicationState(id: "8d1f60c2b7a94e35", isRunning: false, signal: 15)]
                )
            ),
            "484C4757 01 4F 0000 00000000 00000077",
            json: #"{"applications":[{"id":"8d1f60c2b7a94e35","isRunning":false,"signal":15}],"detail":"é","#
                + #""order":259,"refusal":"failed"}"#
        ),
        Frozen(
            .snapshot(7, Snapshot(request: 259, outcome: .refusal(.noFrame))),
            "484C4757 01 46 0000 00000007 00000014",
            hex: "00000103 02 00 00 00 0000000000000000 0000 0000"
        ),
        Frozen(
            .gamepadFeedback(GamepadReport(id: 258, .connected(.xbox))),
            "484C4757 01 50 0000 00000000 00000008",
            hex: "00000102 01 01 0000"
        ),
        Frozen(
            .gamepadFeedback(GamepadReport(id: 258, .failed("é"))),
            "484C4757 01 50 0000 00000000 0000000A",
            hex: "00000102 02 00 0000 C3A9"
        ),
        Frozen(
            .gamepadFeedback(
                GamepadReport(
                    id: 258,
                    .feedback(
                        GamepadFeedback(
                            strong: 0x0102,
                            weak: 0xFFFF,
                            lightbar: GamepadFeedback.Colour(red: 1, green: 2, blue: 3),
                            playerLights: 0x15,
                            rightTrigger: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
                        )
                    )
                )
            ),
            "484C4757 01 50 0000 00000000 0000001E",
            hex: "00000102 03 00 0000 0102 FFFF 01 010203 15 00 0B 0102030405060708090A0B"
        ),
        Frozen(
            .speechReport(SpeechReport(delay: 38, holes: 2)),
            "484C4757 01 51 0000 00000000 00000016",
            json: #"{"delay":38,"holes":2}"#
        ),
        Frozen(
            .inputs(InputCapabilities(backend: "none", microphone: true)),
            "484C4757 01 4D 0000 00000000 0000007D",
            json: #"{"anyCharacter":false,"backend":"none","keyboard":false,"microphone":true,"pointer":false,"#
                + #""smoothScroll":false,"touch":false}"#
        ),
        Frozen(
            .inputs(InputCapabilities(backend: "none", gamepads: ["xbox"])),
            "484C4757 01 4D 0000 00000000 0000007F",
            json: #"{"anyCharacter":false,"backend":"none","gamepads":["xbox"],"keyboard":false,"pointer":false,"#
                + #""smoothScroll":false,"touch":false}"#
        ),
    ]

    /// Converts hexadecimal digits to bytes; spaces only help the reader.
    static func hex(_ text: String) -> [UInt8] {
        let digits = text.filter { $0 != " " }.map { UInt8(truncatingIfNeeded: $0.hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
