import assert from 'node:assert/strict'
import { codeIn, type Mailbox } from './mailbox.ts'
import type { TestWorld } from './world.ts'

/** Requests about the registration with an address of certain domains. */
export function openDomains(world: TestWorld, mailbox: Mailbox) {
  async function change(settings: object) {
    const [url, headers] = ['/api/admin/settings', world.admin]
    const { revision } = (await world.api.inject({ url, headers })).json()
    const conditional = { ...headers, 'if-match': `"${revision}"` }
    return world.api.inject({ method: 'PATCH', url, headers: conditional, payload: { settings } })
  }

  async function post(path: string, payload: object, remoteAddress = '192.0.2.1') {
    const answer = await world.api.inject({ method: 'POST', url: `/api/auth/${path}`, payload, remoteAddress })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }

  const request = (email: string, remoteAddress?: string) => post('register/email', { email }, remoteAddress)

  const verify = (verificationId: string, code: string, remoteAddress?: string) =>
    post('register/email/verify', { verificationId, code }, remoteAddress)

  return {
    change,
    request,
    verify,
    /** Lets addresses of these domains register, and no others without an invitation. */
    async allow(...domains: string[]) {
      const changed = await change({ 'registration.mode': 'domains', 'registration.domains': domains })
      assert.equal(changed.statusCode, 200, changed.body)
    },
    /** Requests a code, and reads it from the mail. */
    async mailed(email: string) {
      const { status, body } = await request(email)
      assert.equal(status, 200, body.error)
      return { verificationId: String(body.verificationId), code: codeIn(await mailbox.take()) }
    },
    /** Returns the proof of an address, as a registration presents it. */
    async prove(email: string): Promise<string> {
      const { verificationId, code } = await this.mailed(email)
      const { status, body } = await verify(verificationId, code)
      assert.equal(status, 200, body.error)
      return body.emailProof
    },
  }
}
