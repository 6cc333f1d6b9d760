import { once } from 'node:events'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { en as words } from '../../web/locales/en/messages.ts'
import type { Person } from '../fixtures/person.ts'

/**
 * An organization's provider: unmodified `oidc-provider` with its own pages, which accept any password. Every e-mail
 * address entered there counts as verified.
 */
export async function startProvider() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the provider has no port')
  const issuer = `http://localhost:${address.port}`
  const client = { clientId: 'countersign', clientSecret: 'what-the-provider-gave-to-acme' }
  let answer = provide([])
  server.on('request', (request, response) => void answer(request, response))

  function provide(redirectUris: string[]) {
    const registered = { client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: redirectUris }
    const provider = new Provider(issuer, {
      clients: redirectUris.length === 0 ? [] : [registered],
      claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
      cookies: { keys: ['a-key-of-the-provider'] },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, name: 'Ann Example', email: accountId, email_verified: true }),
      }),
    })
    return provider.callback()
  }

  return {
    issuer,
    ...client,
    /** Registers the client, once its redirect URI is known. */
    allow: (redirectUri: string) => void (answer = provide([redirectUri])),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** Signs in on the provider's own pages. */
export async function passProvider({ page }: Pick<Person, 'page'>): Promise<void> {
  await page.locator('input[name="password"]').fill('any')
  await page.locator('button[type="submit"]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Chooses SSO on a page of the product, by a work address. */
export async function continueWithOrganization(person: Person, email: string): Promise<void> {
  await person.page.getByRole('link', { name: words.login.withOrganization }).click()
  await person.write('email', email)
  await person.press('sso')
}
