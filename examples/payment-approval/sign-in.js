import { randomUUID } from 'node:crypto'
import * as client from 'openid-client'

/** Signs people in with OpenID Connect, as docs/guides/sign-in-with-node.md explains. */
export async function createSignIn({ issuer, appUrl, clientId, clientSecret }) {
  const insecure = new URL(issuer).protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : undefined
  const config = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, insecure)
  const secure = appUrl.startsWith('https:') ? '; Secure' : ''
  const begun = new Map() // a browser → what to check its answer against
  const signedIn = new Map() // a browser → who signed in there

  return {
    personAt: (request) => signedIn.get(browserOf(request)),

    async begin(_, response) {
      const pkceCodeVerifier = client.randomPKCECodeVerifier()
      const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()]
      begun.set(setBrowser(response), { pkceCodeVerifier, expectedState, expectedNonce })
      const location = client.buildAuthorizationUrl(config, {
        redirect_uri: `${appUrl}/callback`,
        scope: 'openid profile',
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
        nonce: expectedNonce,
      })
      response.writeHead(303, { location: location.href }).end()
    },

    async finish(request, response) {
      const checks = begun.get(browserOf(request))
      begun.delete(browserOf(request))
      if (!checks) return response.writeHead(400).end('This sign-in was not begun in this browser.')
      const tokens = await client.authorizationCodeGrant(config, new URL(request.url, appUrl), checks)
      const { sub: identityId, name } = tokens.claims()
      signedIn.set(setBrowser(response), { identityId, name })
      response.writeHead(303, { location: '/' }).end()
    },
  }

  /** Knows the browser by a new name: one that somebody planted before is worth nothing afterwards. */
  function setBrowser(response) {
    const browser = randomUUID()
    response.setHeader('set-cookie', `browser=${browser}; Path=/; HttpOnly; SameSite=Lax${secure}`)
    return browser
  }
}

function browserOf({ headers }) {
  return /(?:^|; )browser=([^;]+)/.exec(headers.cookie ?? '')?.[1]
}
