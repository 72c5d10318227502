import Glibc

/// This machine's name.
package enum MachineName {
    /// See gethostname(2).
    package static let current: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()

    /// Its first part as a name that keys may have. Other characters become hyphens.
    package static var asName: String {
        let label = current.prefix { $0 != "." }
        let name = String(label.map { String($0).isName ? $0 : "-" }.prefix(64))
        return name.isEmpty ? "client" : name
    }
}
