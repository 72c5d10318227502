import Foundation
import Media
import TestSupport

/// Random arguments of sessions.
extension RandomScene {
    /// Arguments of a new session.
    func randomSession(_ codec: Codec) -> Object {
        var arguments = randomSize(codec)
        arguments["codec"] = codec.rawValue
        arguments["framing"] = Bool.random(using: &generator) ? "scrcpy" : "annexb"
        arguments["fps"] = randomRate(codec)
        arguments["bitrate"] = randomBitrate()
        let interval = Double.random(in: 0.2...2, using: &generator)
        arguments["keyframeInterval"] = interval
        arguments["staticKeyframeInterval"] = interval + Double.random(in: 0...1, using: &generator)
        arguments["join"] = Bool.random(using: &generator) ? "cache" : "live"
        arguments["onDemand"] = Int.random(in: 0..<3, using: &generator) == 0
        // Null is for changes.
        return arguments.filter { !($0.value is NSNull) }
    }

    /// A change of a running session: at least one of the fields that may change.
    func randomChange(of codec: Codec) -> Object {
        var change: Object = [:]
        while change.isEmpty {
            if isChosen { change["bitrate"] = randomBitrate() }
            if isChosen { change["fps"] = randomRate(codec) }
            if isChosen { change.merge(randomSize(codec)) { $1 } }
            if isChosen { change["join"] = Bool.random(using: &generator) ? "cache" : "live" }
            if isChosen { change["onDemand"] = Bool.random(using: &generator) }
        }
        return change
    }

    private var isChosen: Bool { Int.random(in: 0..<3, using: &generator) == 0 }

    /// Small and slow enough for five sessions of software H.265 on two cores.
    private func randomRate(_ codec: Codec) -> Int {
        let rates = codec == .h264 ? [5, 10, 24, 30, 50, 60] : [5, 10, 24, 30]
        return rates.randomElement(using: &generator) ?? 30
    }

    private func randomBitrate() -> Int { Int(exp2(Double.random(in: 15.7...24, using: &generator))) }

    /// Some of width, height and `maxPixels`; null for the screen's own.
    private func randomSize(_ codec: Codec) -> Object {
        var size: Object = [:]
        let most = codec == .h264 ? 400 : 256
        for side in ["width", "height"] where isChosen {
            size[side] = isChosen ? NSNull() : Int.random(in: 64...most, using: &generator)
        }
        if isChosen { size["maxPixels"] = isChosen ? NSNull() : Int.random(in: 8000...60_000, using: &generator) }
        return size
    }
}
