import { randomUUID } from 'node:crypto'

/** Knows who signed in in which browser. Who it is the SDK tells, by what their page was given. */
export function createSignIn({ countersign, appUrl }) {
  const secure = appUrl.startsWith('https:') ? '; Secure' : ''
  const signedIn = new Map() // a browser → who signed in there

  return {
    personAt: (request) => signedIn.get(browserOf(request)),

    async finish(grant, response) {
      const { identityId, claims } = await countersign.exchangeSignIn(grant)
      const person = { identityId, name: claims.name, handle: claims.preferred_username }
      // A new session ID for the browser: one that an attacker planted before is useless afterwards.
      const browser = randomUUID()
      signedIn.set(browser, person)
      response.setHeader('set-cookie', `browser=${browser}; Path=/; HttpOnly; SameSite=Lax${secure}`)
      return person
    },

    end(request) {
      signedIn.delete(browserOf(request))
    },
  }
}

function browserOf({ headers }) {
  return /(?:^|; )browser=([^;]+)/.exec(headers.cookie ?? '')?.[1]
}
