/// JavaScript that reads the test pattern's counter off a canvas.
enum PageCounter {
    /// The counter on `canvas`, whose context is `context`; −1 if it is unreadable. Its cells are described in
    /// counter_pattern.h.
    static let value = """
        (() => {
          const { width, height } = canvas;
          const { data } = context.getImageData(0, 0, width, Math.ceil(height / 6));
          const isLight = (x, y) => data[4 * (y * width + x)] > 128;
          let value = 0;
          for (let column = 0; column < 24; column += 1) {
            const x = Math.floor((column + 0.5) * width / 24);
            const bit = isLight(x, Math.floor(height / 24));
            if (bit === isLight(x, Math.floor(height / 8))) return -1;
            value = value * 2 + (bit ? 1 : 0);
          }
          return value;
        })()
        """
}
