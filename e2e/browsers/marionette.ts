import { once } from 'node:events'
import { connect } from 'node:net'

/** The key of a reference to an element (WebDriver §12). */
export const elementKey = 'element-6066-11e4-a52e-4f735466cecf'

type AuthenticatorOptions = {
  protocol: 'ctap2_1'
  transport: 'internal'
  hasResidentKey: boolean
  hasUserVerification: boolean
  isUserVerified: boolean
  isUserConsenting: boolean
  extensions: 'prf'[]
}

type Script = { script: string; args: unknown[] }

/** The commands in use: what each takes, and its result. */
type Commands = {
  'WebDriver:NewSession': [parameters: object, result: { sessionId: string }]
  'WebDriver:SetTimeouts': [parameters: { script: number; pageLoad: number }, result: unknown]
  'WebDriver:Navigate': [parameters: { url: string }, result: unknown]
  'WebDriver:ExecuteScript': [parameters: Script, result: { value: unknown }]
  'WebDriver:ExecuteAsyncScript': [parameters: Script, result: { value: unknown }]
  'WebDriver:ElementClick': [parameters: { id: string }, result: unknown]
  'WebDriver:ElementClear': [parameters: { id: string }, result: unknown]
  'WebDriver:ElementSendKeys': [parameters: { id: string; text: string }, result: unknown]
  'WebDriver:NewWindow': [parameters: { type: 'window'; private: boolean }, result: { handle: string }]
  'WebDriver:SwitchToWindow': [parameters: { handle: string }, result: unknown]
  'WebAuthn:AddVirtualAuthenticator': [parameters: AuthenticatorOptions, result: { value: string }]
  'WebAuthn:RemoveVirtualAuthenticator': [parameters: { authenticatorId: string }, result: unknown]
  'Marionette:SetContext': [parameters: { value: 'chrome' | 'content' }, result: unknown]
  'Marionette:Quit': [parameters: { flags: ['eForceQuit'] }, result: unknown]
}

type Fault = { error: string; message: string }
type Reply = { fault: Fault | null; result: unknown }

export type Marionette = Awaited<ReturnType<typeof connectMarionette>>

/** A command that Firefox has rejected. `code` is that of the WebDriver standard, for example `javascript error`. */
export class CommandError extends Error {
  readonly code: string

  constructor(command: string, { error, message }: Fault) {
    super(`${command}: ${error}: ${message}`)
    this.name = 'CommandError'
    this.code = error
  }
}

/**
 * Connects to Marionette, the protocol below the WebDriver of Firefox. Each message is JSON with its length before it
 * (https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html).
 */
export async function connectMarionette(port: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const waiting = new Map<number, (reply: Reply) => void>()
  const read = createReader((message) => {
    // The first message describes the server; the replies are arrays.
    if (!Array.isArray(message)) return
    const [, id, fault, result] = message
    waiting.get(id)?.({ fault, result })
    waiting.delete(id)
  })
  socket.on('data', read)
  const closed = once(socket, 'close')
  const lost = closed.then(() => ({ fault: { error: 'disconnected', message: 'Firefox has ended' }, result: null }))
  let last = 0

  return {
    /** Sends a command, and returns its result. */
    async send<Name extends keyof Commands>(command: Name, parameters: Commands[Name][0]): Promise<Commands[Name][1]> {
      last += 1
      const id = last
      const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve))
      const message = JSON.stringify([0, id, command, parameters])
      socket.write(`${Buffer.byteLength(message)}:${message}`)
      const { fault, result } = await Promise.race([replied, lost])
      if (fault) throw new CommandError(command, fault)
      return result
    },
    async close() {
      socket.destroy()
      await closed
    },
  }
}

/** Returns a function that takes the bytes of a connection, and passes on each message when it is complete. */
function createReader(pass: (message: unknown) => void): (part: Buffer) => void {
  let buffer = Buffer.alloc(0)
  return (part) => {
    buffer = Buffer.concat([buffer, part])
    for (;;) {
      const colon = buffer.indexOf(':')
      if (colon < 0) return
      const end = colon + 1 + Number(buffer.toString('latin1', 0, colon))
      if (buffer.length < end) return
      pass(JSON.parse(buffer.toString('utf8', colon + 1, end)))
      buffer = buffer.subarray(end)
    }
  }
}
