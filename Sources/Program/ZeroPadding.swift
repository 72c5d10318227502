extension String {
    /// Returns the digits with zeros before them, so that there are at least `count`.
    package func zeroPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}
