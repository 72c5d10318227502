import Glibc

/// The variables of this process's environment. An empty one counts as not set.
package enum EnvironmentVariable {
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    package static func isSet(_ name: String) -> Bool { value(name) != nil }
}
