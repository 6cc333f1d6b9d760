import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { costlyMetadata, costlyResponses, costlyXml } from '#testing/costly-saml.ts'
import { costlyForms, costlyJson, inHeader } from '#testing/costly-text.ts'
import { anonymousMillisecondsMax, type Shapes } from '#testing/parser-cost.ts'
import { freePorts, startService, type Service } from '#testing/service.ts'

let service: Service
let metricsUrl = ''
before(async () => {
  const [port] = await freePorts(1)
  metricsUrl = `http://localhost:${port}/metrics`
  const environment = { RATE_LIMITS: 'off', METRICS_PORT: String(port), TRUST_PROXY: '1', LOG_LEVEL: 'error' }
  service = await startService({ environment })
})
after(() => service.close())

/** Returns the processor time of the service so far, in milliseconds. */
async function processorTime(): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const [, seconds] = /^process_cpu_seconds_total (\S+)$/m.exec(text) ?? []
  assert.ok(seconds !== undefined, text)
  return Number(seconds) * 1000
}

type Door = { path: string; sizeMax: number; shapes: Shapes; init: (text: string) => RequestInit }

const json = (body: string): RequestInit => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body })
const asForm = { 'content-type': 'application/x-www-form-urlencoded' }
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Requests that need no account, session or client. */
const doors: Record<string, Door> = {
  'JSON to sign in': { path: '/api/auth/login/start', sizeMax: limits.bodyBytesMax, shapes: costlyJson, init: json },
  'JSON to register': {
    path: '/api/auth/register/finish',
    sizeMax: limits.bodyBytesMax,
    shapes: costlyJson,
    init: json,
  },
  'JSON to ask for a signature': {
    path: '/api/signing/request',
    sizeMax: limits.signingRequestBytesMax,
    shapes: costlyJson,
    init: json,
  },
  'a form for a token': {
    path: '/api/oauth/token',
    sizeMax: limits.bodyBytesMax,
    shapes: costlyForms,
    init: (body) => ({ method: 'POST', headers: asForm, body }),
  },
  'a SAML response to an invented sign-in': {
    path: `/api/sso/${randomUUID()}/acs`,
    sizeMax: limits.samlResponseBytesMax,
    shapes: { ...costlyXml, ...costlyResponses, ...costlyMetadata },
    init: (text) => ({
      method: 'POST',
      headers: { ...asForm, cookie: `countersign-sso=${'A'.repeat(43)}` },
      body: new URLSearchParams({ SAMLResponse: base64(text) }).toString(),
    }),
  },
  headers: {
    path: '/api/auth/session',
    sizeMax: 3000,
    shapes: inHeader,
    init: (text) => ({
      headers: {
        cookie: text,
        authorization: `Bearer ${text}`,
        'x-forwarded-for': text,
        'user-agent': text,
        'accept-language': text,
      },
    }),
  },
}

const requestsAtOnce = 4
const samplesMax = 8

for (const [what, { path, sizeMax, shapes, init }] of Object.entries(doors))
  test(`PRS-11 ${what} costs the service less than 50 ms of processor time`, async () => {
    for (const [shape, build] of Object.entries(shapes)) {
      const request = init(build(sizeMax))
      let least = Infinity
      for (let samples = 0; samples < samplesMax && least >= anonymousMillisecondsMax; samples += 1) {
        const earlier = await processorTime()
        for (let sent = 0; sent < requestsAtOnce; sent += 1) {
          const answer = await fetch(`${service.baseUrl}${path}`, request)
          assert.ok(answer.status < 500, `${shape}: ${answer.status}`)
          await answer.arrayBuffer()
        }
        least = Math.min(least, ((await processorTime()) - earlier) / requestsAtOnce)
      }
      assert.ok(least < anonymousMillisecondsMax, `${shape}: ${least} ms`)
    }
  })
