import Media
import Testing

/// Tests of all code that reads outside bytes by offset.
@Suite("Checked readers")
struct CheckedReaderTests {
    private func read<Value>(_ bytes: [UInt8], _ body: (inout ByteReader) -> Value) -> Value {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return body(&reader)
        }
    }

    @Test("numbers are read highest byte first, from the front")
    func numbers() {
        read([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]) { reader in
            #expect(reader.u8() == 1)
            #expect(reader.u16() == 0x0203)
            #expect(reader.u32() == 0x0405_0607)
            #expect(reader.u64() == 0x0809_0A0B_0C0D_0E0F)
            #expect(reader.count == 0)
        }
    }

    @Test("missing bytes are nil, and nothing is taken")
    func shortage() {
        read([1, 2, 3]) { reader in
            #expect(reader.u64() == nil && reader.u32() == nil)
            #expect(
                reader.take(4) == nil && reader.take(-1) == nil && reader.take(.max) == nil && reader.take(.min) == nil
            )
            #expect(reader.skip(4) == false)
            #expect(reader.u16() == 0x0102)
            #expect(reader.u16() == nil)
            #expect(reader.u8() == 3)
            #expect(reader.u8() == nil)
        }
        read([]) { reader in
            #expect(reader.u8() == nil && reader.count == 0 && reader.bytes.isEmpty)
            #expect(reader.take(0)?.count == 0)
        }
    }

    @Test("a part is read by itself, and what follows it by the whole")
    func parts() {
        read([1, 2, 3, 4, 5]) { reader in
            var part = reader.take(3)
            #expect(part?.bytes == [1, 2, 3] && reader.bytes == [4, 5])
            #expect(part?.u16() == 0x0102 && part?.u16() == nil)
            #expect(reader.skip(1) == true)
            #expect(reader.bytes == [5])
        }
    }

    @Test("elements outside a collection are nil, and ranges are clipped to it")
    func elements() {
        var list = [1, 2, 3]
        #expect([-1, 0, 2, 3, .max, .min].map { list[at: $0] } == [nil, 1, 3, nil, nil, nil])
        list[at: 1] = 7
        list[at: 3] = 8
        list[at: .min] = 9
        list[at: 0] = nil
        #expect(list == [1, 7, 3])
        #expect(
            list[in: 1..<3] == [7, 3] && list[in: 2..<9] == [3] && list[in: 5..<9] == [] && list[in: -4..<1] == [1]
        )
        for (place, part) in [(-1, [1, 7, 3]), (0, [1, 7, 3]), (2, [3]), (3, []), (.max, []), (.min, [1, 7, 3])] {
            #expect(list[from: place] == part[...], "\(place)")
        }
        let slice = list[1...]
        #expect(slice[at: 0] == nil && slice[at: 1] == 7 && slice[in: 0..<2] == [7])
    }

    @Test("a count beyond all means all, and a position beyond the end means the end")
    func ends() {
        for (count, left) in [
            (0, [1, 2, 3]), (2, [3]), (3, []), (4, []), (.max, []), (-1, [1, 2, 3]), (.min, [1, 2, 3]),
        ] {
            var list = [1, 2, 3]
            list.removeLeading(count)
            #expect(list == left, "\(count)")
        }
        for (count, part) in [(0, []), (2, [1, 2]), (3, [1, 2, 3]), (.max, [1, 2, 3]), (.min, [])] {
            var rest = [1, 2, 3][...]
            #expect(rest.takeFirst(count) == part[...], "\(count)")
            #expect(Array(part) + rest == [1, 2, 3], "\(count)")
        }
        for (place, all) in [(0, [9, 1, 2]), (1, [1, 9, 2]), (2, [1, 2, 9]), (.max, [1, 2, 9]), (.min, [9, 1, 2])] {
            var list = [1, 2]
            list.insert([9], before: place)
            #expect(list == all, "\(place)")
        }
    }
}
