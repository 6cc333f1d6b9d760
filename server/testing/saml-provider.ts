import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * Whom the provider has before it; `key` says with which of its two it signs, `encryption` by what it encrypts where it
 * does, `otherwise` what it says wrongly.
 */
export type SamlUser = {
  nameId: string
  attributes: Record<string, string>
  key?: 0 | 1
  encryption?: { dataEncryptionAlgorithm: string; keyEncryptionAlgorithm: string }
  otherwise?: Record<string, string>
}

/** A form that a browser sends by itself: where it goes, and what is in it. */
export type SentForm = { action: string; fields: Record<string, string> }

/** The SAML provider of an organization: samlify, in a process and on a port of its own. */
export async function startSamlProvider(clock: () => Date) {
  const program = join(import.meta.dirname, 'samlify-provider.js')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the SAML provider has ended')))
  const [port] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
  ended.catch(() => {})
  const origin = `http://localhost:${port}`

  async function ask(address: string, init: RequestInit = {}): Promise<string> {
    const answer = await fetch(address, init)
    const body = await answer.text()
    if (!answer.ok) throw new Error(`the provider has answered ${answer.status}: ${body}`)
    return body
  }

  /** Has somebody sit before the provider, in whatever browser comes next. */
  async function have(user: SamlUser): Promise<void> {
    const body = JSON.stringify({ now: clock().toISOString(), ...user })
    await ask(`${origin}/before`, { method: 'POST', body })
  }

  return {
    entityId: `${origin}/metadata`,
    metadataUrl: `${origin}/metadata`,
    /** What it says of itself, with one of its two keys. */
    metadata: (key: 0 | 1 = 0) => ask(`${origin}/metadata/${key}`),
    /** Tells the provider of a service, by the metadata of that. */
    register: (metadata: string) => ask(`${origin}/register`, { method: 'POST', body: metadata }),
    have,
    /** Goes where a service sends the browser, as somebody; answers the form with which the browser goes back. */
    async approve(location: string, user: SamlUser): Promise<SentForm> {
      await have(user)
      const [, action = '', samlResponse = ''] = /action="([^"]*)".*value="([^"]*)"/.exec(await ask(location)) ?? []
      return { action, fields: { SAMLResponse: samlResponse } }
    },
    async close() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
