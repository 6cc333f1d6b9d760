import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * User at the provider; `key` selects which of its two keys signs, `encryption` the algorithm if it encrypts,
 * `otherwise` false statements.
 */
export type SamlUser = {
  nameId: string
  attributes: Record<string, string>
  key?: 0 | 1
  encryption?: { dataEncryptionAlgorithm: string; keyEncryptionAlgorithm: string }
  otherwise?: Record<string, string>
}

/** Form that a browser sends by itself: target and fields. */
export type SentForm = { action: string; fields: Record<string, string> }

/** Starts the SAML provider of an organization: samlify, in its own process and on its own port. */
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
    if (!answer.ok) throw new Error(`the provider responded ${answer.status}: ${body}`)
    return body
  }

  /** Sets the user who is signed in at the provider, in any browser. */
  async function have(user: SamlUser): Promise<void> {
    const body = JSON.stringify({ now: clock().toISOString(), ...user })
    await ask(`${origin}/before`, { method: 'POST', body })
  }

  return {
    entityId: `${origin}/metadata`,
    metadataUrl: `${origin}/metadata`,
    /** Returns the provider's metadata, with one of its two keys. */
    metadata: (key: 0 | 1 = 0) => ask(`${origin}/metadata/${key}`),
    /** Registers a service at the provider by its metadata. */
    register: (metadata: string) => ask(`${origin}/register`, { method: 'POST', body: metadata }),
    have,
    /** Follows a service's redirect to the provider as a user; returns the form for the way back. */
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
