import { crc32, deflateSync } from 'node:zlib'

/** Creates a PNG of one color: opaque, 8 bits a channel. `chunks` stand before its pixels. */
export function pngOf(width: number, height: number, { color = [40, 65, 174], chunks = [] as Buffer[] } = {}): Buffer {
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(width * 3, Buffer.from(color))])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))
  return Buffer.concat([pngHead(width, height), ...chunks, pngChunk('IDAT', pixels), pngChunk('IEND', Buffer.alloc(0))])
}

/** Creates the beginning of a PNG that claims a size. */
export function pngHead(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), pngChunk('IHDR', header)])
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, check])
}

/** A JPEG of 96 × 64 pixels, in one color. */
export const jpeg = Buffer.from(
  [
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wEEEAAQABAAEAAQABEAEAASABQAFAASABkAGwAYABsAGQAlACIAHwAfACIAJQA4ACgAKwAo',
    'ACsAKAA4AFUANQA+ADUANQA+ADUAVQBLAFsASgBFAEoAWwBLAIcAagBeAF4AagCHAJwAgwB8AIMAnAC9AKkAqQC9AO4A4gDuATcB',
    'NwGiEQAQABAAEAAQABEAEAASABQAFAASABkAGwAYABsAGQAlACIAHwAfACIAJQA4ACgAKwAoACsAKAA4AFUANQA+ADUANQA+ADUA',
    'VQBLAFsASgBFAEoAWwBLAIcAagBeAF4AagCHAJwAgwB8AIMAnAC9AKkAqQC9AO4A4gDuATcBNwGi/8IAEQgAQABgAwEiAAIRAQMR',
    'Af/EACkAAQEAAAAAAAAAAAAAAAAAAAAEAQEBAQAAAAAAAAAAAAAAAAAABQb/2gAMAwEAAhADEAAAAIRO0gAAAAAAAAAAAAAAAAAA',
    'AAAAH//EABQQAQAAAAAAAAAAAAAAAAAAAGD/2gAIAQEAAT8AQf/EABQRAQAAAAAAAAAAAAAAAAAAAED/2gAIAQIBAT8AR//EABQR',
    'AQAAAAAAAAAAAAAAAAAAAED/2gAIAQMBAT8AR//Z',
  ].join(''),
  'base64',
)

/** A PNG of 400 × 200 pixels: the left half is red, the right half blue. */
export const twoColors = (() => {
  const half = (color: number[]) => Buffer.alloc(200 * 3, Buffer.from(color))
  const row = Buffer.concat([Buffer.of(0), half([200, 40, 40]), half([40, 40, 200])])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: 200 }, () => row)))
  return Buffer.concat([pngHead(400, 200), pngChunk('IDAT', pixels), pngChunk('IEND', Buffer.alloc(0))])
})()
