import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { serveHere } from '../../server/testing/service-here.ts'
import { freePorts, type Served } from '../../server/testing/service.ts'
import { checkKeySet, checkMetadata, readDocument } from './discovery.ts'
import { runPlan, type Module } from './plan.ts'

/** Public URLs, with a proxy in front of the process that would terminate TLS. */
const hosts = {
  BASE_URL: 'https://api.id.example',
  AUTH_URL: 'https://id.example',
  BUSINESS_URL: 'https://business.id.example',
}

let service: Served
let port: number | undefined
before(async () => {
  ;[port] = await freePorts(1)
  service = await serveHere({ ...hosts, PORT: String(port), ALLOW_EMBEDDED: '1' })
})
after(() => service.close())

/** Sends a request to the process as its proxy does: to its port, with the requested host name. */
async function requestAsProxy(url: string): Promise<Response> {
  const { host, pathname } = new URL(url)
  const asking = get({ host: '127.0.0.1', port, path: pathname, headers: { host } })
  const [answer]: IncomingMessage[] = await once(asking, 'response')
  assert.ok(answer)
  const headers = { 'content-type': answer.headers['content-type'] ?? '' }
  return new Response(await text(answer), { status: answer.statusCode ?? 0, headers })
}

const modules: Module<string>[] = [
  {
    name: 'oidcc-discovery-endpoint-verification',
    promise: 'discovery describes the service over https, and the key set is valid',
    clause: 'OpenID Connect Discovery §3, §4, RFC 8414 §3',
    async check(issuer) {
      const document = await readDocument(`${issuer}/.well-known/openid-configuration`, requestAsProxy)
      const metadata = checkMetadata(document, issuer)
      const addresses = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$|^issuer$/.test(name))
      assert.ok(addresses.length >= 5)
      for (const [name, address] of addresses) assert.match(String(address), /^https:\/\/[^#]+$/, name)
      assert.deepEqual(await readDocument(`${issuer}/.well-known/oauth-authorization-server`, requestAsProxy), document)
      const { keys } = checkKeySet(await readDocument(metadata.jwks_uri, requestAsProxy))
      for (const algorithm of metadata.id_token_signing_alg_values_supported)
        assert.ok(
          keys.some(({ alg }) => alg === algorithm),
          algorithm,
        )
    },
  },
]

runPlan('Config OP', modules, () => hosts.AUTH_URL)
