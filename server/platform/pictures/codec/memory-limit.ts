const sectionOfMemory = 5
const preambleBytes = 8

/**
 * Returns a WebAssembly module whose memory cannot grow beyond a number of pages of 64 KiB, whatever its code asks for.
 * Its one memory section (WebAssembly §5.5.8) is rewritten. Throws if the module has another form.
 */
export function limitMemory(bytes: Buffer, pagesMax: number): Buffer<ArrayBuffer> {
  const reader = { bytes, at: preambleBytes }
  while (reader.at < bytes.length) {
    const begin = reader.at
    const section = bytes[reader.at]
    reader.at += 1
    const length = readNumber(reader)
    const end = reader.at + length
    if (section !== sectionOfMemory) {
      reader.at = end
      continue
    }
    if (readNumber(reader) !== 1) throw new Error('the codec has several memories')
    const flags = readNumber(reader)
    const pagesMin = readNumber(reader)
    if (flags > 1 || pagesMin > pagesMax) throw new Error('the codec has a memory of another form')
    const content = [1, 1, ...writeNumber(pagesMin), ...writeNumber(pagesMax)]
    const limited = [sectionOfMemory, ...writeNumber(content.length), ...content]
    return Buffer.concat([bytes.subarray(0, begin), Buffer.from(limited), bytes.subarray(end)])
  }
  throw new Error('the codec has no memory of its own')
}

/** Reads an unsigned LEB128 number (WebAssembly §5.2.2). */
function readNumber(reader: { bytes: Uint8Array; at: number }): number {
  let [value, factor] = [0, 1]
  for (;;) {
    const byte = reader.bytes[reader.at]
    if (byte === undefined) throw new Error('the codec is cut off')
    reader.at += 1
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
    factor *= 0x80
  }
}

function writeNumber(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...writeNumber(Math.floor(value / 0x80))]
}
