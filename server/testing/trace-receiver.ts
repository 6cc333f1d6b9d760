import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }
export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  status: { code?: number }
}

type Manner = {
  /** Called when a request has arrived, which is answered afterwards. */
  onRequest?: () => Promise<void> | void
  /** Called with the number of spans so far. */
  onSpans?: (count: number) => void
}

/** Starts a receiver of OTLP/HTTP in JSON. It answers the given statuses first, then 200. */
export async function startTraceReceiver(statuses: number[] = [], { onRequest, onSpans }: Manner = {}) {
  const bodies: string[] = []
  const spans: ReceivedSpan[] = []
  const requests: { url: string | undefined; key: string | undefined }[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    requests.push({ url: request.url, key: request.headers['x-key']?.toString() })
    const status = statuses.shift() ?? 200
    await onRequest?.()
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    if (status !== 200) return
    bodies.push(body)
    const sent: { resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[] } = JSON.parse(body)
    spans.push(...sent.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    onSpans?.(spans.length)
  }
  const server = createServer((request, response) => void take(request, response)).listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    spans,
    requests,
    /** Returns everything received, unchanged. */
    received: () => bodies.join('\n'),
    close: () => void server.close(),
  }
}
