import Media
import StreamOracle

/// Access units with hand-written headers and no picture data, for rules that no encoder breaks.
enum HandWritten {
    /// An H.264 stream with picture order type 0 and numbers of four bits.
    enum H264 {
        /// - Parameters:
        ///   - type: `slice_type`: 0 for P, 2 for I.
        ///   - references: How many reference frames the stream keeps.
        ///   - active: How many of them the picture may refer to.
        static func picture(
            isIDR: Bool = false,
            number: Int,
            order: Int,
            id: Int = 0,
            type: Int = 0,
            references: Int = 1,
            active: Int = 1
        ) -> [UInt8] {
            var writer = BitWriter()
            writer.u(8, isIDR ? 0x65 : 0x41)
            writer.ue(0)
            writer.ue(isIDR ? 2 : type)
            writer.ue(0)
            writer.u(4, number % 16)
            if isIDR { writer.ue(id) }
            writer.u(4, order % 16)
            if !isIDR, type == 0 {
                writer.flag(true)
                writer.ue(active - 1)
                writer.flag(false)
            }
            writer.u(isIDR ? 2 : 1, 0)
            writer.trailingBits()
            return (isIDR ? sets(references: references) : []) + writer.annexBUnit()
        }

        /// A keyframe with `data` after its header.
        ///
        /// - Parameter numberWidth: Bits of `frame_num`, 4 to 16.
        static func keyframe(id: Int, numberWidth: Int, data: [UInt8]) -> [UInt8] {
            var writer = BitWriter()
            writer.u(8, 0x65)
            writer.ue(0)
            writer.ue(2)
            writer.ue(0)
            writer.u(numberWidth, 0)
            writer.ue(id)
            // pic_order_cnt_lsb and the marking
            writer.u(4, 0)
            writer.u(2, 0)
            for byte in data { writer.u(8, Int(byte)) }
            writer.trailingBits()
            return sets(references: 1, numberWidth: numberWidth) + writer.annexBUnit()
        }

        private static func sets(references: Int, numberWidth: Int = 4) -> [UInt8] {
            var sequence = BitWriter()
            sequence.u(8, 0x67)
            sequence.u(24, 66 << 16 | 30)
            for value in [0, numberWidth - 4, 0, 0, references] { sequence.ue(value) }
            sequence.flag(false)
            sequence.ue(3)
            sequence.ue(2)
            sequence.u(4, 0b1000)
            sequence.trailingBits()
            var picture = BitWriter()
            picture.u(8, 0x68)
            picture.ue(0)
            picture.ue(0)
            picture.u(2, 0)
            for _ in 0..<3 { picture.ue(0) }
            picture.u(3, 0)
            for _ in 0..<3 { picture.se(0) }
            picture.u(3, 0)
            picture.trailingBits()
            return sequence.annexBUnit() + picture.annexBUnit()
        }
    }

    /// An H.265 stream with picture order counts of four bits.
    enum H265 {
        static func keyframe() -> [UInt8] {
            var writer = BitWriter()
            writer.u(16, 19 << 9 | 1)
            writer.u(2, 0b10)
            writer.ue(0)
            writer.ue(2)
            writer.trailingBits()
            return sets() + writer.annexBUnit()
        }

        /// - Parameter references: The distances of the pictures that the decoder keeps, the nearest first, and whether
        ///   this one uses them.
        static func picture(order: Int, references: [(distance: Int, isUsed: Bool)] = [(-1, true)]) -> [UInt8] {
            var writer = BitWriter()
            writer.u(16, 1 << 9 | 1)
            writer.flag(true)
            writer.ue(0)
            writer.ue(1)
            writer.u(4, order % 16)
            writer.flag(false)
            writer.ue(references.count)
            writer.ue(0)
            var last = 0
            for (distance, isUsed) in references {
                writer.ue(last - distance - 1)
                writer.flag(isUsed)
                last = distance
            }
            writer.trailingBits()
            return writer.annexBUnit()
        }

        private static func sets() -> [UInt8] {
            var video = BitWriter()
            video.u(16, 32 << 9 | 1)
            video.u(16, 0x0C01)
            var sequence = BitWriter()
            sequence.u(16, 33 << 9 | 1)
            sequence.u(8, 1)
            // profile_tier_level( )
            for value in [0x0160_0000, 0, 0x5D] { sequence.u(32, value) }
            for value in [0, 1, 64, 64] { sequence.ue(value) }
            sequence.flag(false)
            for _ in 0..<3 { sequence.ue(0) }
            sequence.flag(false)
            for value in [4, 0, 0] + [0, 0, 0, 0, 0, 0] { sequence.ue(value) }
            sequence.u(4, 0)
            sequence.ue(0)
            sequence.flag(false)
            sequence.trailingBits()
            var picture = BitWriter()
            picture.u(16, 34 << 9 | 1)
            picture.ue(0)
            picture.ue(0)
            picture.u(5, 0)
            picture.trailingBits()
            return video.annexBUnit() + sequence.annexBUnit() + picture.annexBUnit()
        }
    }
}
