import Foundation

/// Codecs that share no code with libavcodec, libx264 and libx265, as a program: a fault in one ends this process and no other.
///
///     ReferenceCodecs decode-h264 FILE        openh264 decodes FILE; a line with a hash for each picture
///     ReferenceCodecs decode-h265 FILE        libde265 does
///     ReferenceCodecs encode-h264 WIDTH HEIGHT INTERVAL INPUT OUTPUT
///                                             openh264 encodes raw 4:2:0 pictures to Annex B, with an IDR picture each INTERVAL
///
/// FILE holds access units, each behind its length in four bytes, least significant first. A decoder's first complaint, warnings
/// included, ends the program with status 1.
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

/// A hash of a picture's planes: FNV-1a over words of eight bytes, each row's rest by bytes.
struct PictureHash {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ plane: UnsafePointer<UInt8>, rowBytes: Int, rows: Int, stride: Int) {
        for row in 0..<rows {
            let bytes = UnsafeRawBufferPointer(start: plane + row * stride, count: rowBytes)
            for offset in Swift.stride(from: 0, through: rowBytes - 8, by: 8) {
                add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            for offset in (rowBytes & ~7)..<rowBytes { add(UInt64(bytes[offset])) }
        }
    }

    private mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x100_0000_01B3
        // Spreads the high bits, which the multiplication alone never brings down.
        value ^= value >> 29
    }

    func printLine() {
        print(String(value, radix: 16))
    }
}
