import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Host } from '#platform/http/host.ts'

type Held = { method: string; path: string; headers: Record<string, string>; body: string }

/** Makes a host of a world listen on loopback, for tests that need a connection; returns its port. */
export async function listenHere(host: Host): Promise<number> {
  return Number(new URL(await host.listen({ port: 0, host: '127.0.0.1' })).port)
}

/** Sends a request except for the last byte of its body; `finish` sends that, and returns the status and the body. */
export async function holdRequest(port: number, { method, path, headers, body }: Held) {
  const socket = connect(port, '127.0.0.1')
  const lines = Object.entries({ host: 'localhost', 'content-length': Buffer.byteLength(body), ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), 'connection: close']
  const sent = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  await new Promise<unknown>((resolve) => socket.write(sent.subarray(0, -1), resolve))
  const answer = text(socket)
  return {
    async finish() {
      socket.write(sent.subarray(-1))
      const [, status, said = ''] = /^HTTP\/1.1 (\d+) [^]*?\r\n\r\n([^]*)$/.exec(await answer) ?? []
      assert.ok(status, `${method} ${path} was not answered`)
      return { status: Number(status), body: said }
    },
  }
}
