import { randomBytes } from 'node:crypto'
import { keyEventKinds } from '@countersign/protocol/formats/signing/key-event'
import type { KeyHistoryState } from '@countersign/protocol/formats/signing/key-history'

/**
 * The last state of every identity in a log, in one record of 141 bytes each: a log has as many as people have
 * identities, and objects would take ten times the memory. A hash table finds the record of an identity.
 */
export class KeyStates {
  #chunks: Buffer[] = []
  #count = 0
  #slots = new Uint32Array(1024)
  // The service chooses the digests in its log. Without a secret, it could choose them so that all share a slot.
  readonly #hash = drawHash()

  get count(): number {
    return this.#count
  }

  /** Finds the state of an identity by its digest, base64. */
  find(identity: string): KeyHistoryState | undefined {
    const record = this.#recordOf(Buffer.from(identity, 'base64'))
    return record && readRecord(record)
  }

  /** Stores the state of its identity. */
  set(state: KeyHistoryState): void {
    const identity = Buffer.from(state.identity, 'base64')
    writeRecord(this.#recordOf(identity) ?? this.#add(identity), state)
  }

  /** Counts identities whose current key lacks a proof. */
  countUnproved(): number {
    let count = 0
    for (let index = 0; index < this.#count; index += 1) {
      const { event, hasPossession, isLinked } = readFlags(this.#recordAt(index))
      if (event !== 'removed' && !(hasPossession && isLinked)) count += 1
    }
    return count
  }

  /** The records, in pieces. `readAll` restores them. */
  *pieces(): Generator<Buffer> {
    for (const [nth, chunk] of this.#chunks.entries())
      yield chunk.subarray(0, Math.min(chunkRecords, this.#count - nth * chunkRecords) * recordBytes)
  }

  /** Restores records, and keeps them where they are. Throws `RangeError` for bytes that are not records. */
  static readAll(bytes: Buffer): KeyStates {
    if (bytes.length % recordBytes !== 0) throw new RangeError('not a whole number of records')
    const states = new KeyStates()
    for (let start = 0; start < bytes.length; start += chunkRecords * recordBytes)
      states.#chunks.push(bytes.subarray(start, start + chunkRecords * recordBytes))
    const last = states.#chunks.pop()
    // The last piece gets room for more.
    if (last) states.#chunks.push(Buffer.concat([last], chunkRecords * recordBytes))
    states.#count = bytes.length / recordBytes
    states.#fillSlots()
    return states
  }

  #recordAt(index: number): Buffer {
    const chunk = this.#chunks[Math.floor(index / chunkRecords)]
    if (!chunk) throw new RangeError(`there is no record ${index}`)
    const start = (index % chunkRecords) * recordBytes
    return chunk.subarray(start, start + recordBytes)
  }

  #recordOf(identity: Buffer): Buffer | undefined {
    const found = this.#slots[this.#slotOf(identity)] ?? 0
    return found === 0 ? undefined : this.#recordAt(found - 1)
  }

  /** The slot of an identity, or the free one where it belongs. A slot holds the index of its record plus one. */
  #slotOf(identity: Buffer): number {
    const mask = this.#slots.length - 1
    for (let slot = this.#hash(identity) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0
      if (found === 0 || this.#recordAt(found - 1).compare(identity, 0, digestBytes, 0, digestBytes) === 0) return slot
    }
  }

  #add(identity: Buffer): Buffer {
    if (this.#count * 2 >= this.#slots.length) this.#fillSlots()
    if (this.#count % chunkRecords === 0) this.#chunks.push(Buffer.alloc(chunkRecords * recordBytes))
    this.#slots[this.#slotOf(identity)] = this.#count + 1
    this.#count += 1
    const record = this.#recordAt(this.#count - 1)
    identity.copy(record)
    return record
  }

  /** Makes a hash table with room for twice as many records as there are, and enters these. */
  #fillSlots(): void {
    let length = this.#slots.length
    while (length <= this.#count * 2) length *= 2
    this.#slots = new Uint32Array(length)
    for (let index = 0; index < this.#count; index += 1)
      this.#slots[this.#slotOf(this.#recordAt(index).subarray(0, digestBytes))] = index + 1
  }
}

const chunkRecords = 8192
const digestBytes = 32
/** Identity, head, key and former key; instant (8), version (4) and flags (1). */
const recordBytes = 4 * digestBytes + 13
const flag = { possession: 4, linked: 8, former: 16, laterEvent: 32 }

/**
 * Draws a function from a strongly universal family of 32 bits: each half is the upper half of a sum of products of
 * words of 16 bits and secret factors of 32 bits (multilinear hashing). The lower bits of a product show too little of
 * the factor: with them, digests could be chosen that share a slot whatever the factors are.
 */
function drawHash(): (digest: Buffer) => number {
  const words = digestBytes / 2
  const factors = Uint32Array.from({ length: 2 * words }, () => randomBytes(4).readUInt32LE())
  return (digest) => {
    let [high, low] = [0, 0]
    for (let word = 0; word < words; word += 1) {
      const value = digest.readUInt16LE(word * 2)
      high = (high + Math.imul(value, factors[word] ?? 0)) | 0
      low = (low + Math.imul(value, factors[words + word] ?? 0)) | 0
    }
    return (high & 0xffff0000) | (low >>> 16)
  }
}

function writeRecord(record: Buffer, state: KeyHistoryState): void {
  const { identity, head, publicKey, formerPublicKey, at, keyVersion, event, hasPossession, isLinked } = state
  for (const [nth, digest] of [identity, head, publicKey, formerPublicKey ?? ''].entries())
    Buffer.concat([Buffer.from(digest, 'base64')], digestBytes).copy(record, nth * digestBytes)
  record.writeDoubleLE(Date.parse(at), 128)
  record.writeUInt32LE(keyVersion, 136)
  record[140] =
    eventFlags(keyEventKinds.indexOf(event)) |
    (hasPossession ? flag.possession : 0) |
    (isLinked ? flag.linked : 0) |
    (formerPublicKey === null ? 0 : flag.former)
}

/** Two bits name the first four events. A further bit is for later ones, so that earlier state files stay valid. */
function eventFlags(index: number): number {
  return (index & 3) | (index > 3 ? flag.laterEvent : 0)
}

function readRecord(record: Buffer): KeyHistoryState {
  const [identity = '', head = '', publicKey = '', former = ''] = [0, 1, 2, 3].map((nth) =>
    record.toString('base64', nth * digestBytes, (nth + 1) * digestBytes),
  )
  const { hasFormer, ...flags } = readFlags(record)
  return {
    ...{ identity, head, publicKey, formerPublicKey: hasFormer ? former : null },
    at: new Date(record.readDoubleLE(128)).toISOString(),
    keyVersion: record.readUInt32LE(136),
    ...flags,
  }
}

function readFlags(record: Buffer) {
  const flags = record[140] ?? 0
  return {
    event: keyEventKinds[(flags & 3) + (flags & flag.laterEvent ? 4 : 0)] ?? 'created',
    hasPossession: (flags & flag.possession) > 0,
    isLinked: (flags & flag.linked) > 0,
    hasFormer: (flags & flag.former) > 0,
  }
}
