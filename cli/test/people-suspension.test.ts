import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createAuthenticator } from '../../server/testing/authenticator.ts'
import { type Service, startService, testAdminToken } from '../../server/testing/service.ts'
import { fieldsOf, listOf, textOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function people(...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken }
  const main = join(import.meta.dirname, '../main.ts')
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'people', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

/** Registers a user at the service as a browser does. */
async function register(handle: string) {
  const post = async (path: string, body: object) => {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await fetch(`${service.baseUrl}/api/auth/register/${path}`, sent)
    assert.equal(answer.ok, true, `${path}: ${answer.status}`)
    return fieldsOf(await answer.json())
  }
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const { flowId, options } = await post('start', { handle, displayName: handle })
  const { challenge, user } = fieldsOf(options)
  const registering = { id: textOf(fieldsOf(user).id), name: handle, displayName: handle }
  const credential = authenticator.register({ challenge: textOf(challenge), user: registering })
  const registered = await post('finish', { flowId, credential })
  const headers = { authorization: `Bearer ${textOf(registered.sessionToken)}` }
  const [identity] = listOf(registered.identities)
  return {
    identityId: textOf(fieldsOf(identity).identityId),
    isSignedIn: async () => (await fetch(`${service.baseUrl}/api/auth/session`, { headers })).ok,
  }
}

test('a person is suspended with a reason, activated, and signed out', async () => {
  const { identityId, isSignedIn } = await register('left-the-company')
  const because = ['--reason', 'Left the company']
  assert.equal((await people('suspend', identityId)).code, 2, 'without a reason')
  const until = '2126-01-01T00:00:00Z'
  const suspended = await people('suspend', identityId, ...because, '--scope', 'identity', '--until', until)
  assert.match(suspended.stdout, /^Scope +identity$[^]*^Reason +Left the company$[^]*^Until +2126-01-01/m)
  assert.equal(await isSignedIn(), false)
  const json = await people('suspend', identityId, ...because, '--json')
  assert.equal(fieldsOf(fieldsOf(JSON.parse(json.stdout)).suspension).until, null)
  const activated = await people('activate', 'left-the-company')
  assert.equal(activated.stdout, 'The suspension through left-the-company has ended.\n')
  assert.deepEqual(JSON.parse((await people('activate', identityId, '--json')).stdout), { identityId, activated: true })

  const other = await register('signed-out-person')
  assert.equal(await other.isSignedIn(), true)
  assert.equal((await people('sign-out', '@signed-out-person')).stdout, '@signed-out-person is signed out.\n')
  assert.equal(await other.isSignedIn(), false)
  const unknown = await people('sign-out', '0198c0de-0000-7000-8000-000000000000')
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'error: No identity has this ID.\n'])
})
