import { Duplex } from 'node:stream'
import type { PGlite } from '@electric-sql/pglite'

const startupKind = 'startup'
/** Frontend messages to which PostgreSQL responds: Sync, Query, Flush, Terminate and the password. */
const requestCompleted = new Set([startupKind, 'S', 'Q', 'H', 'X', 'p'])
/** Time between turns of the event loop. One after each statement would make small statements a tenth slower. */
const turnMilliseconds = 10

/**
 * Socket from `pg` to an embedded PostgreSQL in this process. It speaks the wire protocol and passes whole batches (up
 * to Sync), so that the backend skips messages after a failed one exactly as over the network.
 */
export class EmbeddedSocket extends Duplex {
  readonly #database: PGlite
  readonly #onPanic: (message: string) => void
  #pending: Buffer = Buffer.alloc(0)
  #started = false
  #turnedAt = 0

  constructor(database: PGlite, onPanic: (message: string) => void) {
    super()
    this.#database = database
    this.#onPanic = onPanic
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  /** Socket methods that an in-process stream does not need. */
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
    this.#answer(batch).then(() => this.#continue(done), done)
  }

  /**
   * Accepts the next batch, every few milliseconds after a turn of the event loop. A batch needs none: statements in
   * sequence would keep timers and requests waiting until the last one.
   */
  #continue(done: () => void): void {
    const now = performance.now()
    if (now - this.#turnedAt < turnMilliseconds) return done()
    this.#turnedAt = now
    setImmediate(done)
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

  /**
   * Ends the state that the previous connection left open, because the embedded PostgreSQL has one permanent session.
   */
  async #cleanSession(): Promise<void> {
    await this.#exchange(queryMessage('rollback'))
    await this.#exchange(queryMessage('discard all'))
  }

  /**
   * Passes messages to the backend and returns its response. It does not use `execProtocolRaw`, which parses every
   * response a second time and keeps the result forever.
   */
  async #exchange(messages: Uint8Array): Promise<Buffer> {
    const parts: Buffer[] = []
    // A part is a view of the backend's memory, which is reused, so it must be copied.
    const onRawData = (part: Uint8Array) => void parts.push(Buffer.from(part))
    await this.#database.execProtocolRawStream(messages, { onRawData })
    return Buffer.concat(parts)
  }

  /** Returns the end of the last complete message that PostgreSQL responds to, or 0 if none is complete. */
  #endOfBatch(): number {
    let end = 0
    let at = 0
    while (at < this.#pending.length) {
      const kind = at === 0 && !this.#started ? startupKind : String.fromCharCode(this.#pending[at] ?? 0)
      const lengthAt = kind === startupKind ? at : at + 1
      if (this.#pending.length < lengthAt + 4) break
      at = lengthAt + this.#pending.readInt32BE(lengthAt)
      if (this.#pending.length < at) break
      if (requestCompleted.has(kind)) end = at
      if (kind === startupKind) break
    }
    return end
  }
}

/**
 * Returns the message of an ErrorResponse after which the backend can no longer be trusted: severity PANIC or FATAL, or
 * class 58 for failed file operations. Without file descriptors, for example, it never finds its files again.
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

/** Builds a simple query message of the wire protocol (PostgreSQL manual, Message Formats). */
function queryMessage(sql: string): Uint8Array {
  const text = Buffer.from(`${sql}\0`)
  const head = Buffer.from('Q\0\0\0\0')
  head.writeInt32BE(text.length + 4, 1)
  return new Uint8Array(Buffer.concat([head, text]))
}
