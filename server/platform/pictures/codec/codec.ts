// oxlint-disable-next-line typescript/triple-slash-reference -- It declares globals, which every program needs.
/// <reference path="./codecs.d.ts" />
import decodeJpeg from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'
import { decode as decodePng, initSync as preparePng } from '@jsquash/png/codec/pkg/squoosh_png.js'
import { initSync as prepareResize, resize } from '@jsquash/resize/lib/resize/pkg/squoosh_resize.js'
import decodeWebp from '@jsquash/webp/codec/dec/webp_dec.js'
import encodeWebp from '@jsquash/webp/codec/enc/webp_enc_simd.js'
import { defaultOptions } from '@jsquash/webp/meta.js'
import type { PictureFormat } from '../header.ts'

/** Part of a codec, compiled: three decoders, the resizer and the encoder. */
export type CodecPart = PictureFormat | 'resize' | 'encode'
export type CodecModules = Record<CodecPart, WebAssembly.Module>

/** How a picture becomes a square: cut at its longer sides, or whole with transparent edges. */
export type Fit = 'cover' | 'contain'

/** RGBA, 8 bits each, not premultiplied, row by row. */
type Pixels = { data: Uint8ClampedArray; width: number; height: number }

const quality = 82

/** Decodes a picture. Throws for one that its decoder rejects, or whose size is not the one of its header. */
async function decode(modules: CodecModules, format: PictureFormat, bytes: Uint8Array<ArrayBuffer>): Promise<Pixels> {
  switch (format) {
    case 'png':
      preparePng(modules.png)
      return requirePixels(decodePng(bytes))
    case 'jpeg':
      return requirePixels((await instantiate(decodeJpeg, modules.jpeg)).decode(bytes, false))
    case 'webp':
      return requirePixels((await instantiate(decodeWebp, modules.webp)).decode(bytes))
  }
}

type Factory<Instance> = (options: object) => Promise<Instance>

/** Instantiates a codec that Emscripten has compiled. */
function instantiate<Instance>(create: Factory<Instance>, module: WebAssembly.Module): Promise<Instance> {
  return create({
    noInitialRun: true,
    // Keeps what a decoder prints about a broken picture out of the log of the service.
    print: () => {},
    printErr: () => {},
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(module, imports)
      done(instance)
      return instance.exports
    },
  })
}

function requirePixels(decoded: ImageData | null): Pixels {
  if (!decoded) throw new Error('the picture cannot be decoded')
  const { data, width, height } = decoded
  if (data.length !== width * height * 4) throw new Error('the picture cannot be decoded')
  return { data, width, height }
}

/** Returns the square part or square frame of a picture. */
function square({ data, width, height }: Pixels, fit: Fit): Pixels {
  if (width === height) return { data, width, height }
  const side = fit === 'cover' ? Math.min(width, height) : Math.max(width, height)
  const framed = new Uint8ClampedArray(side * side * 4)
  const [left, top] = [Math.floor((side - width) / 2), Math.floor((side - height) / 2)]
  const rowBytes = Math.min(width, side) * 4
  for (let y = Math.max(0, top); y < Math.min(side, top + height); y += 1) {
    const from = ((y - top) * width + Math.max(0, -left)) * 4
    framed.set(data.subarray(from, from + rowBytes), (y * side + Math.max(0, left)) * 4)
  }
  return { data: framed, width: side, height: side }
}

/** Side from which the resizer, which holds each pixel as four floating-point numbers, would need too much memory. */
const resizedSideMax = 1024

/** Averages a block of pixels, each with the weight of its opacity. */
function averageOf({ data, width }: Pixels, { x, y, block }: { x: number; y: number; block: number }): number[] {
  let [red, green, blue, alpha] = [0, 0, 0, 0]
  for (let row = y; row < y + block; row += 1)
    for (let at = (row * width + x) * 4, left = block; left > 0; at += 4, left -= 1) {
      const opacity = data[at + 3] ?? 0
      red += (data[at] ?? 0) * opacity
      green += (data[at + 1] ?? 0) * opacity
      blue += (data[at + 2] ?? 0) * opacity
      alpha += opacity
    }
  const weight = Math.max(1, alpha)
  return [red / weight, green / weight, blue / weight, alpha / (block * block)]
}

/** Averages blocks of pixels until the resizer can take the rest. */
function shrink(pixels: Pixels): Pixels {
  const { width: side } = pixels
  const block = Math.ceil(side / resizedSideMax)
  if (block === 1) return pixels
  const small = Math.floor(side / block)
  const shrunk = new Uint8ClampedArray(small * small * 4)
  for (let y = 0; y < small; y += 1)
    for (let x = 0; x < small; x += 1)
      shrunk.set(averageOf(pixels, { x: x * block, y: y * block, block }), (y * small + x) * 4)
  return { data: shrunk, width: small, height: small }
}

/**
 * Decodes a picture, and encodes its pixels and nothing else as square WebP pictures of these sizes. Metadata does not
 * survive it. Throws for a picture that cannot be decoded.
 */
export async function renderPicture(
  modules: CodecModules,
  picture: { format: PictureFormat; bytes: Uint8Array<ArrayBuffer>; width: number; height: number; fit: Fit },
  sizes: readonly number[],
): Promise<Uint8Array[]> {
  const decoded = await decode(modules, picture.format, picture.bytes)
  if (decoded.width !== picture.width || decoded.height !== picture.height)
    throw new Error('the picture has another size than its header says')
  const whole = shrink(square(decoded, picture.fit))
  prepareResize(modules.resize)
  const encoder = await instantiate(encodeWebp, modules.encode)
  return sizes.map((size) => {
    const { buffer, byteOffset, length } = whole.data
    const input = new Uint8Array(buffer, byteOffset, length)
    const lanczos3 = 3
    const scaled =
      size === whole.width ? whole.data : resize(input, whole.width, whole.height, size, size, lanczos3, true, false)
    const encoded = encoder.encode(new Uint8ClampedArray(scaled), size, size, { ...defaultOptions, quality })
    if (!encoded) throw new Error('the picture cannot be encoded')
    return new Uint8Array(encoded)
  })
}
