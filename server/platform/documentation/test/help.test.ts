import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { BRAND_NAME: 'Letters & <Ledgers>' } })
})
after(() => world.close())

const docs = new URL('../../../../docs/', import.meta.url)

/** All pages that are reached from a page by links on this host, with their HTML. */
function readAll(host: 'auth' | 'api', start: string): Promise<Map<string, string>> {
  const pages = read.get(start) ?? followLinks(host, start)
  read.set(start, pages)
  return pages
}
const read = new Map<string, Promise<Map<string, string>>>()

async function followLinks(host: 'auth' | 'api', start: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const pending = [start]
  for (const url of pending) {
    if (found.has(url)) continue
    const answer = await world[host].inject({ url })
    assert.equal(answer.statusCode, 200, url)
    found.set(url, answer.body)
    pending.push(...linksIn(answer.body, host).map((link) => link.split('#', 1)[0] ?? ''))
  }
  return found
}

/** Links of a page to pages of the same kind on its host. */
function linksIn(html: string, host: 'auth' | 'api'): string[] {
  const root = host === 'auth' ? '/help' : '/docs'
  const links = [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href)
  const own = links.map((href) => href.replace(world.config[host === 'auth' ? 'authUrl' : 'baseUrl'].origin, ''))
  return own.filter((href) => href === root || href.startsWith(`${root}/`) || href.startsWith(`${root}#`))
}

for (const [host, start] of [
  ['auth', '/help'],
  ['api', '/docs'],
] as const)
  test(`every link of the pages at ${start} leads to a page and a place on it`, async () => {
    const pages = await readAll(host, start)
    assert.ok(pages.size > 15)
    for (const [url, html] of pages) {
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
      assert.equal(new Set(ids).size, ids.length, `${url} has an ID twice`)
      for (const link of linksIn(html, host)) {
        const [path = '', fragment] = link.split('#')
        const target = pages.get(path)
        assert.ok(target, `${url} links to ${link}`)
        if (fragment !== undefined) assert.ok(target.includes(`id="${fragment}"`), `${url} links to ${link}`)
      }
      for (const [, fragment = ''] of html.matchAll(/href="#([^"]+)"/g))
        assert.ok(html.includes(`id="${fragment}"`), `${url} links to #${fragment}`)
      for (const [, source = ''] of html.matchAll(/<img src="([^"]+)"/g))
        assert.equal((await world[host].inject({ url: source })).statusCode, 200, `${url} shows ${source}`)
    }
  })

test('help has every guide, and every page for users, operators and auditors', async () => {
  const pages = await readAll('auth', '/help')
  for (const folder of ['guides', 'help', 'operations', 'reference'])
    for (const name of readdirSync(new URL(folder, docs)))
      assert.ok(pages.has(`/help/${folder}/${name.replace('.md', '')}`), `${folder}/${name}`)
})

test('HDR-01 help and API reference have nothing inline and load nothing from other hosts', async () => {
  for (const host of ['auth', 'api'] as const)
    for (const [url, html] of await readAll(host, host === 'auth' ? '/help' : '/docs')) {
      assert.doesNotMatch(html, /<script(?![^>]*src="\/assets\/)/, url)
      assert.doesNotMatch(html, /<style|<[a-z]+ [^>]*style=|<[a-z]+ [^>]*\bon[a-z]+=/, url)
      assert.doesNotMatch(html, /(?:src|srcset|data)="(?!\/)[^"]*:/, url)
      assert.doesNotMatch(html, /%%[A-Z_]+%%/, url)
      const { headers } = await world[host].inject({ url })
      assert.match(
        String(headers['content-security-policy']),
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      )
    }
})

test('HLP-06 the name of the service is text on the help pages, whatever it contains', async () => {
  const { body } = await world.auth.inject({ url: '/help' })
  assert.match(body, /<title>Help · Letters &amp; &lt;Ledgers&gt;<\/title>/)
  assert.doesNotMatch(body, /<Ledgers>/)
})

test('guides name the addresses of this service, and settings their defaults', async (t) => {
  const hosted = await createWorld({
    environment: {
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => hosted.close())
  const pageOf = async (name: string) => (await hosted.auth.inject({ url: `/help/${name}` })).body
  const guide = await pageOf('guides/sign-in-with-node')
  assert.match(guide, /https:\/\/id\.example\.com/)
  assert.doesNotMatch(guide, /localhost:440/)
  assert.match(await pageOf('operations/settings'), /http:\/\/localhost:4401/)
})

test('pages are compressed once, and a browser that has one gets no second copy', async () => {
  const url = '/help/concepts'
  const plain = await world.auth.inject({ url })
  const brotli = await world.auth.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
  const gzip = await world.auth.inject({ url, headers: { 'accept-encoding': 'gzip, br;q=0' } })
  assert.deepEqual(
    [brotli, gzip].map(({ headers }) => headers['content-encoding']),
    ['br', 'gzip'],
  )
  assert.equal(brotliDecompressSync(brotli.rawPayload).toString(), plain.body)
  assert.equal(gunzipSync(gzip.rawPayload).toString(), plain.body)
  assert.equal(brotli.headers['vary'], 'accept-encoding')
  for (const tag of [String(brotli.headers['etag']), `W/${String(brotli.headers['etag'])}`]) {
    const again = await world.auth.inject({ url, headers: { 'accept-encoding': 'br', 'if-none-match': tag } })
    assert.deepEqual([again.statusCode, again.body], [304, ''], tag)
  }
})

test('HLP-07 no path below /help or /docs reads another file', async () => {
  for (const path of ['/help/../manifest.json', '/help/pages.json', '/help/..%2f..%2fpackage.json', '/help/index.html'])
    assert.equal((await world.auth.inject({ url: path })).statusCode, 404, path)
  for (const path of ['/docs/..%2fpages.json', '/docs/reference.html', '/docs/static/index.css'])
    assert.equal((await world.api.inject({ url: path })).statusCode, 404, path)
})

test('the API reference is complete, begins before it finishes, and weighs less than 300 kB', async () => {
  const pages = await readAll('api', '/docs')
  const document = (await world.api.inject({ url: '/openapi.json' })).json()
  const all = [...pages.values()].join('')
  for (const operations of Object.values<Record<string, { operationId: string }>>(document.paths))
    for (const { operationId } of Object.values(operations))
      assert.ok(all.includes(`<section class="operation" id="${operationId}">`), operationId)
  for (const event of ['SigningSignedEvent', 'WebhookTestEvent']) assert.ok(all.includes(event), event)
  const signingIn = pages.get('/docs/signing-in') ?? ''
  for (const [first, second] of [
    ['startSignIn', 'finishSignIn'],
    ['startRegistration', 'finishRegistration'],
  ] as const)
    assert.ok(signingIn.indexOf(`id="${first}"`) < signingIn.indexOf(`id="${second}"`), first)
  let bytes = 0
  for (const url of [...pages.keys(), '/docs/search.json', '/openapi.json'])
    bytes += (await world.api.inject({ url, headers: { 'accept-encoding': 'br' } })).rawPayload.length
  assert.ok(bytes < 300_000, `${bytes} bytes`)
})

test('a field of a body is in the API reference with its type, its limits and whether it is required', async () => {
  const { body } = await world.api.inject({ url: '/docs/signing-in' })
  const fields = [...body.matchAll(/<code class="field">(\w+)<\/code>(.*?)<\/li>/g)]
  const ofHandle = fields.filter(([, name]) => name === 'handle').map(([, , about = '']) => about)
  const required = '<span class="type">string</span> <span class="required">required</span>'
  assert.ok(ofHandle.some((about) => about.includes(required) && /characters|matches/.test(about)))
})
