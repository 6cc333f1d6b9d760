import { randomUUID } from 'node:crypto'

/** Knows who signed in in which browser. Who it is the SDK tells, by what the button of the page was given. */
export function createSignIn({ countersign, appUrl }) {
  const secure = appUrl.startsWith('https:') ? '; Secure' : ''
  const signedIn = new Map() // a browser → who signed in there

  return {
    personAt: ({ headers }) => signedIn.get(/(?:^|; )browser=([^;]+)/.exec(headers.cookie ?? '')?.[1]),

    async finish(grant, response) {
      const { identityId, claims } = await countersign.exchangeSignIn(grant)
      // A new session ID for the browser: one that an attacker planted before is useless afterwards.
      const browser = randomUUID()
      signedIn.set(browser, { identityId, name: claims.name })
      response.setHeader('set-cookie', `browser=${browser}; Path=/; HttpOnly; SameSite=Lax${secure}`)
    },
  }
}
