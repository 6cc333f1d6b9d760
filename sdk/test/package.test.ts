import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { newSigningPair } from '../../server/testing/signer.ts'

const here = join(import.meta.dirname, '..')
const shop = mkdtempSync(join(tmpdir(), 'countersign-sdk-'))
after(() => rmSync(shop, { recursive: true }))

const run = (program: string, words: string[], cwd = shop) => execFileSync(program, words, { cwd, encoding: 'utf8' })

test('SUP-03 SUP-04 TRU-23 the package installs alone, runs as plain JavaScript, and contains its types', () => {
  run('npm', ['pack', '--silent', '--pack-destination', shop], here)
  const [packed = ''] = globSync('*.tgz', { cwd: shop })
  writeFileSync(join(shop, 'package.json'), '{ "private": true, "type": "module" }')
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${packed}`])
  assert.deepEqual(globSync('node_modules/{*,@*/*}/package.json', { cwd: shop }), [
    'node_modules/@countersign/sdk/package.json',
  ])

  const { publicKey, sign } = newSigningPair()
  const claim = { payload: 'Pay 10 €', signature: sign('Pay 10 €'), publicKey }
  const script = `
    import { createResource } from '@countersign/sdk/resource'
    import { verifySignature } from '@countersign/sdk/server'
    const claim = ${JSON.stringify(claim)}
    console.log(verifySignature(claim), verifySignature({ ...claim, payload: 'Pay 11 €' }))
    const calendar = createResource({ authUrl: 'https://id.example', audience: 'https://calendar.example' })
    await calendar.verify('a.b.c').catch(({ code }) => console.log(code))
    await import('@countersign/sdk/button')
  `
  assert.equal(run(process.execPath, ['--input-type=module', '--eval', script]), 'true false\ninvalid_token\n')

  const trusting = `
    import { createCountersign, createFileTrustStore, createMemoryTrustStore } from '@countersign/sdk/server'
    const hosts = { baseUrl: 'https://api.id.example', authUrl: 'https://id.example' }
    const settings = { ...hosts, clientId: 'a', clientSecret: 'b' }
    const verifierKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
    const log = { version: 1, origin: 'PeterNeumann', verifierKey }
    createCountersign({ ...settings, trust: { log, store: createFileTrustStore('state') } })
    try {
      createCountersign({ ...settings, trust: { log: 'first-use', store: createMemoryTrustStore() } })
    } catch ({ name, message }) {
      console.log(name, message.includes('durable'))
    }
    const trust = { log, store: createFileTrustStore('state') }
    const { keys } = await createCountersign({ ...settings, trust }).getLogKeys()
    console.log(keys.length)
  `
  assert.equal(run(process.execPath, ['--input-type=module', '--eval', trusting]), 'TypeError true\n1\n')

  const parts = ['server', 'resource', 'encryption', 'sign-in', 'button']
  const errors = `
    const parts = await Promise.all(${JSON.stringify(parts)}.map((name) => import('@countersign/sdk/' + name)))
    const thrown = parts.map(({ CountersignError }) => new CountersignError({ code: 'a', description: 'b' }))
    const holds = parts.map(({ CountersignError }) => thrown.every((error) => error instanceof CountersignError))
    const others = [new Error(), { code: 'a' }, null, undefined, 'a']
    const takes = parts.some(({ CountersignError }) => others.some((other) => other instanceof CountersignError))
    console.log(holds.join(), takes, JSON.stringify(thrown[0]))
  `
  const fields = JSON.stringify({ name: 'CountersignError', code: 'a', description: 'b' })
  assert.equal(
    run(process.execPath, ['--input-type=module', '--eval', errors]),
    `true,true,true,true,true false ${fields}\n`,
  )

  const compile = (code: string) => {
    writeFileSync(join(shop, 'shop.ts'), code)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom']
    run(join(here, '../node_modules/.bin/tsc'), [...options, '--types', '', 'shop.ts'])
  }
  compile(usage)
  assert.throws(() => compile(usage.replace('const paid: string', 'const paid: number')), /Command failed/)
})

const usage = `
import { createCountersign, createFileTrustStore, CountersignError, type TrustStore } from '@countersign/sdk/server'
import { openSigningPopup } from '@countersign/sdk/browser'
import { encrypt, readAppKey } from '@countersign/sdk/encryption'
import { createResource } from '@countersign/sdk/resource'
import { exchangeSignIn, signIn } from '@countersign/sdk/sign-in'
import type { CountersignButton, SignedInDetail } from '@countersign/sdk/button'
const settings = { baseUrl: 'https://api.id.example', authUrl: 'https://id.example', clientId: 'a', clientSecret: 'b' }
const store: TrustStore = createFileTrustStore('state')
const log = { version: 1, origin: 'id.example/log', verifierKey: '' }
const countersign = createCountersign({ ...settings, trust: { log, store, approvals: 'required' } })
const request = await countersign.createSigningRequest({ identityId: 'c', payload: 'd', expiresInSeconds: 60 })
const outcome = await countersign.waitForSignature(request, { signal: AbortSignal.timeout(1000) })
if (outcome.status === 'signed') {
  const paid: string = outcome.signature
  const status: number | undefined = new CountersignError({ code: paid, description: '' }).status
}
const answer = await openSigningPopup({ signingUrl: request.signingUrl })
const appKey = await readAppKey({ sealed: true })
if (appKey?.mode === 'symmetric') await encrypt(appKey.key, 'Milk', { context: 'note:1' })
const calendar = createResource({ authUrl: 'https://id.example', audience: 'https://calendar.example' })
const { scopes } = await calendar.verify('token', { scope: 'calendar.read' })
calendar.express()({ headers: {} }, { writeHead: () => ({ end: (body) => body + scopes.join() }) }, () => undefined)
const app = { ...settings, redirectUri: 'https://app.example/callback' }
const result = await signIn(app, { mode: 'passive' })
if (result.type === 'signed-in') {
  const { identityId, refreshToken } = await exchangeSignIn(app, result.grant)
  const detail: SignedInDetail = result
  const key: string | undefined = detail.sealedAppKey ?? refreshToken ?? identityId
}
document.querySelector<CountersignButton>('countersign-button')?.app.clientId.trim()
if (answer.type === 'blocked') location.assign(answer.signingUrl)
`

test('the code that a page loads is tiny, and small with encryption', () => {
  run(process.execPath, ['build.ts'], here)
  const weightOf = (file: string) => gzipSync(readFileSync(join(here, 'dist', file))).length
  assert.ok(weightOf('browser.js') < 1024)
  assert.ok(weightOf('button.js') < 8 * 1024)
  assert.ok(weightOf('sign-in.js') < 14 * 1024)
  assert.ok(weightOf('encryption.js') < 16 * 1024)
})
