import { randomUUID } from 'node:crypto'
import * as client from 'openid-client'

/** Signs people in with OpenID Connect, as docs/guides/sign-in-with-node.md explains, and has them bring a key pair. */
export async function createSignIn({ issuer, appUrl, clientId, clientSecret }) {
  const insecure = new URL(issuer).protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : undefined
  const config = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, insecure)
  const secure = appUrl.startsWith('https:') ? '; Secure' : ''
  const begun = new Map() // a browser → what to check its answer against
  const signedIn = new Map() // a browser → who signed in there

  return {
    personAt: (request) => signedIn.get(browserOf(request)),

    /** `appKeyJwk` is a key of the page: what Countersign puts behind the `#` opens there alone. */
    async begin(response, appKeyJwk) {
      const pkceCodeVerifier = client.randomPKCECodeVerifier()
      const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()]
      begun.set(setBrowser(response), { pkceCodeVerifier, expectedState, expectedNonce })
      const location = client.buildAuthorizationUrl(config, {
        redirect_uri: `${appUrl}/callback`,
        scope: 'openid profile e2ee:asymmetric',
        app_key_jwk: appKeyJwk,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
        nonce: expectedNonce,
      })
      redirect(response, location.href)
    },

    /** Redirects to this app's own page, where the browser keeps what stands behind the `#`. */
    async finish(request, response) {
      const checks = begun.get(browserOf(request))
      begun.delete(browserOf(request))
      if (!checks) return response.writeHead(400).end('This sign-in was not begun in this browser.')
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(request.url, appUrl), checks)
        const { sub: identityId, name, preferred_username: handle } = tokens.claims()
        signedIn.set(setBrowser(response), { identityId, name, handle })
      } catch (error) {
        // Who has changed their mind is back where they were.
        if (error.error !== 'access_denied') throw error
      }
      redirect(response, '/')
    },

    end(request, response) {
      signedIn.delete(browserOf(request))
      response.writeHead(200).end()
    },
  }

  /** Knows the browser by a new name: one that somebody planted before is worth nothing afterwards. */
  function setBrowser(response) {
    const browser = randomUUID()
    response.setHeader('set-cookie', `browser=${browser}; Path=/; HttpOnly; SameSite=Lax${secure}`)
    return browser
  }
}

function redirect(response, location) {
  response.writeHead(303, { location }).end()
}

function browserOf({ headers }) {
  return /(?:^|; )browser=([^;]+)/.exec(headers.cookie ?? '')?.[1]
}
