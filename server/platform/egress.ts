import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket as DatagramSocket } from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { isIP, Socket, type LookupFunction } from 'node:net'

/** The parts of the service that open connections. There are no others (decision 34). */
export type Egress = 'database' | 'dns' | 'mail' | 'outbound' | 'telemetry'

const underWay = new AsyncLocalStorage<Egress>()
const permittedSockets = new WeakMap<object, Egress>()

/** Runs work that opens connections, also later while it is under way. */
export function allowEgress<Result>(by: Egress, work: () => Result): Result {
  return underWay.run(by, work)
}

/** Creates a socket that may connect: for a library that is given one, and connects it whenever it needs to. */
export function allowedSocket(by: Egress): Socket {
  const socket = new Socket()
  permittedSockets.set(socket, by)
  return socket
}

/** A connection, a datagram or a question to a name server that no part of the service has opened. */
class OutboundNotAllowed extends Error {
  override readonly name = 'OutboundNotAllowed'
  readonly code = 'outbound_not_allowed'
  /** A host name, an address or the path of a socket. */
  readonly destination: string

  constructor(destination: string) {
    super(`outbound connection to ${destination} is not allowed`)
    this.destination = destination
  }
}

let report: (error: OutboundNotAllowed) => void = () => {}
const reported = new Set<string>()
/** A bound for what is kept, and for what is logged. */
const reportedMax = 100

/** Reports each destination once from now on: whoever names addresses must not fill the log. */
export function reportEgress(to: (error: OutboundNotAllowed) => void): void {
  report = to
}

/**
 * Makes every connection of this process fail that is not opened within `allowEgress` or by an `allowedSocket`, by
 * whatever library: TCP, TLS and local sockets, and so HTTP, `fetch` and WebSockets; UDP; and questions to name
 * servers. They fail as a connection does, with `OutboundNotAllowed`. Worker threads have sockets of their own.
 */
export function guardEgress(): void {
  const { connect } = Socket.prototype
  guard(Socket.prototype, 'connect', destinationOfConnect, (socket, error) => {
    // A caller without a listener gets no connection, and must not end the process.
    if (socket instanceof Socket) socket.on('error', () => {})
    // As a name that is not found: what has begun to use the socket, such as TLS, hears of it when it is ready to.
    const lookup: LookupFunction = (_hostname, _options, done) => done(error, '')
    return Reflect.apply(connect, socket, [{ host: 'outbound-not-allowed.invalid', port: 1, lookup }])
  })
  for (const method of ['send', 'connect'])
    guard(DatagramSocket.prototype, method, destinationOfDatagram, (_socket, error, args) => callBack(error, args))

  for (const methods of [dns, dns.Resolver.prototype])
    guardQuestions(methods, (_resolver, error, args) => callBack(error, args))
  for (const methods of [dns.promises, dns.promises.Resolver.prototype])
    guardQuestions(methods, (_resolver, error) => Promise.reject(error))
  syncBuiltinESMExports()
}

/** The destination of a call by its arguments; undefined where nothing would leave this process. */
type DestinationOf = (args: unknown[]) => string | undefined
type Refuse = (self: unknown, error: OutboundNotAllowed, args: unknown[]) => unknown

/** Replaces a method of Node's by one that refuses what is not allowed. */
function guard(owner: object, name: string, destinationOf: DestinationOf, refuse: Refuse): void {
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== 'function') throw new Error(`this Node has no ${name} to guard`)
  function guarded(this: unknown, ...args: unknown[]): unknown {
    const call = (): unknown => Reflect.apply(asFunction, this, args)
    if (underWay.getStore() !== undefined) return call()
    const by = typeof this === 'object' && this !== null ? permittedSockets.get(this) : undefined
    if (by !== undefined) return allowEgress(by, call)
    const destination = destinationOf(args)
    if (destination === undefined) return call()
    const error = new OutboundNotAllowed(destination)
    reportOnce(error)
    return refuse(this, error, args)
  }
  const asFunction = original
  // Their names and lengths, and how `promisify` reads their results.
  Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))
  Reflect.set(owner, name, guarded)
}

function reportOnce(error: OutboundNotAllowed): void {
  if (reported.has(error.destination) || reported.size >= reportedMax) return
  reported.add(error.destination)
  report(error)
}

/** `connect(options)`, `connect(port, host)`, `connect(path)`, or the list that Node makes of these by itself. */
function destinationOfConnect([first, second]: unknown[]): string {
  if (Array.isArray(first)) return destinationOfConnect(first)
  if (typeof first === 'number') return typeof second === 'string' ? second : 'localhost'
  if (typeof first !== 'object' || first === null) return String(first)
  if ('path' in first && typeof first.path === 'string') return first.path
  return 'host' in first && typeof first.host === 'string' ? first.host : 'localhost'
}

/** `send(message, [offset, length,] [port] [, address])`, `connect(port, address)`. */
function destinationOfDatagram(args: unknown[]): string {
  return args.slice(1).findLast((arg) => typeof arg === 'string') ?? 'localhost'
}

/** What is an address already, or this machine by name, is looked up without asking a name server. */
function destinationOfLookup([name]: unknown[]): string | undefined {
  const text = String(name)
  return isIP(text) !== 0 || text === 'localhost' ? undefined : text
}

function destinationOfQuestion([name]: unknown[]): string {
  return String(name)
}

function guardQuestions(methods: object, refuse: Refuse): void {
  for (const name of Object.getOwnPropertyNames(methods))
    if (/^(?:lookup|resolve|reverse)/.test(name))
      guard(methods, name, name === 'lookup' ? destinationOfLookup : destinationOfQuestion, refuse)
}

function callBack(error: Error, args: unknown[]): void {
  const callback = args.at(-1)
  if (typeof callback === 'function') process.nextTick(callback, error)
}
