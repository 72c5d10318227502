// Waits for a dialog, clicks it away, and saves the picture: act-in-swift DIALOG.png X,Y
//
// DIALOG.png is a part of a snapshot, with its top left corner at X,Y. Leaves after.png. HELIOGRAPH_RELAY names the
// relay, and HELIOGRAPH_KEY_FILE an operator's key, if the relay wants one.
import Foundation
import HeliographClient

let arguments = CommandLine.arguments.dropFirst()
let numbers = arguments.last?.split(separator: ",").compactMap { Int($0) } ?? []
guard arguments.count == 2, let path = arguments.first, numbers.count == 2 else {
    print("usage: act-in-swift DIALOG.png X,Y")
    exit(64)
}
let corner = (x: numbers[0], y: numbers[1])

do {
    let device = try RelayClient().device()
    try await device.start()
    try await device.upload([UInt8](Data(contentsOf: URL(fileURLWithPath: path))), asTemplate: "dialog")

    var settings = SessionSettings()
    settings.timeToLive = .seconds(60)
    let session = device.session("act")
    try await session.start(settings)

    let dialog = try await session.wait(.matches("dialog", at: corner), timeout: .seconds(20))
    print("the dialog was there after \(dialog.waited)")
    try await session.click(Double(corner.x) + 5, Double(corner.y) + 5)
    try await session.wait(.gone("dialog", at: corner))

    let picture = try await session.snapshot()
    try Data(picture.bytes).write(to: URL(fileURLWithPath: "after.png"))
    try await session.stop()
} catch {
    print(error)
    exit(1)
}
