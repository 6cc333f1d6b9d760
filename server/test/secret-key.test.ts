import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { launch, startService } from '#testing/service.ts'

/** Returns the output of the service if it does not start with these settings. */
async function refusalOf(t: TestContext, settings: Record<string, string>): Promise<string> {
  const { process, ready, output } = launch(settings)
  t.after(() => process.kill('SIGKILL'))
  const closed = once(process, 'close')
  await assert.rejects(ready)
  const [exitCode] = await closed
  assert.equal(exitCode, 1)
  return output()
}

async function keySetOf({ authUrl }: { authUrl: string }): Promise<string> {
  return (await fetch(`${authUrl}/.well-known/jwks.json`)).text()
}

test('SUP-07 with another SECRET_KEY the service says so in one line and does not start or create keys', async (t) => {
  const right = 'the-right-secret-key-of-at-least-32-characters'
  const service = await startService({ environment: { SECRET_KEY: right } })
  t.after(() => service.close())
  const keySet = await keySetOf(service)
  await service.end()

  const wrong = { ...service.settings, SECRET_KEY: 'a-wrong-secret-key-of-at-least-32-characters' }
  assert.match(await refusalOf(t, wrong), /^SECRET_KEY is not the key of this database[^\n]*\n$/)

  await service.restart()
  assert.equal(await keySetOf(service), keySet)
})

test('SECRET_KEY is replaced by a list, and the old one is required until no key is encrypted under it', async (t) => {
  const [old, young] = ['the-old-secret-key-of-at-least-32-characters', 'the-new-secret-key-of-at-least-32-characters']
  const service = await startService({ environment: { SECRET_KEY: old } })
  t.after(() => service.close())
  await service.end()
  const both = launch({ ...service.settings, SECRET_KEY: `${young},${old}` })
  t.after(() => both.process.kill('SIGKILL'))
  await both.ready
  const rotated = await fetch(`${service.baseUrl}/api/admin/keys/rotate`, { method: 'POST', headers: service.admin })
  assert.equal(rotated.status, 201)
  const closed = once(both.process, 'close')
  both.process.kill('SIGTERM')
  await closed
  assert.match(
    await refusalOf(t, { ...service.settings, SECRET_KEY: young }),
    /^SECRET_KEY is not/,
    'the old key set is published',
  )
})

if (process.env['TEST_DATABASE_URL'] === undefined)
  test('SUP-07 a secret key missing from the data directory is not created again', async (t) => {
    const service = await startService()
    t.after(() => service.close())
    const keySet = await keySetOf(service)
    await service.end()
    const [file, away] = ['secret-key', 'away'].map((name) => join(service.settings.DATA_DIR, name))
    assert.ok(file && away)
    await rename(file, away)
    assert.match(await refusalOf(t, service.settings), /^DATA_DIR does not contain [^\n]*secret-key[^\n]*\n$/)
    await assert.rejects(readFile(file), /ENOENT/)

    await rename(away, file)
    await service.restart()
    assert.equal(await keySetOf(service), keySet)
  })
