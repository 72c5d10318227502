import Files
import Glibc
import SystemPackage

extension ClockReading {
    /// Reads the system's clocks.
    package static func system() -> ClockReading {
        ClockReading(
            wall: nanoseconds(CLOCK_REALTIME) / 1000,
            monotonic: nanoseconds(CLOCK_BOOTTIME),
            boot: currentBoot
        )
    }

    /// The boot id; empty if the kernel does not say.
    private static let currentBoot: String = {
        let bytes = (try? BoundedFile.read("/proc/sys/kernel/random/boot_id", atMost: 64)) ?? []
        return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    }()

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
