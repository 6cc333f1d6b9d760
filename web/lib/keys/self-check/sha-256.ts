/**
 * SHA-256 (FIPS 180-4), for public values. WebCrypto has it only asynchronously, and the formats of the log compute
 * hundreds of short hashes, each from the one before.
 */
const blockBytes = 64

const roundConstants = constantsOf(64, (root) => Math.cbrt(root))
const initialState = constantsOf(8, (root) => Math.sqrt(root))

export function sha256(message: Uint8Array): Uint8Array {
  const padded = pad(message)
  const view = new DataView(padded.buffer)
  const state = Uint32Array.from(initialState)
  const schedule = new Uint32Array(64)
  for (let offset = 0; offset < padded.length; offset += blockBytes) {
    for (let index = 0; index < 16; index += 1) schedule[index] = view.getUint32(offset + index * 4)
    for (let index = 16; index < 64; index += 1) schedule[index] = extend(schedule, index)
    compress(state, schedule)
  }
  const digest = new Uint8Array(32)
  const words = new DataView(digest.buffer)
  for (const [index, word] of state.entries()) words.setUint32(index * 4, word)
  return digest
}

/** Appends a one bit, zeros, and the length in bits. */
function pad(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((message.length + 9) / blockBytes) * blockBytes
  const padded = new Uint8Array(length)
  padded.set(message)
  padded[message.length] = 0x80
  new DataView(padded.buffer).setBigUint64(length - 8, BigInt(message.length) * 8n)
  return padded
}

function extend(schedule: Uint32Array, index: number): number {
  const [early, late] = [schedule[index - 15] ?? 0, schedule[index - 2] ?? 0]
  const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
  const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
  return (schedule[index - 16] ?? 0) + first + (schedule[index - 7] ?? 0) + second
}

function compress(state: Uint32Array, schedule: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let index = 0; index < 64; index += 1) {
    const ofE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const first = (h + ofE + choice + (roundConstants[index] ?? 0) + (schedule[index] ?? 0)) | 0
    const ofA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const second = (ofA + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] ?? 0) + word
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** Computes the first 32 bits of the fractional parts of the roots of the first primes. */
function constantsOf(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate += 1)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32)
}
