import { Duplex } from 'node:stream'
import type { PGlite } from '@electric-sql/pglite'

const startupKind = 'startup'
/** The frontend messages after which PostgreSQL answers: Sync, Query, Flush, Terminate, and the password. */
const answered = new Set([startupKind, 'S', 'Q', 'H', 'X', 'p'])

/**
 * A socket from `pg` to an embedded PostgreSQL in this process. It speaks the wire protocol itself, and hands over
 * whole batches (up to Sync), so that the backend skips what follows a failed message exactly as over the network.
 */
export class EmbeddedSocket extends Duplex {
  readonly #database: PGlite
  readonly #onPanic: (message: string) => void
  #pending: Buffer = Buffer.alloc(0)
  #started = false

  constructor(database: PGlite, onPanic: (message: string) => void) {
    super()
    this.#database = database
    this.#onPanic = onPanic
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  /** What a socket has and an in-process stream has no use for. */
  setNoDelay = (): this => this
  setKeepAlive = (): this => this
  ref = (): this => this
  unref = (): this => this

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const end = this.#endOfBatch()
    if (end === 0) return done()

    const batch = this.#pending.subarray(0, end)
    this.#pending = this.#pending.subarray(end)
    this.#answer(batch).then(() => done(), done)
  }

  async #answer(batch: Buffer): Promise<void> {
    if (this.#started && batch[0] === 'X'.charCodeAt(0)) return void this.push(null)
    if (!this.#started) await this.#cleanSession()
    this.#started = true
    const answer = await this.#exchange(new Uint8Array(batch))
    const panic = panicIn(answer)
    if (panic) this.#onPanic(panic)
    this.push(answer)
  }

  /** The embedded PostgreSQL has one session for ever: what the connection before left open in it is ended first. */
  async #cleanSession(): Promise<void> {
    await this.#exchange(queryMessage('rollback'))
    await this.#exchange(queryMessage('discard all'))
  }

  /**
   * Hands messages to the backend and answers what it says. Not by `execProtocolRaw`: that reads every answer a second
   * time and keeps what it has read for ever.
   */
  async #exchange(messages: Uint8Array): Promise<Buffer> {
    const parts: Buffer[] = []
    // A part is a view of the memory of the backend, which it uses again: hence a copy.
    const onRawData = (part: Uint8Array) => void parts.push(Buffer.from(part))
    await this.#database.execProtocolRawStream(messages, { onRawData })
    return Buffer.concat(parts)
  }

  /** Where the last whole message ends that PostgreSQL will answer; 0 while none has arrived whole. */
  #endOfBatch(): number {
    let end = 0
    let at = 0
    while (at < this.#pending.length) {
      const kind = at === 0 && !this.#started ? startupKind : String.fromCharCode(this.#pending[at] ?? 0)
      const lengthAt = kind === startupKind ? at : at + 1
      if (this.#pending.length < lengthAt + 4) break
      at = lengthAt + this.#pending.readInt32BE(lengthAt)
      if (this.#pending.length < at) break
      if (answered.has(kind)) end = at
      if (kind === startupKind) break
    }
    return end
  }
}

/**
 * The message of an ErrorResponse after which the backend can no longer be trusted: of severity PANIC or FATAL, or of
 * class 58, where its files do not do as they are told. Without descriptors, say, it never finds its files again.
 */
function panicIn(answer: Buffer): string | undefined {
  let at = 0
  while (at + 5 <= answer.length) {
    const length = answer.readInt32BE(at + 1)
    if (answer[at] === 'E'.charCodeAt(0)) {
      const fields = answer.toString('utf8', at + 5, at + 1 + length).split('\0')
      if (fields.some((field) => field === 'VPANIC' || field === 'VFATAL' || field.startsWith('C58')))
        return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'no message'
    }
    at += 1 + length
  }
  return undefined
}

/** A simple query as the wire protocol has it (PostgreSQL's manual, Message Formats). */
function queryMessage(sql: string): Uint8Array {
  const text = Buffer.from(`${sql}\0`)
  const head = Buffer.from('Q\0\0\0\0')
  head.writeInt32BE(text.length + 4, 1)
  return new Uint8Array(Buffer.concat([head, text]))
}
