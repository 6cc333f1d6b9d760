import * as client from 'openid-client'
import { createBrowsers } from './browsers.js'
import { createPerson } from './person.js'

/**
 * Signs people in with OpenID Connect, as docs/guides/sign-in-with-node.md explains, and asks them to let the assistant
 * read their calendar.
 */
export async function createSignIn({ countersign, issuer, appUrl, clientId, clientSecret }) {
  const config = await discover(new URL(issuer), clientId, clientSecret)
  const redirectUri = `${appUrl}/callback`
  const browsers = createBrowsers(appUrl)
  const started = new Map() // a browser → what to check its answer against
  const signedIn = new Map() // a browser → who signed in there

  return {
    personAt: (request) => signedIn.get(browsers.nameOf(request)),

    /** With `prompt` `login` the person uses their passkey also where they are signed in at Countersign. */
    async begin(response, prompt) {
      const checks = { ...newChecks(), expectedNonce: client.randomNonce() }
      started.set(browsers.rename(response), checks)
      const location = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid profile offline_access',
        ...(await parametersOf(checks)),
        ...(prompt && { prompt }),
      })
      redirect(response, location.href)
    },

    /** Redirects to the page on which the signed-in user delegates reading the calendar to the assistant. */
    async connect(request, response, mode) {
      const browser = browsers.nameOf(request)
      const person = signedIn.get(browser)
      if (!person) return redirect(response, '/')
      const checks = newChecks()
      started.set(browser, checks)
      const location = countersign.connectUrl({
        resource: 'calendar',
        scope: 'calendar.read',
        redirectUri,
        state: checks.expectedState,
        mode: mode === 'background' ? 'background' : 'user_present',
        identityId: person.identityId,
        codeChallenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      })
      redirect(response, location)
    },

    async finish(request, response) {
      const browser = browsers.nameOf(request)
      const checks = started.get(browser)
      started.delete(browser)
      if (!checks) return response.writeHead(400).end('This sign-in was not started in this browser.')
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(request.url, appUrl), checks)
        // The next token exchange shows the result of a consent. Only a sign-in identifies the user.
        if (checks.expectedNonce) signedIn.set(browsers.rename(response), createPerson(config, tokens))
      } catch (error) {
        // Who has changed their mind is back where they were.
        if (error.error !== 'access_denied') throw error
      }
      redirect(response, '/')
    },

    /** Signs out here and at Countersign. What the assistant may do in the background it still may. */
    end(request, response) {
      const browser = browsers.nameOf(request)
      const person = signedIn.get(browser)
      signedIn.delete(browser)
      if (!person) return redirect(response, '/')
      const parameters = { id_token_hint: person.idToken, post_logout_redirect_uri: `${appUrl}/` }
      redirect(response, client.buildEndSessionUrl(config, parameters).href)
    },
  }
}

function discover(issuer, clientId, clientSecret) {
  const insecure = issuer.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : undefined
  return client.discovery(issuer, clientId, clientSecret, undefined, insecure)
}

async function parametersOf({ pkceCodeVerifier, expectedState, expectedNonce }) {
  const challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier)
  return { code_challenge: challenge, code_challenge_method: 'S256', state: expectedState, nonce: expectedNonce }
}

function newChecks() {
  return { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() }
}

function redirect(response, location) {
  response.writeHead(303, { location }).end()
}
