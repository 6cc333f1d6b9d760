import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket as DatagramSocket } from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { isIP, Socket, type LookupFunction } from 'node:net'

/** Parts of the service that open outbound connections. There are no others (decision 34). */
export type Egress = 'database' | 'dns' | 'mail' | 'outbound' | 'telemetry'

const inFlight = new AsyncLocalStorage<Egress>()
const permittedSockets = new WeakMap<object, Egress>()

/** Runs work that may open connections, including asynchronous work that it starts. */
export function allowEgress<Result>(by: Egress, work: () => Result): Result {
  return inFlight.run(by, work)
}

/** Creates a socket that may connect, for a library that connects it whenever it needs to. */
export function allowedSocket(by: Egress): Socket {
  const socket = new Socket()
  permittedSockets.set(socket, by)
  return socket
}

/** A connection, datagram or DNS query that no allowed part of the service has opened. */
class OutboundNotAllowed extends Error {
  override readonly name = 'OutboundNotAllowed'
  readonly code = 'outbound_not_allowed'
  /** Host name, address or path of a socket. */
  readonly destination: string

  constructor(destination: string) {
    super(`outbound connection to ${destination} is not allowed`)
    this.destination = destination
  }
}

let report: (error: OutboundNotAllowed) => void = () => {}
const reported = new Set<string>()
/** Maximum number of destinations that are remembered and logged. */
const reportedMax = 100

/** Reports each destination once, so that users who supply addresses cannot fill the log. */
export function reportEgress(to: (error: OutboundNotAllowed) => void): void {
  report = to
}

/**
 * Blocks every connection of this process, by any library, outside `allowEgress` or an `allowedSocket`: TCP, TLS and
 * local sockets, and so HTTP, `fetch` and WebSockets; UDP; and DNS queries. They fail like a connection, with
 * `OutboundNotAllowed`. Worker threads have their own sockets.
 */
export function guardEgress(): void {
  const { connect } = Socket.prototype
  guard(Socket.prototype, 'connect', destinationOfConnect, (socket, error) => {
    // A caller without an error listener gets no connection and must not end the process.
    if (socket instanceof Socket) socket.on('error', () => {})
    // Fails like an unknown name, so that code that uses the socket, such as TLS, gets the error when it is ready.
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

/** Returns the destination of a call by its arguments, or undefined if the call does not leave this process. */
type DestinationOf = (args: unknown[]) => string | undefined
type Refuse = (self: unknown, error: OutboundNotAllowed, args: unknown[]) => unknown

/** Replaces a method of Node by one that blocks what is not allowed. */
function guard(owner: object, name: string, destinationOf: DestinationOf, refuse: Refuse): void {
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== 'function') throw new Error(`this Node has no ${name} to guard`)
  function guarded(this: unknown, ...args: unknown[]): unknown {
    const call = (): unknown => Reflect.apply(asFunction, this, args)
    if (inFlight.getStore() !== undefined) return call()
    const by = typeof this === 'object' && this !== null ? permittedSockets.get(this) : undefined
    if (by !== undefined) return allowEgress(by, call)
    const destination = destinationOf(args)
    if (destination === undefined) return call()
    const error = new OutboundNotAllowed(destination)
    reportOnce(error)
    return refuse(this, error, args)
  }
  const asFunction = original
  // Copies names, lengths and the `promisify` behavior.
  Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))
  Reflect.set(owner, name, guarded)
}

function reportOnce(error: OutboundNotAllowed): void {
  if (reported.has(error.destination) || reported.size >= reportedMax) return
  reported.add(error.destination)
  report(error)
}

/** Handles `connect(options)`, `connect(port, host)`, `connect(path)`, and the list that Node normalizes these to. */
function destinationOfConnect([first, second]: unknown[]): string {
  if (Array.isArray(first)) return destinationOfConnect(first)
  if (typeof first === 'number') return typeof second === 'string' ? second : 'localhost'
  if (typeof first !== 'object' || first === null) return String(first)
  if ('path' in first && typeof first.path === 'string') return first.path
  return 'host' in first && typeof first.host === 'string' ? first.host : 'localhost'
}

/** Handles `send(message, [offset, length,] [port] [, address])` and `connect(port, address)`. */
function destinationOfDatagram(args: unknown[]): string {
  return args.slice(1).findLast((arg) => typeof arg === 'string') ?? 'localhost'
}

/** Returns undefined for addresses and for this machine's name, which need no name server. */
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
