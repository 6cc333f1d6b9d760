/**
 * Durations without the time in which this machine stood still, as virtual machines do for a second or two. In that
 * time neither the service nor this process has run, so it says nothing about the service.
 *
 * A thread that only sleeps is woken every few milliseconds, also while all processors are busy, and notes when it was
 * not. It has its own event loop: what delays that of the test, or the service, is not a stall and is counted.
 */
import { once } from 'node:events'
import { isMainThread, MessageChannel, MessagePort, parentPort, Worker } from 'node:worker_threads'

const tickMilliseconds = 10
/** On a busy machine, a thread is woken late. Only what is later than this is a stall. */
const latenessMillisecondsMax = 100

/** Two times of `performance.now()`. */
export type Span = { from: number; to: number }

/** The clock that all threads share. */
const sharedNow = () => Number(process.hrtime.bigint()) / 1e6

/** Returns how many milliseconds of each of these spans, which have ended, were not part of a stall. */
export async function withoutStalls(spans: readonly Span[]): Promise<number[]> {
  const stalls = await readStalls()
  return spans.map(({ from, to }) => {
    const stalled = stalls.map((stall) => Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)))
    return stalled.reduce((left, milliseconds) => left - milliseconds, to - from)
  })
}

/** Does work; returns its result, and the milliseconds that it took without stalls. */
export async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; milliseconds: number }> {
  const from = performance.now()
  const result = await work()
  const [milliseconds = 0] = await withoutStalls([{ from, to: performance.now() }])
  return { result, milliseconds }
}

const watcher = isMainThread ? await startWatching() : undefined

async function startWatching(): Promise<Worker> {
  // Without the options of this process, of which some are not for threads.
  const worker = new Worker(new URL(import.meta.url), { execArgv: [] })
  await once(worker, 'message')
  worker.unref()
  return worker
}

async function readStalls(): Promise<Span[]> {
  const { port1: own, port2: other } = new MessageChannel()
  watcher?.postMessage(other, [other])
  const [stalls]: Span[][] = await once(own, 'message')
  own.close()
  const offset = sharedNow() - performance.now()
  return (stalls ?? []).map(({ from, to }) => ({ from: from - offset, to: to - offset }))
}

/** Runs in the thread: says so, notes stalls in the shared clock, and sends all of them to each port that it gets. */
function watch(inbox: MessagePort): void {
  const stalls: Span[] = []
  let lastAt = sharedNow()
  const note = () => {
    const at = sharedNow()
    if (at - lastAt > tickMilliseconds + latenessMillisecondsMax)
      stalls.push({ from: lastAt + tickMilliseconds, to: at })
    lastAt = at
  }
  setInterval(note, tickMilliseconds)
  inbox.on('message', (port: unknown) => {
    note()
    if (port instanceof MessagePort) port.postMessage(stalls)
  })
  inbox.postMessage('watching', [])
}

if (parentPort) watch(parentPort)
