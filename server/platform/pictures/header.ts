/** Formats of pictures that users may upload. */
export type PictureFormat = 'png' | 'jpeg' | 'webp'

/** What the first bytes of a picture say, before anything is decoded. */
export type PictureHeader = { format: PictureFormat; width: number; height: number; isAnimated: boolean }

/**
 * Reads format and size of a picture. Returns undefined for anything else: another format, a document that only begins
 * like a picture, or one that is cut off before its size. Takes time linear in the length of the input.
 */
export function readPictureHeader(bytes: Buffer): PictureHeader | undefined {
  return readPng(bytes) ?? readWebp(bytes) ?? readJpeg(bytes)
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

/** PNG §5.2, §11.2.2: the signature, and a first chunk IHDR. */
function readPng(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(pngSignature)) return undefined
  if (bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return { format: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), isAnimated: isApng(bytes) }
}

/** Checks whether the chunk acTL (PNG §11.3.6) stands before the image data. */
function isApng(bytes: Buffer): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += bytes.readUInt32BE(at) + 12) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (type === 'acTL') return true
    if (type === 'IDAT') return false
  }
  return false
}

const animationFlag = 0x02

/** RFC 9649: a RIFF container whose first chunk is VP8, VP8L or VP8X. */
function readWebp(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return undefined
  const format = 'webp'
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined
      return {
        format,
        width: bytes.readUInt16LE(26) & 0x3fff,
        height: bytes.readUInt16LE(28) & 0x3fff,
        isAnimated: false,
      }
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return undefined
      const packed = bytes.readUInt32LE(21)
      return { format, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1, isAnimated: false }
    }
    case 'VP8X': {
      const isAnimated = ((bytes[20] ?? 0) & animationFlag) !== 0
      return { format, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1, isAnimated }
    }
    default:
      return undefined
  }
}

/** Markers of JPEG (ITU-T T.81, table B.1) that have no length. */
const standalone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

/** Markers that begin a frame: SOF0 to SOF15, without DHT, JPG and DAC. */
const beginsFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** ITU-T T.81 §B.1: the segments after SOI, as far as the first frame. */
function readJpeg(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1] ?? 0
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) at += 1
    else if (standalone(marker)) at += 2
    else if (beginsFrame(marker))
      return {
        format: 'jpeg',
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
        isAnimated: false,
      }
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return undefined
}
