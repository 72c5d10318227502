import Foundation

/// Codecs that share no code with libavcodec, libx264 and libx265, as a program: a fault in one ends this process and
/// no other.
///
///     ReferenceCodecs decode-h264 FILE        openh264 decodes FILE; a line with a hash for each picture
///     ReferenceCodecs decode-h265 FILE        libde265 does
///     ReferenceCodecs encode-h264 WIDTH HEIGHT INTERVAL INPUT OUTPUT
///                                             openh264 encodes raw 4:2:0 pictures to Annex B, with an IDR picture each INTERVAL
///
/// FILE holds access units, each after its length in four bytes, least significant first. A decoder's first complaint,
/// warnings included, ends the program with status 1.
@main
enum Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("decode-h264", 2): decodeByOpenH264(accessUnits(in: arguments[1]))
        case ("decode-h265", 2): decodeByDe265(accessUnits(in: arguments[1]))
        case ("encode-h264", 6):
            let numbers = arguments[1...3].map { Int($0) ?? 0 }
            let output = encodeByOpenH264(
                width: numbers[0],
                height: numbers[1],
                keyframeInterval: numbers[2],
                input: contents(of: arguments[4])
            )
            guard FileManager.default.createFile(atPath: arguments[5], contents: Data(output)) else {
                fail("cannot write \(arguments[5])")
            }
        default: fail("the comment in Main.swift says what it can do")
        }
    }

    private static func contents(of file: String) -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: file) else { fail("cannot read \(file)") }
        return [UInt8](bytes)
    }

    private static func accessUnits(in file: String) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var rest = contents(of: file)[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            units.append([UInt8](rest.dropFirst(4).prefix(count)))
            rest = rest.dropFirst(4 + count)
        }
        return units
    }
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("ReferenceCodecs: \(message)\n".utf8))
    exit(1)
}
