import type { Answer, Api } from '@countersign/protocol/api'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { plugInAuthenticator } from './authenticator.ts'

/** What a tab sent: everything that left the browser with one request. */
export type Sent = { url: string; headers: Record<string, string>; body: Buffer }

export type Person = Awaited<ReturnType<typeof invite>>

export type Manner = BrowserContextOptions & { prf?: boolean }

/** A person: a browser profile of their own, with one tab and a passkey provider. */
export async function invite(browser: Pick<Browser, 'newContext'>, { prf = true, ...options }: Manner = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  context.setDefaultTimeout(10_000)
  const page = await context.newPage()
  const authenticator = await plugInAuthenticator(page, { prf })
  const sent = recordRequests(page)
  let offersPasskeys = true
  await context.exposeFunction('offersPasskeys', () => offersPasskeys)
  await context.addInitScript(() => {
    if (!('PublicKeyCredential' in globalThis)) return
    PublicKeyCredential.isConditionalMediationAvailable = () => Reflect.get(globalThis, 'offersPasskeys')()
  })
  let clicks = 0

  const control = (action: string) => page.locator(`[data-action="${action}"]`)

  async function press(action: string): Promise<void> {
    clicks += 1
    await control(action).click()
  }

  async function write(name: string, text: string): Promise<void> {
    await page.locator(`input[name="${name}"]`).fill(text)
  }

  return {
    context,
    page,
    authenticator,
    control,
    press,
    write,
    /**
     * Whether their browser offers passkeys in an input. The virtual provider takes such an offer at once, as if they
     * had picked it; without one they have the button alone.
     */
    offerPasskeys(offers: boolean) {
      offersPasskeys = offers
    },
    /** How often they pressed something on the pages of the provider. */
    clicks: () => clicks,
    /** Everything that left their browser so far. */
    sent: () => Promise.all(sent),
    /** Fills in the registration where they are; answers the recovery code that they are shown. */
    async createAccount({ handle, displayName }: { handle: string; displayName: string }): Promise<string> {
      await write('handle', handle)
      await write('displayName', displayName)
      await press('create-account')
      return page.locator('output[name="recoveryCode"]').innerText()
    },
    /** Calls the interface as the pages do, from the page of the provider where they are. */
    ask: <Name extends keyof Api & `GET ${string}`>(baseUrl: string, name: Name): Promise<Answer<Name>> =>
      page.evaluate(
        async (url) => (await fetch(url, { credentials: 'include' })).json(),
        baseUrl + name.replace('GET ', ''),
      ),
    leave: () => context.close(),
  }
}

function recordRequests(page: Page): Promise<Sent>[] {
  const sent: Promise<Sent>[] = []
  page.on('request', (request) => {
    const url = request.url()
    const body = request.postDataBuffer() ?? Buffer.alloc(0)
    // The headers of a request whose page is gone before they could be read are those that the page set.
    const headers = request.allHeaders().catch(() => request.headers())
    sent.push(headers.then((all) => ({ url, headers: all, body })))
  })
  return sent
}
