import { createHash, randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { CDPSession, Page } from 'playwright-core'
import type { FedcmAssertionRequest } from '@countersign/protocol/oauth/fedcm'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import type { Served } from '../../server/testing/service.ts'

export type FederatedApp = Awaited<ReturnType<typeof openFederatedApp>>

type Settings = { name?: string; supportsE2ee?: boolean; appKeyRecipientJwk?: string }

/** What the page of the app stores of its last sign-in. */
type Outcome = { token: string; automatic: boolean } | { error: string; code: string | undefined }

/** An app on its own site, with a page that requests a FedCM sign-in and stores the result. */
export async function openFederatedApp(service: Served, { name = 'Gazette', ...settings }: Settings = {}) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><html lang="en"><title>${name}</title><h1>${name}</h1><button>Sign in</button></html>`)
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the app has no port')
  const origin = `http://${name.toLowerCase()}.localhost:${address.port}`
  const registered = await fetch(`${service.baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({
      name,
      redirectUris: [`${origin}/callback`],
      public: true,
      allowedScopes: ['openid', 'profile', 'user_id'],
      ...settings,
    }),
  })
  const { clientId }: { clientId: string } = JSON.parse(await registered.text())
  const configURL = `${service.baseUrl}/api/oauth/fedcm/config`

  return {
    origin,
    clientId,
    /**
     * Requests a sign-in with the button of the page, as `clientId` unless another is given; returns the verifier of
     * the request.
     */
    async requestSignIn(
      page: Page,
      requested: FedcmAssertionRequest,
      provider: object = {},
      mode = 'active',
    ): Promise<string> {
      const verifier = randomBytes(32).toString('base64url')
      const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
      const identityProvider = { configURL, clientId, params: { codeChallenge, ...requested }, ...provider }
      await page.evaluate(
        ({ identity, how }) => {
          const outcome = (work: Promise<Credential | null>): Promise<Outcome> =>
            work.then(
              (credential) => ({
                token: String(Reflect.get(Object(credential), 'token')),
                automatic: Boolean(Reflect.get(Object(credential), 'isAutoSelected')),
              }),
              (error: unknown) => ({
                error: String(Reflect.get(Object(error), 'name')),
                code: Reflect.get(Object(error), 'error')?.toString(),
              }),
            )
          const sign = async () => {
            Reflect.deleteProperty(globalThis, 'outcome')
            const options = { identity: { providers: [identity], mode: how }, mediation: 'optional' }
            Reflect.set(globalThis, 'outcome', await outcome(navigator.credentials.get(Object(options))))
          }
          document.querySelector('button')?.addEventListener('click', () => void sign(), { once: true })
        },
        { identity: identityProvider, how: mode },
      )
      await page.locator('button').click()
      return verifier
    },
    /** Waits for the result and returns it. */
    async outcome(page: Page): Promise<Outcome> {
      const settled = await page.waitForFunction((): Outcome | undefined => Reflect.get(globalThis, 'outcome'))
      const outcome = await settled.jsonValue()
      if (!outcome) throw new Error('There is no result.')
      return outcome
    },
    /** Makes the browser disconnect the app from an identity. */
    disconnect: (page: Page, accountHint: string): Promise<void> =>
      page.evaluate(
        async (requested) => {
          const credential: unknown = Reflect.get(globalThis, 'IdentityCredential')
          await Reflect.get(Object(credential), 'disconnect').call(credential, requested)
        },
        { configURL, clientId, accountHint },
      ),
    /** Exchanges an assertion from the page itself, as a public app does. */
    async exchange(page: Page, assertion: string, codeVerifier: string): Promise<Partial<TokenResponse> & Refused> {
      const body = JSON.stringify({ assertion, clientId, codeVerifier })
      return page.evaluate(
        async ({ url, sent }) => {
          const headers = { 'content-type': 'application/json' }
          return (await fetch(url, { method: 'POST', headers, body: sent })).json()
        },
        { url: `${service.baseUrl}/api/oauth/fedcm/exchange`, sent: body },
      )
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

type Refused = { error?: string }

/** A dialog of the browser itself, which no page can see. */
export type BrowserDialog = {
  dialogId: string
  dialogType: string
  accounts: { accountId: string; name: string; loginState?: string }[]
}

/** A user who sees the dialogs that the browser shows over a page. */
export async function watchDialogs(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  await cdp.send('FedCm.enable', { disableRejectionDelay: true })
  const seen = new EventEmitter()
  const shown: BrowserDialog[] = []
  cdp.on('FedCm.dialogShown', (dialog: BrowserDialog) => {
    shown.push(dialog)
    seen.emit('dialog')
  })
  return {
    async next(): Promise<BrowserDialog> {
      if (shown.length === 0) await once(seen, 'dialog', { signal: AbortSignal.timeout(30_000) })
      const [first] = shown.splice(0, 1)
      if (!first) throw new Error('Another waiter got the dialog.')
      return first
    },
    choose: ({ dialogId }: BrowserDialog, accountIndex = 0) =>
      cdp.send('FedCm.selectAccount', { dialogId, accountIndex }),
    press: ({ dialogId }: BrowserDialog, dialogButton: 'ConfirmIdpLoginContinue' | 'ErrorGotIt' | 'ErrorMoreDetails') =>
      cdp.send('FedCm.clickDialogButton', { dialogId, dialogButton }),
    dismiss: ({ dialogId }: BrowserDialog) => cdp.send('FedCm.dismissDialog', { dialogId }),
  }
}

/** Clicks a button that closes a window opened by the browser; it may close before the click is reported as done. */
export async function pressLast(opened: Page, action: string): Promise<void> {
  const press = opened.locator(`[data-action="${action}"]`).click()
  const done = press.catch((error: unknown) => {
    if (!(error instanceof Error && /closed/.test(error.message))) throw error
  })
  await Promise.all([opened.waitForEvent('close'), done])
}
