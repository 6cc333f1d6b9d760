/**
 * A process that asks `/healthz` twenty times a second, so that what is measured is the service, and not how busy the
 * process that attacks it is. Its argument is the URL. When it is sent anything it ends, and tells how long each probe
 * took, in milliseconds.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

const pauseMilliseconds = 50

/** Begins to probe a service. `end` answers how long each probe took, and rejects where one was not answered 200. */
export function beginProbing(baseUrl: string) {
  const child = fork(import.meta.filename, [`${baseUrl}/healthz`])
  const taken = new Promise<number[]>((resolve, reject) => {
    child.once('message', (message) => resolve(Array.isArray(message) ? message.map(Number) : []))
    child.once('exit', (code) => reject(new Error(`the process that probes has ended with ${code}`)))
  })
  // Watched from the start: a probe that fails must not be an unhandled rejection before the end is awaited.
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
  const askedAt = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a probe was answered ${response.statusCode}`))
      response.resume().once('close', () => resolve(performance.now() - askedAt))
    }).once('error', reject)
  })
}
