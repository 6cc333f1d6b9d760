import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { delegationCode, identityCode, noteCode, signatureCode, signInCode } from '../code.ts'

const runFile = promisify(execFile)
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'countersign-playground-'))
  await symlink(join(import.meta.dirname, '../../../../node_modules'), join(directory, 'node_modules'))
})
after(() => rm(directory, { recursive: true }))

async function write(code: string): Promise<string> {
  const file = join(directory, `${crypto.randomUUID()}.mjs`)
  await writeFile(file, code)
  return file
}

const service = { issuer: 'https://id.example', clientId: 'app_0123', site: { baseUrl: 'https://api.example' } }

test('each shown code is a program that parses, and creates the client of the SDK that it uses', async () => {
  const signature = signatureCode(service, 'Pay 120.00 EUR')
  const delegation = delegationCode(service, { resource: 'calendar', scope: 'calendar.read' })
  for (const code of [signInCode(service), identityCode, signature, delegation, noteCode])
    await runFile(process.execPath, ['--check', await write(code)])
  for (const code of [signature, delegation]) {
    assert.match(code, /^import { createCountersign } from '@countersign\/sdk\/server'\n/)
    const [, settings] = /const countersign = createCountersign\((\{[^}]+\})\)/s.exec(code) ?? []
    for (const value of ["'https://api.example'", "'https://id.example'", "'app_0123'", 'CLIENT_SECRET'])
      assert.ok(settings?.includes(value), value)
  }
})

test('the code of the first step discovers a local service, and others over TLS only', async (t) => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ issuer, authorization_endpoint: `${issuer}/signin`, token_endpoint: `${issuer}/token` }),
    )
  }).listen(0)
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const issuer = `http://localhost:${address.port}`
  const [discovery = ''] = signInCode({ ...service, issuer }).split('const location')
  const program = `${discovery}\nconsole.log(config.serverMetadata().issuer)`
  const { stdout } = await runFile(process.execPath, [await write(`const CLIENT_SECRET = 'secret'\n${program}`)])
  assert.equal(stdout.trim(), issuer)
  assert.doesNotMatch(signInCode(service), /allowInsecureRequests/)
})
