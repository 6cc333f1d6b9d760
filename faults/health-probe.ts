/**
 * A separate process that requests `/healthz` twenty times a second, so that the load on the attacking process does not
 * affect the measurement. Its argument is the URL. Any message ends it; then it sends the latency of each probe in
 * milliseconds.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

const pauseMilliseconds = 50

/** Starts to probe a service. `end` returns the latency of each probe, and rejects if one did not get 200. */
export function beginProbing(baseUrl: string) {
  const child = fork(import.meta.filename, [`${baseUrl}/healthz`])
  const taken = new Promise<number[]>((resolve, reject) => {
    child.once('message', (message) => resolve(Array.isArray(message) ? message.map(Number) : []))
    child.once('exit', (code) => reject(new Error(`the probing process has ended with ${code}`)))
  })
  // Handled from the start: a failed probe must not become an unhandled rejection before the end is awaited.
  taken.catch(() => {})
  return {
    end() {
      child.send('end')
      return taken
    },
  }
}

if (import.meta.main) {
  const ended = new AbortController()
  void once(process, 'message').then(() => ended.abort())
  const agent = new Agent({ keepAlive: true })
  const taken: number[] = []
  while (!ended.signal.aborted) {
    taken.push(await probe(process.argv[2] ?? '', agent))
    await wait(pauseMilliseconds)
  }
  agent.destroy()
  process.send?.(taken, () => process.disconnect?.())
}

function probe(url: string, agent: Agent): Promise<number> {
  const sentAt = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a probe got status ${response.statusCode}`))
      response.resume().once('close', () => resolve(performance.now() - sentAt))
    }).once('error', reject)
  })
}
